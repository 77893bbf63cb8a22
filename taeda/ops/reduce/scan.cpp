// Cumulative operations; and prod, whose gradient needs them where factors are zero.
#include "taeda/ops/reduce/scan.h"

#include "bodies/reduce.h"
#include "bodies/scan.h"
#include "taeda/autograd/record.h"
#include "taeda/kernels/scan.h"
#include "taeda/ops/assign.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/destination.h"
#include "taeda/ops/elementwise/elementwise.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/reduce_common.h"
#include "taeda/ops/shape/join.h"

namespace taeda::inline v0_2 {

using detail::Reduced;

namespace {

/// The input in the dtype that a sum or product along it has.
Tensor accumulated(const Tensor& self, OptionalDtype dtype) {
  const ScalarType t = dtype.value_or(is_integral(self.dtype(), true) ? kLong : self.dtype());
  return t == self.dtype() ? self : self.to(t);
}

/// Runs a scan in int64 for integer dtypes, and gives the dtype asked for.
Tensor scan(const ScanSlot& slot, const Tensor& x, int64_t dim) {
  NoGradGuard guard;
  const Tensor in = (is_integral(x.dtype(), true) ? x.to(kLong) : x).contiguous();
  const Tensor out =
      detail::make_result(slot.name(), {&x, &in}, in.sizes(), in.dtype(), in.device());
  if (in.numel() > 0) slot(in.device().type(), out, in, dim);
  return out.to(x.dtype());
}

using detail::conjugate;

Tensor cumsum_from_end(const Tensor& t, int64_t dim) { return t.flip(dim).cumsum(dim).flip(dim); }

bool has_zero(const Tensor& t) {
  NoGradGuard guard;
  return !t.is_meta() && t.eq(0).any().item<bool>();
}

/// For each element along `dim` the product of all others, without dividing.
Tensor products_of_others(const Tensor& x, int64_t dim) {
  const int64_t n = x.size(dim);
  DimVector one(x.sizes());
  one[static_cast<size_t>(dim)] = 1;
  const Tensor first = ones(one, x.options());
  const Tensor before = cat({first, x.narrow(dim, 0, n - 1)}, dim).cumprod(dim);
  const Tensor after = cat({first, x.narrow(dim, 1, n - 1).flip(dim)}, dim).cumprod(dim).flip(dim);
  return before.mul(after);
}

Tensor prod_gradient(const Tensor& g, const Tensor& x, const Tensor& y, int64_t dim) {
  if (x.numel() == 0) return zeros(x.sizes(), x.options());
  if (!has_zero(x)) return g.mul(conjugate(y.div(x)));
  return g.mul(conjugate(products_of_others(x, dim)));
}

/// d/dx_k of sum_i g_i x_0 .. x_i. Without zeros that is sum_{i >= k} g_i y_i / x_k; with them,
/// each column k is computed from the products without x_k.
Tensor cumprod_gradient(const Tensor& g, const Tensor& x, const Tensor& y, int64_t dim) {
  if (x.numel() == 0) return zeros(x.sizes(), x.options());
  if (!has_zero(x)) return cumsum_from_end(g.mul(conjugate(y)), dim).div(conjugate(x));
  const int64_t n = x.size(dim);
  std::vector<Tensor> columns;
  for (int64_t k = 0; k < n; ++k) {
    const Tensor column = x.narrow(dim, k, 1);
    const Tensor before =
        k == 0 ? ones(column.sizes(), x.options()) : x.narrow(dim, 0, k).prod(dim, true);
    const Tensor here = ones(column.sizes(), x.options());
    const Tensor after = cat({here, x.narrow(dim, k + 1, n - k - 1)}, dim).cumprod(dim);
    columns.push_back(g.narrow(dim, k, n - k).mul(conjugate(before.mul(after))).sum(dim, true));
  }
  return cat(columns, dim);
}

std::tuple<Tensor, Tensor> extreme(const char* node, const ScanIndexSlot& slot, const Tensor& self,
                                   int64_t dim) {
  TAEDA_CHECK(!self.is_complex(), slot.name(), "(): does not support complex input");
  dim = wrap_dim(dim, self.dim());
  const Tensor values = make_tensor(self.sizes(), self.dtype(), self.device());
  const Tensor indices = make_tensor(self.sizes(), kLong, self.device());
  {
    NoGradGuard guard;
    if (self.numel() > 0) slot(self.device().type(), values, indices, self.contiguous(), dim);
  }
  if (wants_grad(self))
    record(node, values, {self},
           [at = save_tensor(indices, "indices"), sizes = DimVector(self.sizes()),
            dim](const Tensor& g) {
             return zeros(sizes, g.options()).scatter_add_(dim, at.unpack(), g);
           });
  return {values, indices};
}

Tensor prod_impl(const char* node, const Tensor& self, int64_t dim, bool keepdim,
                 OptionalDtype dtype) {
  const Tensor x = accumulated(self, dtype);
  dim = wrap_dim(dim, x.dim());
  const Reduced r(x, dim, keepdim);
  const bool integral = is_integral(x.dtype(), true);
  const Tensor in = integral ? x.to(kLong) : x, out = r.make_output("prod", in, in.dtype());
  if (out.numel() > 0) prod_slot(in.device().type(), out, in, r.mask);
  if (wants_grad(x))
    record(node, out, {x}, [r, dim, x = save_tensor(x), y = save_output(out)](const Tensor& g) {
      return prod_gradient(r.restore(g), x.unpack(), r.restore(y.unpack()), dim);
    });
  return integral ? out.to(x.dtype()) : out;
}

}  // namespace

Tensor do_cumsum(const Tensor& self, int64_t dim, OptionalDtype dtype) {
  dim = wrap_dim(dim, self.dim());
  const Tensor x = accumulated(self, dtype), y = scan(cumsum_slot, x, dim);
  if (wants_grad(x))
    record("CumsumBackward0", y, {x},
           [dim](const Tensor& g) { return g.dim() == 0 ? g : cumsum_from_end(g, dim); });
  return y;
}

Tensor do_cumprod(const Tensor& self, int64_t dim, OptionalDtype dtype) {
  dim = wrap_dim(dim, self.dim());
  const Tensor x = accumulated(self, dtype), y = scan(cumprod_slot, x, dim);
  if (wants_grad(x))
    record("CumprodBackward0", y, {x},
           [dim, x = save_tensor(x), y = save_output(y)](const Tensor& g) {
             const Tensor from = x.unpack(), made = y.unpack();
             return g.dim() == 0 ? g : cumprod_gradient(g, from, made, dim);
           });
  return y;
}

std::tuple<Tensor, Tensor> do_cummax(const Tensor& self, int64_t dim) {
  return extreme("CummaxBackward0", cummax_slot, self, dim);
}
std::tuple<Tensor, Tensor> do_cummin(const Tensor& self, int64_t dim) {
  return extreme("CumminBackward0", cummin_slot, self, dim);
}

Tensor do_prod(const Tensor& self, OptionalDtype dtype) {
  return prod_impl("ProdBackward0", self.reshape({-1}), 0, false, dtype);
}
Tensor do_prod(const Tensor& self, int64_t dim, bool keepdim, OptionalDtype dtype) {
  if (self.dim() == 0) {
    wrap_dim(dim, 0);
    return prod_impl("ProdBackward1", self.reshape({1}), 0, false, dtype);
  }
  return prod_impl("ProdBackward1", self, dim, keepdim, dtype);
}

// ---- in place: sums of integers keep their dtype ----

namespace {

void check_scan_in_place(const Tensor& self, OptionalDtype dtype) {
  const ScalarType wanted = dtype.value_or(self.dtype());
  TAEDA_CHECK(wanted == self.dtype(), "Bad in-place call: input tensor dtype ",
              dtype_name(self.dtype()), " and output tensor dtype ", dtype_name(wanted),
              " should match");
}

}  // namespace

Tensor& do_cumsum_(const Tensor& self, int64_t dim, OptionalDtype dtype) {
  check_scan_in_place(self, dtype);
  return detail::assign("cumsum_", self, wants_grad(self), [&](const Tensor& self) {
    return taeda::cumsum(self, dim, dtype.value_or(self.dtype()));
  });
}
Tensor& do_cumprod_(const Tensor& self, int64_t dim, OptionalDtype dtype) {
  check_scan_in_place(self, dtype);
  return detail::assign("cumprod_", self, wants_grad(self), [&](const Tensor& self) {
    return taeda::cumprod(self, dim, dtype.value_or(self.dtype()));
  });
}

}  // namespace taeda::inline v0_2
