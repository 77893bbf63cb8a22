#include "taeda/ops/linalg/matmul.h"

#include "bodies/matmul.h"
#include "taeda/autograd/record.h"
#include "taeda/kernels/matmul.h"
#include "taeda/ops/autocast.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/destination.h"
#include "taeda/ops/dtype_words.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/elementwise.h"
#include "taeda/ops/sparse/sparse_common.h"
#include "taeda/tensor/iter.h"

namespace taeda::inline v0_2 {

namespace {

void check_matrix_dtypes(const Tensor& a, const Tensor& b) {
  TAEDA_CHECK(a.dtype() == b.dtype(),
              "expected m1 and m2 to have the same dtype, but got: ", detail::type_name(a.dtype()),
              " != ", detail::type_name(b.dtype()));
}

/// The same where something is added to the product.
void check_addmm_dtypes(const Tensor& a, const Tensor& b) {
  TAEDA_CHECK(a.dtype() == b.dtype(), "mat1 and mat2 must have the same dtype, but got ", a.dtype(),
              " and ", b.dtype());
}

void check_dtypes(const Tensor& a, const Tensor& b) {
  TAEDA_CHECK(a.dtype() == b.dtype(), "expected scalar type ", a.dtype(), " but found ", b.dtype());
}

/// Refuses rows of k elements before a matrix of another number of rows.
void check_inner(const char* op, int64_t rows, int64_t k, int64_t mat2_rows, int64_t columns) {
  TAEDA_CHECK(k == mat2_rows, op, ": mat1 and mat2 shapes cannot be multiplied (", rows, "x", k,
              " and ", mat2_rows, "x", columns, ")");
}

void check_mm_shapes(const char* op, const Tensor& a, const Tensor& b) {
  TAEDA_CHECK(a.dim() == 2, op, ": self must be a matrix, got ", a.dim(), "-D tensor");
  TAEDA_CHECK(b.dim() == 2, op, ": mat2 must be a matrix, got ", b.dim(), "-D tensor");
  check_inner(op, a.size(0), a.size(1), b.size(0), b.size(1));
}

/// A factor as products of dtype t take it: cut to a whole number for integers.
Scalar factor_for(ScalarType t, const Scalar& factor) {
  return is_integral(t) && !factor.is_integral(true) ? Scalar(factor.to<int64_t>()) : factor;
}

/// What products with vectors of other dtypes ask of their factors.
void check_factor(const char* name, ScalarType t, const Scalar& factor) {
  TAEDA_CHECK(!factor.is_boolean() || t == kBool, "Boolean ", name,
              " only supported for Boolean results.");
  TAEDA_CHECK(!is_integral(t, true) || factor.is_integral(true),
              "For integral input tensors, argument ", name,
              " must not be a floating point number.");
}

/// The same memory with another layout, without a history.
Tensor relayout(const Tensor& t, Layout layout) {
  Tensor out = make_alias(t);
  out.unsafe_impl()->layout = std::move(layout);
  out.unsafe_impl()->refresh();
  return out;
}

/// Runs the slot into `out`; operands and out are matrices or batches of them.
void product_into(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& addend = {},
                  const Scalar& beta = 1, const Scalar& alpha = 1) {
  if (out.numel() == 0) return;
  const bool skip = !addend.defined() || beta.equal(0);
  const bool expand = !skip && addend.sizes() != out.sizes();
  matmul_slot(out.device().type(), out, a, b,
              skip     ? Tensor()
              : expand ? relayout(addend, addend.layout().expand(out.sizes()))
                       : addend,
              factor_for(out.dtype(), beta), factor_for(out.dtype(), alpha));
}

using detail::conjugate, detail::make_result, detail::scaled;
/// The conjugated transposed matrix (or each of a batch).
Tensor mH_of(const Tensor& t) { return conjugate(t.mT()); }

/// What an addend that should broadcast to `sizes` must satisfy; throws Layout::expand's Error.
void check_addend(const char* what, const Tensor& self, const Tensor& mat, IntArrayRef sizes) {
  TAEDA_CHECK(self.dtype() == mat.dtype(), "self and ", what, " must have the same dtype, but got ",
              self.dtype(), " and ", mat.dtype());
  if (self.sizes() != sizes) (void)self.layout().expand(sizes);
}

void record_addmm(const char* name, const Tensor& out, const Tensor& self, const Tensor& a,
                  const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  record(name, out, {self, a, b},
         [a = save_if(b.requires_grad(), a, "mat1"), b = save_if(a.requires_grad(), b, "mat2"),
          beta, alpha](const Tensor& g, Needs needs) {
           return TensorVec{needs[0] ? scaled(g, beta) : Tensor(),
                            needs[1] ? scaled(g.matmul(mH_of(b.unpack())), alpha) : Tensor(),
                            needs[2] ? scaled(mH_of(a.unpack()).matmul(g), alpha) : Tensor()};
         });
}

void check_addmm(const Tensor& self, const Tensor& a, const Tensor& b) {
  check_same_device("addmm", {&self, &a, &b});
  check_mm_shapes("addmm", a, b);
  check_addmm_dtypes(a, b);
  check_addend("mat2", self, b, {a.size(0), b.size(1)});
}

void check_bmm(const char* op, const Tensor& a, const Tensor& b) {
  check_same_device(op, {&a, &b});
  TAEDA_CHECK(a.dim() == 3, "batch1 must be a 3D tensor");
  TAEDA_CHECK(b.dim() == 3, "batch2 must be a 3D tensor");
  TAEDA_CHECK(a.size(0) == b.size(0) && a.size(2) == b.size(1),
              "Expected size for first two dimensions of batch2 tensor to be: [", a.size(0), ", ",
              a.size(2), "] but got: [", b.size(0), ", ", b.size(1), "].");
  check_dtypes(a, b);
}

void check_mv(const Tensor& a, const Tensor& v) {
  check_same_device("mv", {&a, &v});
  TAEDA_CHECK(a.dim() == 2 && v.dim() == 1, "vector + matrix @ vector expected, got 1, ", a.dim(),
              ", ", v.dim());
  TAEDA_CHECK(a.size(1) == v.size(0), "size mismatch, got input (", a.size(0), "), mat (",
              a.size(0), "x", a.size(1), "), vec (", v.size(0), ")");
  check_dtypes(a, v);
}

Tensor as_column(const Tensor& v) { return relayout(v, v.layout().unsqueeze(1)); }

}  // namespace

Tensor do_mm(const Tensor& self, const Tensor& mat2) {
  if (!self.is_strided() || !mat2.is_strided()) [[unlikely]]
    return detail::sparse_mm(self, mat2);
  check_same_device("mm", {&self, &mat2});
  check_mm_shapes("mm", self, mat2);
  check_matrix_dtypes(self, mat2);
  Tensor out =
      make_result("mm", {&self, &mat2}, {self.size(0), mat2.size(1)}, self.dtype(), self.device());
  product_into(out, self, mat2);
  if (wants_grad(self, mat2))
    record("MmBackward0", out, {self, mat2},
           [a = save_if(mat2.requires_grad(), self),
            b = save_if(self.requires_grad(), mat2, "mat2")](const Tensor& g, Needs needs) {
             return TensorVec{needs[0] ? g.mm(mH_of(b.unpack())) : Tensor(),
                              needs[1] ? mH_of(a.unpack()).mm(g) : Tensor()};
           });
  return out;
}

Tensor do_mv(const Tensor& self, const Tensor& vec) {
  if (!self.is_strided()) [[unlikely]] {
    check_mv(self, vec);
    return detail::sparse_mm(self, vec.unsqueeze(1)).squeeze(1);
  }
  check_mv(self, vec);
  Tensor out = make_result("mv", {&self, &vec}, {self.size(0)}, self.dtype(), self.device());
  product_into(as_column(out), self, as_column(vec));
  if (wants_grad(self, vec))
    record("MvBackward0", out, {self, vec},
           [a = save_if(vec.requires_grad(), self), v = save_if(self.requires_grad(), vec, "vec")](
               const Tensor& g, Needs needs) {
             return TensorVec{needs[0] ? outer(g, conjugate(v.unpack())) : Tensor(),
                              needs[1] ? mH_of(a.unpack()).mv(g) : Tensor()};
           });
  return out;
}

Tensor do_bmm(const Tensor& self, const Tensor& mat2) {
  check_bmm("bmm", self, mat2);
  Tensor out = make_result("bmm", {&self, &mat2}, {self.size(0), self.size(1), mat2.size(2)},
                           self.dtype(), self.device());
  product_into(out, self, mat2);
  if (wants_grad(self, mat2))
    record("BmmBackward0", out, {self, mat2},
           [a = save_if(mat2.requires_grad(), self),
            b = save_if(self.requires_grad(), mat2, "mat2")](const Tensor& g, Needs needs) {
             return TensorVec{needs[0] ? g.bmm(mH_of(b.unpack())) : Tensor(),
                              needs[1] ? mH_of(a.unpack()).bmm(g) : Tensor()};
           });
  return out;
}

Tensor do_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                const Scalar& alpha) {
  if (!mat1.is_strided() || !mat2.is_strided()) [[unlikely]]
    return detail::sparse_addmm(self, mat1, mat2, beta, alpha);
  check_addmm(self, mat1, mat2);
  Tensor out = make_result("addmm", {&self, &mat1, &mat2}, {mat1.size(0), mat2.size(1)},
                           mat1.dtype(), mat1.device());
  product_into(out, mat1, mat2, self, beta, alpha);
  if (wants_grad(self, mat1, mat2))
    record_addmm("AddmmBackward0", out, self, mat1, mat2, beta, alpha);
  return out;
}

Tensor& do_addmm_(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta,
                  const Scalar& alpha) {
  const bool recorded = wants_grad(self, a, b);
  if (!a.is_strided() || !b.is_strided()) [[unlikely]]
    return detail::assign("addmm_", self, recorded,
                          [&](const Tensor& self) { return self.addmm(a, b, beta, alpha); });
  check_inplace("addmm_", self, recorded);
  check_addmm(self, a, b);
  TAEDA_CHECK(self.sizes() == IntArrayRef({a.size(0), b.size(1)}),
              "Bad in-place call: input tensor size ", self.sizes(), " and output tensor size [",
              a.size(0), ", ", b.size(1), "] should match");
  if (recorded) {
    detail::assign_recorded("addmm_", self,
                            [&](const Tensor& self) { return self.addmm(a, b, beta, alpha); });
  } else {
    product_into(self, a, b, self, beta, alpha);
    bump_version(self);
  }
  return const_cast<Tensor&>(self);
}

Tensor do_addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta,
                const Scalar& alpha) {
  check_mv(mat, vec);
  if (!mat.is_strided()) [[unlikely]]
    return scaled(self, beta).add(mat.mv(vec), alpha);
  check_same_device("addmv", {&self, &mat});
  check_addend("mat", self, mat, {mat.size(0)});
  Tensor out = make_result("addmv", {&self, &mat, &vec}, {mat.size(0)}, mat.dtype(), mat.device());
  product_into(as_column(out), mat, as_column(vec),
               as_column(relayout(self, self.layout().expand(out.sizes()))), beta, alpha);
  if (wants_grad(self, mat, vec))
    record(
        "AddmvBackward0", out, {self, mat, vec},
        [a = save_if(vec.requires_grad(), mat, "mat"), v = save_if(mat.requires_grad(), vec, "vec"),
         beta, alpha](const Tensor& g, Needs needs) {
          return TensorVec{needs[0] ? scaled(g, beta) : Tensor(),
                           needs[1] ? scaled(outer(g, conjugate(v.unpack())), alpha) : Tensor(),
                           needs[2] ? scaled(mH_of(a.unpack()).mv(g), alpha) : Tensor()};
        });
  return out;
}

Tensor do_baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                  const Scalar& beta, const Scalar& alpha) {
  check_bmm("baddbmm", batch1, batch2);
  check_same_device("baddbmm", {&self, &batch1});
  check_addend("batch2", self, batch2, {batch1.size(0), batch1.size(1), batch2.size(2)});
  Tensor out = make_result("baddbmm", {&self, &batch1, &batch2},
                           {batch1.size(0), batch1.size(1), batch2.size(2)}, batch1.dtype(),
                           batch1.device());
  product_into(out, batch1, batch2, self, beta, alpha);
  if (wants_grad(self, batch1, batch2))
    record_addmm("BaddbmmBackward0", out, self, batch1, batch2, beta, alpha);
  return out;
}

Tensor do_addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                 const Scalar& alpha) {
  check_bmm("addbmm", batch1, batch2);
  // The sum over the batch is part of the sum over k.
  const int64_t b = batch1.size(0), m = batch1.size(1), k = batch1.size(2), n = batch2.size(2);
  return addmm(self, batch1.transpose(0, 1).reshape({m, b * k}), batch2.reshape({b * k, n}), beta,
               alpha);
}

Tensor do_addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
               const Scalar& alpha) {
  TAEDA_CHECK(vec1.dim() == 1, "addr: Expected 1-D argument vec1, but got ", vec1.dim(), "-D");
  TAEDA_CHECK(vec2.dim() == 1, "addr: Expected 1-D argument vec2, but got ", vec2.dim(), "-D");
  const ScalarType t = result_type({self, vec1, vec2});
  check_factor("beta", t, beta);
  check_factor("alpha", t, alpha);
  const Tensor column = vec1.to(t).unsqueeze(1), row = vec2.to(t).unsqueeze(0);
  if (t != kBool) return addmm(self.to(t), column, row, beta, alpha);
  const Tensor addend = self.expand({vec1.numel(), vec2.numel()});
  const Tensor product = column.logical_and(row).logical_and(full({}, alpha.toBool(), kBool));
  return beta.toBool() ? addend.logical_or(product) : product;
}

/// a @ b in `dtype` for gradients of a `linear` whose weight may have another dtype than its input.
static Tensor product_in(ScalarType dtype, const Tensor& a, const Tensor& b) {
  if (a.dtype() == dtype && b.dtype() == dtype) return a.mm(b);
  if (wants_grad(a, b)) return a.to(kFloat).mm(b.to(kFloat)).to(dtype);
  Tensor out = make_tensor({a.size(0), b.size(1)}, dtype, a.device());
  product_into(out, a, b);
  return out;
}

/// Records what `linear` computed as the product that it is, with that operation's operands in its
/// order: leaves hear of their gradients in it.
static void record_linear(const Tensor& out, const Tensor& input, const Tensor& weight,
                          const Tensor& bias) {
  const int64_t k = input.size(-1), n = weight.size(0);
  const int64_t rows = product(input.sizes().slice(0, static_cast<size_t>(input.dim()) - 1));
  const size_t first = bias.defined() ? 1 : 0;  // operand of the product
  const autograd::Input operands[] = {bias, input, weight};
  record(bias.defined() ? "AddmmBackward0" : "MmBackward0", out,
         ArrayRef<autograd::Input>(operands).slice(1 - first),
         [x = save_if(weight.requires_grad(), input, "input"),
          w = save_if(input.requires_grad(), weight, "weight"), shape = DimVector(input.sizes()),
          rows, n, k, dtype = weight.dtype(), first](const Tensor& g, Needs needs) {
           const Tensor flat = g.dim() == 2 ? g : g.reshape({rows, n});
           TensorVec grads(first + 2);
           if (first && needs[0]) grads[0] = flat;  // the engine sums it over the rows
           if (needs[first]) {
             grads[first] = product_in(flat.dtype(), flat, conjugate(w.unpack()));
             if (shape.size() != 2) grads[first] = grads[first].reshape(shape);
           }
           if (needs[first + 1]) {
             const Tensor left = x.unpack();
             grads[first + 1] = product_in(
                 dtype, flat.t(), conjugate(left.dim() == 2 ? left : left.reshape({rows, k})));
           }
           return grads;
         });
}

/// `linear` without autocast; `keeps_weight` allows float32 weights beside a 16-bit input.
static Tensor linear_of(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        bool keeps_weight) {
  TAEDA_CHECK(weight.dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is ",
              weight.dim(), "D");
  TAEDA_CHECK(input.dim() >= 1 && weight.dim() >= 1,
              "both arguments to linear need to be at least 1D, but they are ", input.dim(),
              "D and ", weight.dim(), "D");
  TAEDA_CHECK(weight.dim() == 2 || !bias.defined() || bias.dim() == 0,
              "addmm: mat2 must be a matrix, got 1-D tensor");
  if (weight.dim() == 1)
    return bias.defined() ? input.matmul(weight).add(bias) : input.matmul(weight);
  check_same_device("linear", {&input, &weight});
  const int64_t k = input.size(-1), n = weight.size(0);
  DimVector sizes = input.sizes();
  sizes.back() = n;
  const int64_t rows = product(IntArrayRef(sizes).slice(0, sizes.size() - 1));
  check_inner(bias.defined() ? "addmm" : "mm", rows, k, weight.size(1), n);
  if (!keeps_weight)
    bias.defined() ? check_addmm_dtypes(input, weight) : check_matrix_dtypes(input, weight);
  if (bias.defined()) {
    check_same_device("linear", {&input, &bias});
    check_addend("mat2", bias, weight, {rows, n});
  }
  Tensor out = make_tensor(sizes, input.dtype(), input.device());
  const Tensor weight_t = relayout(weight, weight.layout().transpose(0, 1));
  if (input.dim() == 2) {
    product_into(out, input, weight_t, bias);
  } else {
    NoGradGuard no_grad;
    product_into(relayout(out, Layout{{rows, n}, {n, 1}, out.storage_offset()}),
                 input.reshape({rows, k}), weight_t, bias);
  }
  if (wants_grad(input, weight, bias)) record_linear(out, input, weight, bias);
  return out;
}

/// The same with a sparse matrix as weight, which is multiplied with the inputs as columns.
static Tensor linear_of_sparse(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  DimVector sizes = input.sizes();
  sizes.back() = weight.size(0);
  const Tensor rows = input.dim() == 2 ? input : input.reshape({-1, input.size(-1)});
  const Tensor out = weight.mm(rows.t()).t().reshape(sizes);
  return bias.defined() ? out.add(bias) : out;
}

Tensor do_linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  if (!weight.is_strided() && input.dim() > 0) [[unlikely]]
    return linear_of_sparse(input, weight, bias);
  if (!policy::applies(input)) return linear_of(input, weight, bias, false);
  if (!policy::rounds_weights(input, weight, bias) || weight.dim() != 2 ||
      !policy::multiplies_in_float32(input))
    return policy::lower_precision(do_linear, input, weight, bias);
  const Tensor x = policy::to_lower_precision(input);
  const AutocastMode::Pause pause;
  return linear_of(x, weight, bias, true);
}

Tensor do_dot(const Tensor& self, const Tensor& other) {
  check_same_device("dot", {&self, &other});
  TAEDA_CHECK(self.dim() == 1 && other.dim() == 1, "1D tensors expected, but got ", self.dim(),
              "D and ", other.dim(), "D tensors");
  TAEDA_CHECK(self.dtype() == other.dtype(),
              "dot : expected both vectors to have same dtype, but found ", self.dtype(), " and ",
              other.dtype());
  TAEDA_CHECK(self.numel() == other.numel(), "inconsistent tensor size, expected tensor ",
              self.sizes(), " and src ", other.sizes(),
              " to have the same number of elements, but got ", self.numel(), " and ",
              other.numel(), " elements respectively");
  Tensor out = make_result("dot", {&self, &other}, IntArrayRef(), self.dtype(), self.device());
  product_into(relayout(out, Layout{{1, 1}, {1, 1}, out.storage_offset()}),
               relayout(self, self.layout().unsqueeze(0)), as_column(other));
  if (wants_grad(self, other))
    record("DotBackward0", out, {self, other},
           [a = save_if(other.requires_grad(), self),
            b = save_if(self.requires_grad(), other, "other")](const Tensor& g, Needs needs) {
             return TensorVec{needs[0] ? g.mul(conjugate(b.unpack())) : Tensor(),
                              needs[1] ? g.mul(conjugate(a.unpack())) : Tensor()};
           });
  return out;
}

Tensor vdot(const Tensor& self, const Tensor& other) { return dot(conjugate(self), other); }

Tensor outer(const Tensor& self, const Tensor& vec2) {
  TAEDA_CHECK(self.dim() == 1, "outer: Expected 1-D argument self, but got ", self.dim(), "-D");
  TAEDA_CHECK(vec2.dim() == 1, "outer: Expected 1-D argument vec2, but got ", vec2.dim(), "-D");
  return self.unsqueeze(1).mul(vec2);
}

Tensor kron(const Tensor& self, const Tensor& other) {
  const size_t ndim = static_cast<size_t>(std::max(self.dim(), other.dim()));
  DimVector a(ndim, 1), b(ndim, 1), a_spread, b_spread, result(ndim, 1);
  std::copy_backward(self.sizes().begin(), self.sizes().end(), a.end());
  std::copy_backward(other.sizes().begin(), other.sizes().end(), b.end());
  for (size_t d = 0; d < ndim; ++d) {
    a_spread.push_back(a[d]), a_spread.push_back(1);
    b_spread.push_back(1), b_spread.push_back(b[d]);
    result[d] = a[d] * b[d];
  }
  return self.reshape(a_spread).mul(other.reshape(b_spread)).reshape(result);
}

namespace {

/// A product that nobody has seen yet in another shape, which is therefore no view of anything.
Tensor in_shape(const Tensor& out, IntArrayRef sizes) {
  if (out.sizes() == sizes) return out;
  if (!out.is_strided() || !out.is_contiguous()) [[unlikely]]
    return out.reshape(sizes);
  const Tensor same = relayout(out, Layout{sizes, contiguous_strides(sizes), out.storage_offset()});
  if (wants_grad(out))
    record("UnsafeViewBackward0", same, {out},
           [shape = DimVector(out.sizes())](const Tensor& g) { return g.reshape(shape); });
  return same;
}

/// Both operands have at least one dimension, one of them at least three.
Tensor matmul_batched(const Tensor& a, const Tensor& b) {
  const bool row = a.dim() == 1, column = b.dim() == 1;
  const Tensor left = row ? a.unsqueeze(0) : a, right = column ? b.unsqueeze(1) : b;
  const int64_t m = left.size(-2), k = left.size(-1), n = right.size(-1);
  const IntArrayRef left_batch = left.sizes().slice(0, left.sizes().size() - 2);
  const IntArrayRef right_batch = right.sizes().slice(0, right.sizes().size() - 2);
  DimVector sizes = broadcast_sizes(left_batch, right_batch);
  const int64_t batch = product(sizes);
  Tensor out;
  if (product(right_batch) == 1 && product(left_batch) == batch) {
    // One matrix on the right: all rows of the left are one matrix, too.
    out = left.reshape({batch * m, k}).mm(right.reshape({right.size(-2), n}));
  } else {
    const auto expand = [&](const Tensor& t) {
      DimVector full = sizes;
      full.push_back(t.size(-2)), full.push_back(t.size(-1));
      const Tensor wide = t.sizes() == IntArrayRef(full) ? t : t.expand(full);
      return wide.dim() == 3 ? wide : wide.reshape({batch, t.size(-2), t.size(-1)});
    };
    out = expand(left).bmm(expand(right));
  }
  if (!row) sizes.push_back(m);
  if (!column) sizes.push_back(n);
  return in_shape(out, sizes);
}

}  // namespace

Tensor do_matmul(const Tensor& self, const Tensor& other) {
  const int64_t a = self.dim(), b = other.dim();
  TAEDA_CHECK(a > 0 && b > 0, "both arguments to matmul need to be at least 1D, but they are ", a,
              "D and ", b, "D");
  if (a == 1 && b == 1) return dot(self, other);
  if (a == 2 && b == 1) return mv(self, other);
  if (a == 1 && b == 2) return in_shape(mm(self.unsqueeze(0), other), {other.size(1)});
  if (a == 2 && b == 2) return mm(self, other);
  return matmul_batched(self, other);
}

}  // namespace taeda::inline v0_2
