// Methods of functions that other sources of this folder define.
#include "taeda/base/error.h"
#include "taeda/ops/activation.h"
#include "taeda/ops/index.h"
#include "taeda/ops/join.h"
#include "taeda/ops/linalg.h"
#include "taeda/ops/matmul.h"
#include "taeda/ops/random.h"
#include "taeda/ops/rearrange.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/scan.h"
#include "taeda/ops/unary.h"

namespace taeda {

Tensor Tensor::angle() const { return taeda::angle(*this); }
Tensor Tensor::prelu(const Tensor& weight) const { return taeda::prelu(*this, weight); }
Tensor Tensor::hardshrink(double lambd) const { return taeda::hardshrink(*this, lambd); }

Tensor::T2 Tensor::aminmax(OptionalDim dim, bool keepdim) const {
  return taeda::aminmax(*this, dim, keepdim);
}
Tensor::T2 Tensor::median(int64_t dim, bool keepdim) const {
  return taeda::median(*this, dim, keepdim);
}
Tensor::T2 Tensor::cummax(int64_t dim) const { return taeda::cummax(*this, dim); }
Tensor::T2 Tensor::cummin(int64_t dim) const { return taeda::cummin(*this, dim); }

Tensor Tensor::fliplr() const { return taeda::fliplr(*this); }
Tensor Tensor::flipud() const { return taeda::flipud(*this); }
Tensor Tensor::rot90(int64_t k, IntArrayRef dims) const { return taeda::rot90(*this, k, dims); }
Tensor Tensor::diag_embed(int64_t offset, int64_t dim1, int64_t dim2) const {
  return taeda::diag_embed(*this, offset, dim1, dim2);
}
std::vector<Tensor> Tensor::tensor_split(int64_t sections, int64_t dim) const {
  return taeda::tensor_split(*this, sections, dim);
}
std::vector<Tensor> Tensor::tensor_split(IntArrayRef indices, int64_t dim) const {
  return taeda::tensor_split(*this, indices, dim);
}

Tensor Tensor::addbmm(const Tensor& a, const Tensor& b, const Scalar& beta,
                      const Scalar& alpha) const {
  return taeda::addbmm(*this, a, b, beta, alpha);
}
Tensor Tensor::addr(const Tensor& a, const Tensor& b, const Scalar& beta,
                    const Scalar& alpha) const {
  return taeda::addr(*this, a, b, beta, alpha);
}
Tensor Tensor::vdot(const Tensor& other) const { return taeda::vdot(*this, other); }
Tensor Tensor::kron(const Tensor& other) const { return taeda::kron(*this, other); }

Tensor Tensor::cross(const Tensor& other, OptionalDim dim) const {
  return taeda::cross(*this, other, dim);
}
Tensor Tensor::matrix_power(int64_t n) const { return taeda::matrix_power(*this, n); }
Tensor Tensor::matrix_exp() const { return taeda::matrix_exp(*this); }
Tensor::T2 Tensor::slogdet() const { return taeda::slogdet(*this); }
Tensor::T2 Tensor::qr(bool some) const { return taeda::qr(*this, some); }

Tensor Tensor::index_copy(int64_t dim, const Tensor& index, const Tensor& source) const {
  return taeda::index_copy(*this, dim, index, source);
}
Tensor Tensor::index_fill(int64_t dim, const Tensor& index, const Scalar& value) const {
  return taeda::index_fill(*this, dim, index, value);
}
Tensor Tensor::index_put(ArrayRef<TensorIndex> indices, const Tensor& values,
                         bool accumulate) const {
  return taeda::index_put(*this, indices, values, accumulate);
}
Tensor Tensor::take_along_dim(const Tensor& indices, OptionalDim dim) const {
  return taeda::take_along_dim(*this, indices, dim);
}

Tensor Tensor::bernoulli(Generator* generator) const { return taeda::bernoulli(*this, generator); }
Tensor Tensor::bernoulli(double p, Generator* generator) const {
  return taeda::bernoulli(*this, p, generator);
}
Tensor Tensor::multinomial(int64_t num_samples, bool replacement, Generator* generator) const {
  return taeda::multinomial(*this, num_samples, replacement, generator);
}

bool Tensor::is_nonzero() const {
  TAEDA_CHECK(numel() != 0, "Boolean value of Tensor with no values is ambiguous");
  TAEDA_CHECK(numel() == 1, "Boolean value of Tensor with more than one value is ambiguous");
  return reshape({}).to(kBool).item<bool>();
}

}  // namespace taeda
