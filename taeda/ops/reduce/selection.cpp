#include "taeda/ops/reduce/selection.h"

#include <algorithm>
#include <numeric>

#include "bodies/selection.h"
#include "taeda/autograd/record.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/reduce_common.h"
#include "taeda/ops/reduce/scan.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/parts.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2 {

namespace {

/// Where along the last dimension the most frequent value occurs last, [..., 1].
Tensor most_frequent(const Tensor& x) {
  NoGradGuard guard;
  const auto [sorted, from] = x.sort(-1);
  const int64_t n = x.size(-1);
  const Tensor places = arange(n, from.options()).expand(x.sizes());
  Tensor starts = zeros_like(places);
  if (n > 1) {
    const Tensor begins = sorted.narrow(-1, 1, n - 1).ne(sorted.narrow(-1, 0, n - 1));
    starts = cat({starts.narrow(-1, 0, 1), places.narrow(-1, 1, n - 1).mul(begins.to(kLong))}, -1);
  }
  // How often each value has occurred so far; the first of the largest ends the smallest value's
  // run.
  const Tensor seen = places.sub(std::get<0>(starts.cummax(-1)));
  const Tensor most = seen.amax(-1, true);
  const Tensor last = where(seen.eq(most), places, Scalar(n)).amin(-1, true);
  return from.gather(-1, last);
}

}  // namespace

std::tuple<Tensor, Tensor> mode(const Tensor& self, int64_t dim, bool keepdim) {
  TAEDA_CHECK(!self.is_complex(), "mode is not supported for complex tensors");
  if (self.dim() == 0) return {self.clone(), zeros({}, self.options().dtype(kLong))};
  const int64_t along = wrap_dim(dim, self.dim());
  TAEDA_CHECK_INDEX(self.size(along) > 0, "mode(): Expected reduction dim ", along,
                    " to have non-zero size.");
  const Tensor x = self.movedim(along, -1);
  const Tensor index = most_frequent(x.detach());
  Tensor values = x.gather(-1, index).movedim(-1, along), indices = index.movedim(-1, along);
  if (!keepdim) values = values.squeeze(along), indices = indices.squeeze(along);
  return {values, indices};
}

namespace {

/// Rows of numbers on the host in the order of the rows' own elements: the ranks of these among
/// all.
struct RankedRows {
  Tensor ranks;
  int64_t rows, columns;

  explicit RankedRows(const Tensor& matrix)
      : ranks(std::get<1>(unique(matrix, true)).cpu().contiguous()),
        rows(matrix.size(0)),
        columns(matrix.size(1)) {}

  const int64_t* row(int64_t i) const { return ranks.data_ptr<int64_t>() + i * columns; }
  bool less(int64_t a, int64_t b) const {
    return std::lexicographical_compare(row(a), row(a) + columns, row(b), row(b) + columns);
  }
  bool equal(int64_t a, int64_t b) const { return std::equal(row(a), row(a) + columns, row(b)); }
};

Tensor on_device(const std::vector<int64_t>& numbers, Device device) {
  Tensor out = empty({static_cast<int64_t>(numbers.size())}, kLong);
  std::copy(numbers.begin(), numbers.end(), out.data_ptr<int64_t>());
  return out.to(device);
}

/// The groups of equal neighbours among slices in `order`.
std::tuple<Tensor, Tensor, Tensor> unique_slices(const Tensor& self, int64_t dim, bool sort,
                                                 bool return_inverse, bool return_counts) {
  const int64_t along = wrap_dim(dim, self.dim());
  const int64_t count = self.size(along);
  TAEDA_CHECK(
      self.numel() > 0 || count == 0,
      "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
  NoGradGuard guard;
  std::vector<int64_t> order(static_cast<size_t>(count)), firsts, counts, inverse(order.size());
  if (self.numel() > 0) {
    const RankedRows rows(self.detach().movedim(along, 0).reshape({count, -1}));
    std::iota(order.begin(), order.end(), int64_t{0});
    if (sort)
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t a, int64_t b) { return rows.less(a, b); });
    for (size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || !rows.equal(order[i - 1], order[i])) {
        firsts.push_back(order[i]);
        counts.push_back(0);
      }
      ++counts.back();
      inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(firsts.size()) - 1;
    }
  }
  const auto result = [&](bool wanted, const std::vector<int64_t>& numbers) {
    return on_device(wanted ? numbers : std::vector<int64_t>{}, self.device());
  };
  return {self.detach().index_select(along, on_device(firsts, self.device())),
          result(return_inverse, inverse), result(return_counts, counts)};
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> do_unique_dim(const Tensor& self, int64_t dim, bool /*sorted*/,
                                                 bool return_inverse, bool return_counts) {
  return unique_slices(self, dim, true, return_inverse, return_counts);
}

std::tuple<Tensor, Tensor, Tensor> do_unique_dim_consecutive(const Tensor& self, int64_t dim,
                                                             bool return_inverse,
                                                             bool return_counts) {
  return unique_slices(self, dim, false, return_inverse, return_counts);
}

Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                    std::string_view reduce, bool include_self) {
  TAEDA_CHECK(reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin",
              "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got ",
              reduce, ".");
  TAEDA_CHECK(self.dtype() == source.dtype(),
              "index_reduce(): self and source expected to have the same dtype, but got (self) ",
              self.dtype(), " and (source) ", source.dtype());
  TAEDA_CHECK(index.dim() <= 1, "index_reduce(): Index is supposed to be a vector");
  const int64_t along = wrap_dim(dim, self.dim());
  const int64_t slices = source.dim() == 0 ? 1 : source.size(along);
  TAEDA_CHECK(index.numel() == slices, "index_reduce(): Number of indices should be equal to ",
              "source.size(dim): ", slices, ", got ", index.numel());
  if (self.dim() == 0)
    return scatter_reduce(self.unsqueeze(0), 0, index.reshape({1}).to(kLong), source.reshape({1}),
                          reduce, include_self)
        .squeeze(0);
  DimVector sizes(static_cast<size_t>(self.dim()), 1);
  sizes[static_cast<size_t>(along)] = slices;
  const Tensor places = index.to(kLong).reshape(sizes).expand(source.sizes());
  return scatter_reduce(self, along, places, source, reduce, include_self);
}

namespace {

/// A copy of `self` and of what lies between its elements, with its strides and offset: places that
/// are counted in its storage are the same ones in the copy.
Tensor copy_where_it_lies(const Tensor& self) {
  int64_t end = self.storage_offset() + 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.size(d) == 0 || (self.size(d) > 1 && self.stride(d) == 0)) return self.clone();
    end += (self.size(d) - 1) * self.stride(d);
  }
  if (end == self.numel() && self.is_contiguous()) return self.clone();
  return self.as_strided({end}, {1}, 0)
      .clone()
      .as_strided(self.sizes(), self.strides(), self.storage_offset());
}

}  // namespace

Tensor as_strided_scatter(const Tensor& self, const Tensor& src, IntArrayRef size,
                          IntArrayRef stride, OptionalDim storage_offset) {
  const Tensor out = copy_where_it_lies(self);
  const Tensor part = out.as_strided(size, stride, storage_offset);
  TAEDA_CHECK(part.sizes() == src.sizes(),
              "expected src to have a size equal to the slice of self. src size = ", src.sizes(),
              ", slice size = ", part.sizes());
  part.copy_(src);
  return out;
}

// ---- numbers ----

namespace {

/// mantissa and exponent (int64) of doubles, from their bits (IEEE 754).
std::tuple<Tensor, Tensor> split_doubles(const Tensor& x) {
  constexpr int64_t kField = 0x7ff, kHalfExponent = 1022;
  constexpr double kSubnormalScale = 18014398509481984.0;  // 2^54
  const Tensor small = x.abs().lt(std::numeric_limits<double>::min());
  const Tensor bits = where(small, x.mul(kSubnormalScale), x).view(kLong);
  const Tensor field = bitwise_right_shift(bits, 52).bitwise_and(kField);
  const Tensor as_it_is = x.eq(0).logical_or(field.eq(kField));
  const Tensor kept = bits.bitwise_and(~(kField << 52)).bitwise_or(kHalfExponent << 52);
  const Tensor exponent = field.sub(kHalfExponent).sub(small.to(kLong).mul(54));
  return {where(as_it_is, x, kept.view(kDouble)), exponent.masked_fill(as_it_is, 0)};
}

}  // namespace

std::tuple<Tensor, Tensor> do_frexp(const Tensor& self) {
  TAEDA_CHECK(is_floating_point(self.dtype()), "torch.frexp() only supports floating-point dtypes");
  Tensor mantissa, exponent;
  {
    NoGradGuard guard;
    const auto [m, e] = split_doubles(self.to(kDouble).contiguous());
    mantissa = m.to(self.dtype());
    exponent = e.to(kInt);
  }
  if (wants_grad(self))
    record("FrexpBackward0", mantissa, {self},
           [exponent](const Tensor& g) { return ldexp(g, exponent.neg()).to(g.dtype()); });
  return {mantissa, exponent};
}

// ---- norms ----

Tensor do_norm_except_dim(const Tensor& v, int64_t pow, int64_t dim) {
  if (dim == -1) return v.norm(pow);
  TAEDA_CHECK_INDEX(v.dim() > 0, "Dimension specified as ", dim, " but tensor has no dimensions");
  const int64_t kept = wrap_dim(dim, v.dim());
  DimVector others;
  for (int64_t d = 0; d < v.dim(); ++d)
    if (d != kept) others.push_back(d);
  return others.empty() ? linalg::vector_norm(v.unsqueeze(1), pow, {1})
                        : linalg::vector_norm(v, pow, others, true);
}

}  // namespace taeda::inline v0_2
