#include "taeda/ops/reduce/selection.h"

#include <algorithm>
#include <numeric>

#include "bodies/selection.h"
#include "taeda/autograd/record.h"
#include "taeda/device/host_graph.h"
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
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/mapped.h"

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

namespace {

/// Membership of whole numbers by a table of all between the least and the largest; undefined where
/// that would be large, or values are not at hand.
Tensor isin_table(const Tensor& elements, const Tensor& test_elements, bool invert) {
  constexpr int64_t kLargest = int64_t{1} << 20;
  const bool whole = is_integral(elements.dtype()) && is_integral(test_elements.dtype());
  if (!whole || !elements.is_cpu() || !test_elements.is_cpu() || detail::host_recording())
    return {};
  const auto [least, most] = test_elements.aminmax();
  const int64_t low = least.item<int64_t>(), high = most.item<int64_t>();
  if (low < -kLargest || high > kLargest) return {};
  std::vector<uint8_t> table(static_cast<size_t>(high - low + 1), invert);
  const Tensor list = test_elements.to(kLong).contiguous(), all = elements.to(kLong).contiguous();
  const int64_t* const given = list.data_ptr<int64_t>();
  for (int64_t i = 0; i < list.numel(); ++i) table[static_cast<size_t>(given[i] - low)] = !invert;
  const Tensor out = empty(elements.sizes(), elements.options().dtype(kBool));
  bool* const to = out.data_ptr<bool>();
  const int64_t* const from = all.data_ptr<int64_t>();
  for (int64_t i = 0; i < all.numel(); ++i) {
    const bool inside = from[i] >= low && from[i] <= high;
    to[i] = inside ? table[static_cast<size_t>(from[i] - low)] != 0 : invert;
  }
  return out;
}

void check_isin(ScalarType t) {
  TAEDA_CHECK_AS(NotImplementedError, t != kBool && !is_complex(t),
                 "Unsupported input type encountered for isin(): ", to_string(t));
}

}  // namespace

Tensor isin(const Tensor& elements, const Scalar& test_element, bool, bool invert) {
  check_isin(elements.dtype());
  check_isin(test_element.type());
  return invert ? elements.ne(test_element) : elements.eq(test_element);
}

Tensor isin(const Scalar& element, const Tensor& test_elements, bool assume_unique, bool invert) {
  check_isin(element.type());
  return isin(full({}, element, test_elements.options()), test_elements, assume_unique, invert);
}

Tensor do_isin(const Tensor& elements, const Tensor& test_elements, bool assume_unique,
               bool invert) {
  if (test_elements.numel() > 0 && !is_mapped(elements) && !is_mapped(test_elements))
    if (const Tensor out = isin_table(elements, test_elements, invert); out.defined()) return out;
  return compose_isin(elements, test_elements, assume_unique, invert);
}

Tensor compose_isin(const Tensor& elements, const Tensor& test_elements, bool /*assume_unique*/,
                    bool invert) {
  check_isin(elements.dtype());
  check_isin(test_elements.dtype());
  NoGradGuard guard;
  const int64_t n = test_elements.numel();
  if (n == 0) return full(elements.sizes(), invert, elements.options().dtype(kBool));
  const Tensor sorted = std::get<0>(test_elements.reshape({-1}).sort());
  const Tensor flat = elements.reshape({-1}).contiguous();
  const Tensor place = searchsorted(sorted, flat).clamp_max(n - 1);
  const Tensor found = eq(sorted.index_select(0, place), flat).view(elements.sizes());
  return invert ? logical_not(found) : found;
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
