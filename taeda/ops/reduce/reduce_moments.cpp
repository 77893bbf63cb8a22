// Variance, standard deviation and norms.
#include <cmath>

#include "bodies/reduce.h"
#include "taeda/autograd/record.h"
#include "taeda/base/warning.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/reduce_common.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/ops/sparse/sparse_common.h"

namespace taeda::inline v0_2 {

using detail::Reduced;

namespace {

void check_cast_norm(const Tensor& self) {
  TAEDA_CHECK_AS(NotImplementedError, is_differentiable(self.dtype()),
                 "linalg.vector_norm: Expected a floating point or complex tensor as input. Got ",
                 to_string(self.dtype()));
}

struct Moments {
  Tensor var, mean;
};

void check_var_dtype(const Tensor& self) {
  TAEDA_CHECK(is_differentiable(self.dtype()),
              "std and var only support floating point and complex dtypes");
}

/// The variance, or with `root` the deviation, and the mean.
Moments moments(const char* name, bool root, const Tensor& self, const Reduced& r,
                double correction) {
  check_var_dtype(self);
  if (static_cast<double>(r.count) <= correction) [[unlikely]]
    TAEDA_WARN(name,
               "(): degrees of freedom is <= 0. Correction should be strictly less than the "
               "reduction factor (input numel divided by output numel).");
  Moments m{r.make_output(root ? "std" : "var", self, self.dtype()),
            make_tensor(r.sizes, self.dtype(), self.device())};
  if (m.var.numel() > 0)
    var_slot(self.device().type(), m.var, m.mean, self, r.mask, correction, root);
  return m;
}

/// d var / d x = 2 (x - mean) / (count - correction)
Tensor var_gradient(const Tensor& g, const Tensor& x, const Reduced& r, IntArrayRef dims,
                    double correction) {
  const double divisor = std::max(0.0, static_cast<double>(r.count) - correction);
  return r.restore(g).mul(2 / divisor).mul(x.sub(x.mean(dims, true)));
}

/// The variance or the deviation, recorded.
Tensor var_or_std(bool root, const Tensor& self, IntArrayRef dims, double correction, bool keepdim,
                  const char* name = nullptr) {
  if (!name) name = root ? "std" : "var";
  if (self.is_complex()) {
    const Tensor sum = var_or_std(false, real(self), dims, correction, keepdim, name)
                           .add(var_or_std(false, imag(self), dims, correction, keepdim, name));
    return root ? sum.sqrt() : sum;
  }
  const Reduced r(self, dims, keepdim);
  Tensor out = moments(name, root, self, r, correction).var;
  if (!wants_grad(self)) return out;
  const DimVector list(dims);
  if (root)
    record("StdBackward0", out, {self},
           [r, list, correction, x = save_tensor(self), y = save_output(out)](const Tensor& g) {
             const Tensor deviation = y.unpack();
             const Tensor scaled = g.div(deviation.mul(2)).masked_fill(deviation.eq(0), 0);
             return var_gradient(scaled, x.unpack(), r, list, correction);
           });
  else
    record("VarBackward0", out, {self},
           [r, list, correction, x = save_tensor(self)](const Tensor& g) {
             return var_gradient(g, x.unpack(), r, list, correction);
           });
  return out;
}

/// d norm / d x for each p.
Tensor norm_gradient(const Tensor& g, const Tensor& x, const Tensor& norm, double p,
                     IntArrayRef dims) {
  if (p == 0) return zeros_like(x);
  if (p == 1) return x.sign().mul(g);
  const bool narrow = x.dtype() == kHalf;  // g / norm soon leaves the range of float16
  if (p == 2 && !narrow) return x.mul(g.div(norm)).masked_fill(norm.eq(0), 0);
  if (std::isinf(p)) {
    const Tensor mask = x.abs().eq(norm).to(g.dtype());
    return x.sign().mul(mask.mul(g.div(mask.sum(dims, true))));
  }
  // A power of the quotient stays in range where those of its parts do not.
  const Tensor nothing = norm.eq(0), share = g.masked_fill(nothing, 0);
  const Tensor ratio = x.div(norm.masked_fill(nothing, 1));
  if (p == 2) return ratio.mul(share);
  if (p == 3) return ratio.mul(ratio.abs().mul(share));
  if (p > 3) return ratio.mul(ratio.abs().pow(p - 2)).mul(share);
  // Such a power has no slope at 0, or an infinite one.
  const Tensor size = ratio.abs().masked_fill(x.eq(0), 1);
  return x.sign().mul(size.pow(p - 1)).mul(share);
}

}  // namespace

Tensor detail::distance_gradient(const Tensor& g, const Tensor& x, const Tensor& norm, double p) {
  if (std::isinf(p)) return x.sign().mul(x.abs().eq(norm).to(g.dtype())).mul(g);
  if (p != 2 || x.dtype() == kHalf) return norm_gradient(g, x, norm, p, {});
  const Tensor nothing = norm.eq(0), apart = norm.masked_fill(nothing, 1);
  return x.mul(g.div(apart).masked_fill(nothing, 0));
}

namespace {

/// The largest and negative powers have no value for no elements.
void check_norm_of_none(const Tensor& self, double p, IntArrayRef dims) {
  if (self.numel() > 0 || (p >= 0 && !std::isinf(p))) return;
  TAEDA_CHECK(!dims.empty(), "linalg.vector_norm cannot compute the ", Scalar(p),
              " norm on an empty tensor because the operation does not have an identity");
  for (const int64_t d : wrap_dims(dims, self.dim()))
    TAEDA_CHECK(self.sizes()[static_cast<size_t>(d)] > 0, "linalg.vector_norm cannot compute the ",
                Scalar(p), " norm on the dimension ", d,
                " because this dimension is empty and the operation does not have an identity");
}

Tensor norm_impl(const char* node, const Tensor& self, double p, IntArrayRef dims, bool keepdim) {
  TAEDA_CHECK(is_differentiable(self.dtype()),
              "norm(): input dtype should be either floating point or complex. Got ",
              to_string(self.dtype()), " instead.");
  check_norm_of_none(self, p, dims);
  const Tensor x = self.is_complex() ? self.abs() : self;
  const Reduced r(x, dims, keepdim);
  const Tensor out = r.make_output("norm", x, x.dtype());
  if (out.numel() == x.numel() && p != 0) {  // of single numbers, whose powers may overflow
    NoGradGuard guard;
    out.copy_(x.abs().reshape(out.sizes()));
  } else if (out.numel() > 0) {
    norm_slot(x.device().type(), out, x, r.mask, p);
  }
  if (wants_grad(x))
    record(
        node, out, {x},
        [r, p, list = DimVector(dims), x = save_tensor(x), y = save_output(out)](const Tensor& g) {
          return norm_gradient(r.restore(g), x.unpack(), r.restore(y.unpack()), p, list);
        });
  return out;
}

/// (variance or deviation, mean): two nodes over one pass of the data.
std::tuple<Tensor, Tensor> with_mean(bool root, const Tensor& self, IntArrayRef dims,
                                     double correction, bool keepdim) {
  check_var_dtype(self);
  const char* const name = root ? "std_mean" : "var_mean";
  if (wants_grad(self) || self.is_complex())
    return {var_or_std(root, self, dims, correction, keepdim, name), self.mean(dims, keepdim)};
  Moments m = moments(name, root, self, Reduced(self, dims, keepdim), correction);
  return {m.var, m.mean};
}

}  // namespace

Tensor detail::distance_norm(const Tensor& differences, double p, int64_t dim) {
  return norm_impl("LinalgVectorNormBackward0", differences, p, {dim}, false);
}

Tensor do_var(const Tensor& self, IntArrayRef dims, bool unbiased, bool keepdim) {
  return var_or_std(false, self, dims, unbiased, keepdim);
}
Tensor do_std(const Tensor& self, IntArrayRef dims, bool unbiased, bool keepdim) {
  return var_or_std(true, self, dims, unbiased, keepdim);
}
Tensor do_var_correction(const Tensor& self, IntArrayRef dims, double correction, bool keepdim) {
  return var_or_std(false, self, dims, correction, keepdim);
}
Tensor do_std_correction(const Tensor& self, IntArrayRef dims, double correction, bool keepdim) {
  return var_or_std(true, self, dims, correction, keepdim);
}
Tensor do_var(const Tensor& self, IntArrayRef dims, OptionalDim correction, bool keepdim) {
  return var_or_std(false, self, dims, static_cast<double>(correction.value_or(1)), keepdim);
}
Tensor do_std(const Tensor& self, IntArrayRef dims, OptionalDim correction, bool keepdim) {
  return var_or_std(true, self, dims, static_cast<double>(correction.value_or(1)), keepdim);
}
std::tuple<Tensor, Tensor> do_var_mean(const Tensor& self, IntArrayRef dims, bool unbiased,
                                       bool keepdim) {
  return with_mean(false, self, dims, unbiased, keepdim);
}
std::tuple<Tensor, Tensor> do_std_mean(const Tensor& self, IntArrayRef dims, bool unbiased,
                                       bool keepdim) {
  return with_mean(true, self, dims, unbiased, keepdim);
}

std::tuple<Tensor, Tensor> do_var_mean(const Tensor& self, IntArrayRef dims, OptionalDim correction,
                                       bool keepdim) {
  return with_mean(false, self, dims, static_cast<double>(correction.value_or(1)), keepdim);
}
std::tuple<Tensor, Tensor> do_std_mean(const Tensor& self, IntArrayRef dims, OptionalDim correction,
                                       bool keepdim) {
  return with_mean(true, self, dims, static_cast<double>(correction.value_or(1)), keepdim);
}

Tensor do_norm(const Tensor& self, const Scalar& p) {
  if (self.is_sparse()) return norm(self.coalesce().values(), p);
  return norm_impl("NormBackward0", self, p.toDouble(), {}, false);
}
Tensor do_norm(const Tensor& self, const OptionalScalar& p, IntArrayRef dims, bool keepdim) {
  return norm_impl("NormBackward1", self, p.value_or(2).toDouble(), dims, keepdim);
}
Tensor do_norm(const Tensor& self, const OptionalScalar& p, ScalarType dtype) {
  check_cast_norm(self);
  return norm(self.to(dtype), p.value_or(2));
}
Tensor do_norm(const Tensor& self, const OptionalScalar& p, IntArrayRef dims, bool keepdim,
               ScalarType dtype) {
  check_cast_norm(self);
  return norm(self.to(dtype), p, dims, keepdim);
}
Tensor do_vector_norm(const Tensor& self, const Scalar& p, IntArrayRef dims, bool keepdim) {
  return norm_impl("LinalgVectorNormBackward0", self, p.toDouble(), dims, keepdim);
}

}  // namespace taeda::inline v0_2
