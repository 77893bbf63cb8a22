// Cross entropy over logits and negative log-likelihood over log-probabilities, with gradients;
// probabilities are never stored. A target out of bounds leaves a note and counts as ignored.
#include "taeda/cuda/kernels/fault.cuh"
#include "taeda/cuda/kernels/kept.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/loss.h"

namespace taeda::inline v0_2::gpu {

namespace {

constexpr int kMaxBlocks = 1024;  // whose sums a last block adds up

/// The operands of a loss; a position is a pair (outer, inner).
template <class A>
struct Classes {
  Reader<A> in;
  const int64_t* target;
  const A *weight, *log_sum;  // may be null
  Divider inner;
  int64_t n, positions, ignore_index;
  Fault* fault;

  Classes(const Tensor& input, const Tensor& targets, const Tensor& weights, const Tensor& log_sums,
          const ClassLoss& spec, int device)
      : in(input),
        target(static_cast<const int64_t*>(targets.data_ptr())),
        weight(static_cast<const A*>(weights.defined() ? weights.data_ptr() : nullptr)),
        log_sum(static_cast<const A*>(spec.logits ? log_sums.data_ptr() : nullptr)),
        inner(spec.shape.inner),
        n(spec.shape.n),
        positions(spec.shape.outer * spec.shape.inner),
        ignore_index(spec.ignore_index),
        fault(fault_of(device)) {}

  /// The class of a position, or -1 if it is ignored.
  __device__ int64_t class_of(int64_t position) const {
    const int64_t t = target[position];
    if (t == ignore_index) return -1;
    if (t >= 0 && t < n) return t;
    note_fault(fault, FaultKind::Target, t, 0, n);
    return -1;
  }
  __device__ A weight_of(int64_t t) const { return weight ? weight[t] : A(1); }
  __device__ int64_t offset(int64_t position, int64_t t) const {
    int64_t outer, rest;
    inner.divide(position, outer, rest);
    return (outer * n + t) * inner.divisor + rest;
  }
};

/// log(sum exp) of rows, which groups of threads share, or of columns, one for each thread.
template <class A>
__global__ void __launch_bounds__(kThreads)
    log_sum_rows_kernel(const KeptRows s, const Reader<A> in, A* out) {
  for (int64_t row = s.first(); row < s.rounds_end(); row += s.step()) {
    ExpSum<A> sum = ExpSum<A>::none();
    s.packs<A, 1>(row, {in}).load(
        [&](int64_t, const A(&x)[1][4], int count) { sum.add(x[0], count); });
    sum = group_exp_sum(s.group, sum);
    if (row < s.rows && s.lane() == 0) out[row] = sum.top + ::log(sum.total());
  }
}

template <class A>
__global__ void __launch_bounds__(kThreads) log_sum_columns_kernel(const Classes<A> c, A* out) {
  for (int64_t i = thread_index(); i < c.positions; i += thread_count()) {
    const int64_t base = c.offset(i, 0), stride = c.inner.divisor, end = c.n * stride;
    ExpSum<A> sum = ExpSum<A>::none();
    c.in.for_each(base, 0, end, stride, [&](int64_t, A x) { sum.add(x); });
    out[i] = sum.top + ::log(sum.total());
  }
}

/// Losses, where they are wanted one by one, and each block's sums of losses and weights.
template <class A>
__global__ void __launch_bounds__(kThreads)
    loss_kernel(const Classes<A> c, const Writer<A> losses, double* sums) {
  double loss_sum = 0, weight_sum = 0;
  for (int64_t i = thread_index(); i < c.positions; i += thread_count()) {
    const int64_t t = c.class_of(i);
    A loss = 0, weight = 0;
    if (t >= 0) {
      weight = c.weight_of(t);
      loss = ((c.log_sum ? c.log_sum[i] : A(0)) - c.in[c.offset(i, t)]) * weight;
    }
    if (losses.data) losses.set(i, loss);
    loss_sum += loss;
    weight_sum += weight;
  }
  loss_sum = group_sum(kThreads, loss_sum);
  weight_sum = group_sum(kThreads, weight_sum);
  if (threadIdx.x != 0) return;
  sums[2 * blockIdx.x] = loss_sum;
  sums[2 * blockIdx.x + 1] = weight_sum;
}

/// One block: `reduced`.data is null where losses are wanted one by one.
template <class A>
__global__ void __launch_bounds__(kThreads)
    finish_loss_kernel(const double* sums, int blocks, const Writer<A> reduced, bool mean,
                       A* total_weight) {
  double loss_sum = 0, weight_sum = 0;
  for (int b = threadIdx.x; b < blocks; b += kThreads) {
    loss_sum += sums[2 * b];
    weight_sum += sums[2 * b + 1];
  }
  loss_sum = group_sum(kThreads, loss_sum);
  weight_sum = group_sum(kThreads, weight_sum);
  if (threadIdx.x != 0) return;
  *total_weight = static_cast<A>(weight_sum);
  if (reduced.data) reduced.set(0, static_cast<A>(mean ? loss_sum / weight_sum : loss_sum));
}

template <class A>
void compute_log_sums(const Context& context, const Classes<A>& c, const SoftmaxShape& s,
                      A* log_sum) {
  if (s.inner == 1) {
    const KeptRows rows(s.outer, s.n, 0, {c.in.data});
    log_sum_rows_kernel<A><<<rows.blocks(), kThreads, 0, context.stream>>>(rows, c.in, log_sum);
  } else {
    log_sum_columns_kernel<A><<<blocks_for(c.positions), kThreads, 0, context.stream>>>(c, log_sum);
  }
  context.launched("nll_loss");
}

void class_loss_cuda(const Tensor& loss, const Tensor& total_weight, const Tensor& log_sum,
                     const Tensor& in, const Tensor& target, const Tensor& weight, ClassLoss spec) {
  const Context context(in.device());
  dispatch_compute(FloatCompute{}, "nll_loss", in.dtype(), [&]<class A>() {
    const Classes<A> c(in, target, weight, log_sum, spec, context.device);
    if (spec.logits && c.positions > 0)
      compute_log_sums(context, c, spec.shape, static_cast<A*>(log_sum.data_ptr()));
    const bool reduced = spec.reduction != Reduction::None;
    const Writer<A> out(loss), none{};
    const unsigned blocks = std::min<unsigned>(blocks_for(c.positions), kMaxBlocks);
    const Scratch sums(in.device(), 2 * blocks * static_cast<int64_t>(sizeof(double)));
    loss_kernel<A>
        <<<blocks, kThreads, 0, context.stream>>>(c, reduced ? none : out, sums.as<double>());
    finish_loss_kernel<A><<<1, kThreads, 0, context.stream>>>(
        sums.as<double>(), static_cast<int>(blocks), reduced ? out : none,
        spec.reduction == Reduction::Mean, static_cast<A*>(total_weight.data_ptr()));
  });
  context.launched("nll_loss");
}

/// d loss / d logits = (softmax - onehot) scale; d loss / d log p = -onehot scale.
template <class A>
__global__ void __launch_bounds__(kThreads)
    loss_backward_kernel(const Classes<A> c, const Reader<A> grad, bool one_grad, const A* divisor,
                         const Divider classes, const Writer<A> grad_in) {
  const int64_t numel = c.positions * c.n;
  for (int64_t i = thread_index(); i < numel; i += thread_count()) {
    int64_t outer, rest, k;
    c.inner.divide(i, k, rest);
    classes.divide(k, outer, k);
    const int64_t position = outer * c.inner.divisor + rest, t = c.class_of(position);
    A result = 0;
    if (t >= 0 && (c.log_sum || t == k)) {
      const A scale = grad[one_grad ? 0 : position] * c.weight_of(t) / (divisor ? *divisor : A(1));
      const A p = c.log_sum ? ::exp(c.in[i] - c.log_sum[position]) : A(0);
      result = (t == k ? p - A(1) : p) * scale;
    }
    grad_in.set(i, result);
  }
}

/// The same for rows, which groups of threads share.
template <class A>
__global__ void __launch_bounds__(kThreads)
    loss_backward_rows_kernel(const KeptRows s, const Classes<A> c, const Reader<A> grad,
                              bool one_grad, const A* divisor, const Writer<A> grad_in) {
  for (int64_t row = s.first(); row < s.rows; row += s.step()) {
    const int64_t t = c.class_of(row);
    const A scale =
        t < 0 ? A(0) : grad[one_grad ? 0 : row] * c.weight_of(t) / (divisor ? *divisor : A(1));
    const auto set = [&](int64_t i, const A(&p)[4]) {
      A result[4];
      for (int k = 0; k < 4; ++k) result[k] = (t == i + k ? p[k] - A(1) : p[k]) * scale;
      grad_in.four(row * s.n + i, (row + 1) * s.n, s.vector, result);
    };
    if (t >= 0 && c.log_sum) {
      const A log_sum = c.log_sum[row];
      s.packs<A, 1>(row, {c.in}).load([&](int64_t i, const A(&x)[1][4], int) {
        A p[4];
        for (int k = 0; k < 4; ++k) p[k] = ::exp(x[0][k] - log_sum);
        set(i, p);
      });
    } else {
      const A none[4] = {};
      for (int64_t i = 4 * s.lane(); i < s.n; i += 4 * s.group) set(i, none);
    }
  }
}

void class_loss_backward_cuda(const Tensor& grad_in, const Tensor& grad, const Tensor& total_weight,
                              const Tensor& log_sum, const Tensor& in, const Tensor& target,
                              const Tensor& weight, ClassLoss spec) {
  if (grad_in.numel() == 0) return;
  const Context context(in.device());
  dispatch_compute(FloatCompute{}, "nll_loss_backward", in.dtype(), [&]<class A>() {
    const Classes<A> c(in, target, weight, log_sum, spec, context.device);
    const A* divisor = spec.reduction == Reduction::Mean
                           ? static_cast<const A*>(total_weight.data_ptr())
                           : nullptr;
    const bool one_grad = spec.reduction != Reduction::None;
    if (spec.shape.inner == 1) {
      const KeptRows rows(spec.shape.outer, spec.shape.n, 0, {in.data_ptr(), grad_in.data_ptr()});
      loss_backward_rows_kernel<A><<<rows.blocks(), kThreads, 0, context.stream>>>(
          rows, c, Reader<A>(grad), one_grad, divisor, Writer<A>(grad_in));
    } else {
      loss_backward_kernel<A><<<blocks_for(grad_in.numel()), kThreads, 0, context.stream>>>(
          c, Reader<A>(grad), one_grad, divisor, Divider(spec.shape.n), Writer<A>(grad_in));
    }
  });
  context.launched("nll_loss_backward");
}

}  // namespace

void register_loss() {
  class_loss_slot.set(kCUDA, &class_loss_cuda);
  class_loss_backward_slot.set(kCUDA, &class_loss_backward_cuda);
}

}  // namespace taeda::inline v0_2::gpu
