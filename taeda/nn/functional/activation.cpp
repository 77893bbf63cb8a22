#include "taeda/nn/functional/activation.h"

#include "taeda/ops/create/create.h"
#include "taeda/ops/random/random_forms.h"

namespace taeda::inline v0_2::nn::functional {

Tensor rrelu(const Tensor& input, double lower, double upper, bool training, bool inplace) {
  return inplace ? taeda::rrelu_(input, lower, upper, training)
                 : taeda::rrelu(input, lower, upper, training);
}

Tensor gumbel_softmax(const Tensor& logits, double tau, bool hard, int64_t dim) {
  const Tensor gumbels = empty_like(logits).exponential_().log().neg();
  const Tensor soft = logits.add(gumbels).div(tau).softmax(dim);
  if (!hard) return soft;
  const Tensor best = soft.argmax(dim, /*keepdim=*/true);
  return zeros_like(soft.detach()).scatter(dim, best, 1).sub(soft.detach()).add(soft);
}

Tensor relu(const Tensor& x, bool inplace) { return inplace ? taeda::relu_(x) : taeda::relu(x); }

Tensor relu(const Tensor& x, const ReLUFuncOptions& o) { return relu(x, o.inplace); }

Tensor relu6(const Tensor& x, bool inplace) { return inplace ? taeda::relu6_(x) : taeda::relu6(x); }

Tensor relu6(const Tensor& x, const ReLU6FuncOptions& o) { return relu6(x, o.inplace); }

Tensor selu(const Tensor& x, bool inplace) { return inplace ? taeda::selu_(x) : taeda::selu(x); }

Tensor selu(const Tensor& x, const SELUFuncOptions& o) { return selu(x, o.inplace); }

Tensor leaky_relu(const Tensor& x, double negative_slope, bool inplace) {
  return inplace ? taeda::leaky_relu_(x, negative_slope) : taeda::leaky_relu(x, negative_slope);
}

Tensor leaky_relu(const Tensor& x, const LeakyReLUFuncOptions& o) {
  return leaky_relu(x, o.negative_slope, o.inplace);
}

Tensor elu(const Tensor& x, double alpha, bool inplace) {
  return inplace ? taeda::elu_(x, alpha) : taeda::elu(x, alpha);
}

Tensor elu(const Tensor& x, const ELUFuncOptions& o) { return elu(x, o.alpha, o.inplace); }

Tensor celu(const Tensor& x, double alpha, bool inplace) {
  return inplace ? taeda::celu_(x, alpha) : taeda::celu(x, alpha);
}

Tensor celu(const Tensor& x, const CELUFuncOptions& o) { return celu(x, o.alpha, o.inplace); }

Tensor hardtanh(const Tensor& x, double min_val, double max_val, bool inplace) {
  return inplace ? taeda::hardtanh_(x, min_val, max_val) : taeda::hardtanh(x, min_val, max_val);
}

Tensor hardtanh(const Tensor& x, const HardtanhFuncOptions& o) {
  return hardtanh(x, o.min_val, o.max_val, o.inplace);
}

Tensor threshold(const Tensor& x, double threshold, double value, bool inplace) {
  return inplace ? taeda::threshold_(x, threshold, value) : taeda::threshold(x, threshold, value);
}

Tensor threshold(const Tensor& x, const ThresholdFuncOptions& o) {
  return threshold(x, o.threshold, o.value, o.inplace);
}

Tensor softplus(const Tensor& x, const SoftplusFuncOptions& o) {
  return taeda::softplus(x, o.beta(), o.threshold());
}

Tensor glu(const Tensor& x, const GLUFuncOptions& o) { return taeda::glu(x, o.dim); }

Tensor logsigmoid(const Tensor& x) { return taeda::log_sigmoid(x); }

Tensor sigmoid(const Tensor& x) { return x.sigmoid(); }

Tensor tanh(const Tensor& x) { return x.tanh(); }

Tensor softmax(const Tensor& x, const SoftmaxFuncOptions& o) { return x.softmax(o.dim, o.dtype); }

Tensor log_softmax(const Tensor& x, const LogSoftmaxFuncOptions& o) {
  return x.log_softmax(o.dim, o.dtype);
}

Tensor softmin(const Tensor& x, const SoftminFuncOptions& o) {
  return x.neg().softmax(o.dim, o.dtype);
}

}  // namespace taeda::inline v0_2::nn::functional
