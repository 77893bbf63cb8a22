#include "taeda/ops/shape/parts.h"

#include "bodies/parts.h"
#include "taeda/autograd/record.h"
#include "taeda/base/checked_int.h"
#include "taeda/base/error.h"
#include "taeda/device/host_graph.h"
#include "taeda/kernels/index.h"
#include "taeda/ops/assign.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/create/create_common.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/nn/fused_backward.h"
#include "taeda/ops/reduce/scan.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/shape/join.h"
#include "taeda/tensor/observer.h"

namespace taeda::inline v0_2 {

// ---- parts replaced ----

namespace {

/// Copies `src` over a view of `whole`, which nobody else has seen.
Tensor with_part(Tensor whole, const Tensor& part, const Tensor& src) {
  TAEDA_CHECK(part.sizes() == src.sizes(),
              "expected src to have a size equal to the slice of self. src size = ", src.sizes(),
              ", slice size = ", part.sizes());
  part.copy_(src);
  return whole;
}

}  // namespace

Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  const Tensor out = self.clone();
  return with_part(out, out.select(dim, index), src);
}
Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim, OptionalDim start,
                     OptionalDim end, int64_t step) {
  const Tensor out = self.clone();
  return with_part(out, out.slice(dim, start, end, step), src);
}
Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1,
                        int64_t dim2) {
  const Tensor out = self.clone();
  return with_part(out, out.diagonal(offset, dim1, dim2), src);
}

Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  TAEDA_CHECK(self.dtype() == source.dtype(),
              "masked_scatter: expected self and source to have same dtypes but got",
              to_string(self.dtype()), " and ", to_string(source.dtype()));
  TAEDA_CHECK(mask.dtype() == kBool, "Mask tensor can take 0 and 1 values only");
  const DimVector shape = broadcast_sizes(self.sizes(), mask.sizes());
  const Tensor chosen = mask.expand(shape), list = source.reshape({-1});
  TAEDA_CHECK(chosen.is_meta() || chosen.sum().item<int64_t>() <= list.numel(),
              "Number of elements of source < number of ones in mask");
  const Tensor target = self.expand(shape);
  if (list.numel() == 0) return target.clone();
  const Tensor order = chosen.reshape({-1}).cumsum(0).sub(1).clamp(0, list.numel() - 1);
  return where(chosen, list.index_select(0, order).view(shape), target);
}

namespace {

/// What index has a place for.
Tensor part_for(const Tensor& index, const Tensor& src) {
  Tensor part = src.dim() == 0 ? src.unsqueeze(0) : src;
  TAEDA_CHECK(index.dim() == part.dim(),
              "Index tensor must have the same number of dimensions as src tensor");
  for (int64_t d = 0; d < index.dim(); ++d) {
    TAEDA_CHECK(index.size(d) <= part.size(d), "Expected index ", index.sizes(),
                " to be smaller than src ", src.sizes(), " in all dimensions");
    if (index.size(d) < part.size(d)) part = part.narrow(d, 0, index.size(d));
  }
  return part;
}

/// self, with `start` where something of src will arrive, unless self takes part.
Tensor prepared(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& start,
                bool include_self) {
  return include_self ? self : self.scatter(dim, index, start);
}

Tensor scatter_mean(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                    bool include_self) {
  const Tensor sum = prepared(self, dim, index, 0, include_self).scatter_add(dim, index, src);
  Tensor count;
  {
    NoGradGuard guard;
    const Tensor each = ones_like(src);
    count = prepared(ones_like(self), dim, index, 0, include_self).scatter_add(dim, index, each);
    count = where(count.eq(0), Scalar(1), count).to(self.dtype());
  }
  return is_differentiable(self.dtype()) ? sum.div(count) : sum.div(count, "floor");
}

/// Of differentiable operations: neighbours with the same target are multiplied with each other,
/// over 1, 2, 4, ... places; what comes last has the product of all and is written last.
Tensor composed_prod(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                     bool include_self) {
  const int64_t n = index.size(dim);
  const auto [target, order] = index.sort(dim);
  Tensor products = src.gather(dim, order);
  for (int64_t step = 1; step < n; step *= 2) {
    const Tensor same = target.narrow(dim, step, n - step).eq(target.narrow(dim, 0, n - step));
    const Tensor before = where(same, products.narrow(dim, 0, n - step), Scalar(1)).to(src.dtype());
    products =
        cat({products.narrow(dim, 0, step), products.narrow(dim, step, n - step).mul(before)}, dim);
  }
  // Only the last of a run is written.
  const Tensor start = prepared(self, dim, index, 1, include_self);
  if (n == 0) return start.clone();
  Tensor last = ones_like(target).to(kBool);
  if (n > 1)
    last.narrow(dim, 0, n - 1).copy_(target.narrow(dim, 1, n - 1).ne(target.narrow(dim, 0, n - 1)));
  const Tensor kept = where(last, products, Scalar(0)).to(src.dtype());
  const Tensor factor = zeros_like(self).scatter_add(dim, target, kept);
  Tensor hit;
  {
    NoGradGuard guard;
    hit = zeros_like(self).to(kBool).scatter(dim, index, true);
  }
  return where(hit, start.mul(factor), start);
}

/// self with what arrives from src, in one pass and without a record. Where self takes no part,
/// `start` stands in for it: src itself for extremes.
Tensor scatter_meeting(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                       Meeting how, bool include_self) {
  const NoGradGuard guard;
  const Tensor at = index.to(kLong);
  const Tensor out = include_self              ? self.clone()
                     : how == Meeting::Product ? self.scatter(dim, at, 1)
                                               : self.scatter(dim, at, src);
  scatter_slot(self.device().type(), out, at, src, dim, how);
  return out;
}

/// By quotients, but for the factors that are zero.
TensorVec fused_prod_gradients(const Tensor& g, const Tensor& self, int64_t dim,
                               const Tensor& index, const Tensor& src, const Tensor& out,
                               bool include_self) {
  const auto product = [&](const Tensor& a, const Tensor& b) {
    return scatter_meeting(a, dim, index, b, Meeting::Product, include_self);
  };
  const Tensor own = self.masked_fill(self.eq(0), 1), zero = src.eq(0);
  Tensor by_self = g.mul(product(own, src)).div(own);
  if (!include_self) by_self = by_self.scatter(dim, index, 0);
  const Tensor zeros = zeros_like(self).scatter_add(dim, index, zero.to(self.dtype()));
  const Tensor alone = zero.logical_and(zeros.gather(dim, index).eq(1));
  const Tensor others = product(self, src.masked_fill(alone, 1));
  const Tensor quotient = g.mul(out).gather(dim, index).div(src.masked_fill(zero, 1));
  return {by_self, where(alone, g.mul(others).gather(dim, index), quotient)};
}

Tensor scatter_prod(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                    bool include_self) {
  const Tensor out = scatter_meeting(self, dim, index, src, Meeting::Product, include_self);
  if (wants_grad(self, src))
    record("ScatterReduceBackward0", out, {self, src},
           [dim, include_self, a = save_tensor(self), b = save_tensor(src, "src"),
            at = save_tensor(index, "index"), y = save_output(out)](const Tensor& g, Needs needs) {
             const Tensor self = a.unpack(), src = b.unpack(), index = at.unpack();
             return detail::fused_or_differentiable(
                 [&] {
                   return fused_prod_gradients(g, self, dim, index, src, y.unpack(), include_self);
                 },
                 [&] {
                   return detail::recorded_gradients(
                       [&](TensorList in) {
                         return composed_prod(in[0], dim, index, in[1], include_self);
                       },
                       {self, src}, g, needs);
                 });
           });
  return out;
}

/// The extreme of each place.
Tensor scatter_extreme(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                       bool largest, bool include_self) {
  const Tensor out = scatter_meeting(self, dim, index, src,
                                     largest ? Meeting::Largest : Meeting::Smallest, include_self);
  if (wants_grad(self, src))
    record("ScatterReduceBackward0", out, {self, src},
           [dim, include_self, a = save_tensor(self), b = save_tensor(src, "src"),
            at = save_tensor(index, "index"), y = save_output(out)](const Tensor& g, Needs needs) {
             const Tensor self = a.unpack(), src = b.unpack(), index = at.unpack();
             const Tensor best = y.unpack();
             Tensor own, given, share;
             {
               NoGradGuard guard;
               own = self.eq(best).to(g.dtype());
               given = src.eq(best.gather(dim, index)).to(g.dtype());
               if (!include_self) own = own.scatter(dim, index, 0);
               share = own.scatter_add(dim, index, given).clamp_min(1);
               if (!include_self) {
                 const Tensor hit = zeros_like(own).scatter(dim, index, 1);
                 own = rsub(hit, 1);
               }
             }
             const Tensor part = g.div(share);
             return TensorVec{needs[0] ? part.mul(own) : Tensor(),
                              needs[1] ? part.gather(dim, index).mul(given) : Tensor()};
           });
  return out;
}

/// `product` is one of the two above.
Tensor scatter_reduced(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                       std::string_view reduce, bool include_self,
                       decltype(scatter_prod)* product) {
  const int64_t d = wrap_dim(dim, self.dim());
  TAEDA_CHECK(self.dtype() == src.dtype(),
              "scatter(): Expected self.dtype to be equal to src.dtype");
  if (index.numel() == 0) return self.clone();
  TAEDA_CHECK(index.dtype() == kLong || index.dtype() == kInt,
              "scatter(): Expected dtype int32/int64 for index");
  if (self.dim() == 0)
    return scatter_reduced(self.unsqueeze(0), 0, index, src, reduce, include_self, product)
        .squeeze(0);
  const Tensor at = atleast_1d(index), part = part_for(at, src);
  TAEDA_CHECK(at.dim() == self.dim(),
              "Index tensor must have the same number of dimensions as self tensor");
  if (reduce == "sum") return prepared(self, d, at, 0, include_self).scatter_add(d, at, part);
  if (reduce == "mean") return scatter_mean(self, d, at, part, include_self);
  if (reduce == "prod") return product(self, d, at, part, include_self);
  TAEDA_CHECK(reduce == "amax" || reduce == "amin",
              "reduce argument must be either sum, prod, mean, amax or amin, got ", reduce);
  return scatter_extreme(self, d, at, part, reduce == "amax", include_self);
}

}  // namespace

Tensor do_scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                         std::string_view reduce, bool include_self) {
  return scatter_reduced(self, dim, index, src, reduce, include_self, scatter_prod);
}

Tensor compose_scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index,
                              const Tensor& src, std::string_view reduce, bool include_self) {
  return scatter_reduced(self, dim, index, src, reduce, include_self, composed_prod);
}

Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  TAEDA_CHECK(index.dtype() == kLong, "put_(): Expected a long tensor for index, but got ",
              to_string(index.dtype()));
  TAEDA_CHECK(self.dtype() == source.dtype(),
              "put_(): self and source expected to have the same dtype, but got self.dtype = ",
              to_string(self.dtype()), " and source.dtype = ", to_string(source.dtype()));
  TAEDA_CHECK_INDEX(index.numel() == source.numel(),
                    "put_(): Expected source and index to have the same number of elements, but "
                    "got source.numel() = ",
                    source.numel(), ", index.numel() = ", index.numel());
  const TensorIndex places[] = {index.reshape({-1})};
  return index_put(self.reshape({-1}), places, source.reshape({-1}), accumulate).view(self.sizes());
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
  if (test_elements.numel() > 0)
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

// ---- taken apart ----

namespace {

std::vector<Tensor> split_along(const char* name, const Tensor& self, int64_t least, int64_t dim,
                                int64_t sections) {
  TAEDA_CHECK(self.dim() >= least, "torch.", name, " requires a tensor with at least ", least,
              " dimension, but got a tensor with ", self.dim(), " dimensions!");
  TAEDA_CHECK(sections > 0 && self.size(dim) % sections == 0, "torch.", name,
              " attempted to split along dimension ", dim, ", but the size of the dimension ",
              self.size(dim), " is not divisible by the split_size ", sections, "!");
  return tensor_split(self, sections, dim);
}

std::vector<Tensor> split_along(const char* name, const Tensor& self, int64_t least, int64_t dim,
                                IntArrayRef indices) {
  TAEDA_CHECK(self.dim() >= least, "torch.", name, " requires a tensor with at least ", least,
              " dimension, but got a tensor with ", self.dim(), " dimensions!");
  return tensor_split(self, indices, dim);
}

int64_t columns_of(const Tensor& t) { return t.dim() < 2 ? 0 : 1; }

}  // namespace

std::vector<Tensor> hsplit(const Tensor& self, int64_t sections) {
  return split_along("hsplit", self, 1, columns_of(self), sections);
}
std::vector<Tensor> hsplit(const Tensor& self, IntArrayRef indices) {
  return split_along("hsplit", self, 1, columns_of(self), indices);
}
std::vector<Tensor> vsplit(const Tensor& self, int64_t sections) {
  return split_along("vsplit", self, 2, 0, sections);
}
std::vector<Tensor> vsplit(const Tensor& self, IntArrayRef indices) {
  return split_along("vsplit", self, 2, 0, indices);
}
std::vector<Tensor> dsplit(const Tensor& self, int64_t sections) {
  return split_along("dsplit", self, 3, 2, sections);
}
std::vector<Tensor> dsplit(const Tensor& self, IntArrayRef indices) {
  return split_along("dsplit", self, 3, 2, indices);
}

// ---- put together ----

Tensor diagflat(const Tensor& self, int64_t offset) { return self.reshape({-1}).diag(offset); }

Tensor block_diag(TensorList tensors) {
  TAEDA_CHECK(!tensors.empty(), "torch.block_diag: expected at least one tensor");
  std::vector<Tensor> blocks;
  int64_t rows = 0, columns = 0, position = 0;
  ScalarType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) {
    TAEDA_CHECK(t.dim() <= 2,
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. "
                "Input ",
                position++, " has ", t.dim(), " dimensions");
    blocks.push_back(t.dim() == 2 ? t : t.reshape({1, -1}));
    rows += blocks.back().size(0);
    columns += blocks.back().size(1);
    dtype = promote_types(dtype, t.dtype());
  }
  const Tensor out = zeros({rows, columns}, tensors[0].options().dtype(dtype));
  int64_t row = 0, column = 0;
  for (const Tensor& block : blocks) {
    out.narrow(0, row, block.size(0)).narrow(1, column, block.size(1)).copy_(block);
    row += block.size(0);
    column += block.size(1);
  }
  return out;
}

Tensor cartesian_prod(TensorList tensors) {
  for (const Tensor& t : tensors)
    TAEDA_CHECK(t.dim() == 1, "Expect a 1D vector, but got shape ", t.sizes());
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns;
  for (const Tensor& grid : meshgrid(tensors)) columns.push_back(grid.reshape({-1}));
  return stack(columns, 1);
}

namespace {

/// n over k: every product of the first factors is divisible.
CheckedInt combination_count(int64_t n, int64_t k) {
  CheckedInt out = k <= n;
  for (int64_t i = 1; i <= std::min(k, n - k) && out.representable(); ++i)
    out = out * (n - i + 1) / i;
  return out;
}

}  // namespace

Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  TAEDA_CHECK(self.dim() == 1, "Expect a 1D vector, but got shape ", self.sizes());
  TAEDA_CHECK(r >= 0, "Expect a non-negative number, but got ", r);
  if (r == 0) return empty({0}, self.options());
  const char* const op = "combinations";
  const int64_t n = self.size(0), gap = with_replacement ? 0 : 1;
  const CheckedInt choices = with_replacement ? CheckedInt(n) + r - 1 : n;
  const int64_t count = combination_count(choices.value(op), r).value(op);
  Tensor index = empty({count, r}, kLong);
  int64_t* place = index.data_ptr<int64_t>();
  std::vector<int64_t> choice(static_cast<size_t>(count > 0 ? r : 0));
  for (size_t i = 0; i < choice.size(); ++i) choice[i] = static_cast<int64_t>(i) * gap;
  // The last place that can still move moves on, those behind it follow as closely as they may.
  const auto limit = [&](int64_t i) { return n - 1 - (r - 1 - i) * gap; };
  for (int64_t row = 0; row < count; ++row) {
    place = std::copy(choice.begin(), choice.end(), place);
    int64_t i = r - 1;
    while (i >= 0 && choice[static_cast<size_t>(i)] == limit(i)) --i;
    if (i < 0) break;
    ++choice[static_cast<size_t>(i)];
    for (; i + 1 < r; ++i)
      choice[static_cast<size_t>(i + 1)] = choice[static_cast<size_t>(i)] + gap;
  }
  return self.index_select(0, index.flatten().to(self.device())).view({count, r});
}

Tensor column_stack(TensorList tensors) {
  TAEDA_CHECK(!tensors.empty(), "column_stack expects a non-empty TensorList");
  std::vector<Tensor> columns;
  for (const Tensor& t : tensors) columns.push_back(t.dim() <= 1 ? t.reshape({-1, 1}) : t);
  return hstack(columns);
}
Tensor row_stack(TensorList tensors) { return vstack(tensors); }

Tensor atleast_1d(const Tensor& self) { return self.dim() == 0 ? self.reshape({1}) : self; }
Tensor atleast_2d(const Tensor& self) {
  return self.dim() < 2 ? atleast_1d(self).unsqueeze(0) : self;
}
Tensor atleast_3d(const Tensor& self) {
  return self.dim() < 3 ? atleast_2d(self).unsqueeze(-1) : self;
}

namespace {

std::vector<Tensor> each_of(TensorList tensors, Tensor (*f)(const Tensor&)) {
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(f(t));
  return out;
}

}  // namespace

std::vector<Tensor> atleast_1d(TensorList tensors) { return each_of(tensors, &atleast_1d); }
std::vector<Tensor> atleast_2d(TensorList tensors) { return each_of(tensors, &atleast_2d); }
std::vector<Tensor> atleast_3d(TensorList tensors) { return each_of(tensors, &atleast_3d); }

Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  TAEDA_CHECK(self.dim() > 2,
              "channel_shuffle expects input with > 2 dims, but got input with "
              "sizes ",
              self.sizes());
  TAEDA_CHECK(groups > 0,
              "Number of groups to divide channels in must be positive. Value of "
              "groups:",
              groups);
  const int64_t channels = self.size(1);
  TAEDA_CHECK(channels % groups == 0, "Number of channels must be divisible by groups. Got ",
              channels, " channels and ", groups, " groups.");
  const Tensor out = self.unflatten(1, {groups, channels / groups}).transpose(1, 2).flatten(1, 2);
  return detail::apart_from(out, self);
}

// ---- in place ----

Tensor& Tensor::fill_diagonal_(const Scalar& value, bool wrap) const {
  TAEDA_CHECK(dim() >= 2, "dimensions must larger than 1");
  const int64_t n = sizes()[0];
  for (int64_t d = 1; d < dim() && dim() > 2; ++d)
    TAEDA_CHECK(sizes()[d] == n, "all dimensions of input must be of equal length");
  int64_t step = 0, length = n;
  for (int64_t d = 0; d < dim(); ++d) {
    step += strides()[d];
    length = std::min(length, sizes()[d]);
  }
  as_strided({length}, {step}).fill_(value);
  // A tall matrix goes on below, one row lower.
  if (wrap && dim() == 2)
    for (int64_t row = sizes()[1] + 1; row < n; row += sizes()[1] + 1)
      slice(0, row).diagonal().fill_(value);
  return const_cast<Tensor&>(*this);
}

}  // namespace taeda::inline v0_2
