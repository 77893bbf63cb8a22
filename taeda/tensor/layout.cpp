#include "taeda/tensor/layout.h"

#include <algorithm>
#include <numeric>

#include "taeda/base/error.h"

namespace taeda::inline v0_2 {

namespace {

/// Moves a stride on over a dimension. Sizes that belong to no element, because another size is 0,
/// wrap around; so do those that are refused when memory is asked for.
void pass(int64_t& step, int64_t size) {
  __builtin_mul_overflow(step, std::max<int64_t>(size, 1), &step);
}

}  // namespace

DimVector contiguous_strides(IntArrayRef sizes) {
  DimVector strides;
  for (size_t i = 0; i < sizes.size(); ++i) strides.push_back(1);
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 1;) {
    pass(step, sizes[i]);
    strides[i - 1] = step;
  }
  return strides;
}

namespace {

// The dimensions of images and volumes from the innermost to the outermost.
constexpr size_t kImagesLast[] = {1, 3, 2, 0}, kVolumesLast[] = {1, 4, 3, 2, 0};

template <size_t N>
DimVector strides_in_order(IntArrayRef sizes, const size_t (&order)[N]) {
  DimVector strides(N);
  int64_t step = 1;
  for (const size_t d : order) {
    strides[d] = step;
    pass(step, sizes[d]);
  }
  return strides;
}

template <size_t N>
bool is_in_order(const Layout& l, const size_t (&order)[N]) {
  if (l.sizes.size() != N) return false;
  int64_t step = 1;
  for (const size_t d : order) {
    if (l.sizes[d] == 0) return false;
    if (l.sizes[d] != 1 && l.strides[d] != step) return false;
    pass(step, l.sizes[d]);
  }
  return true;
}

}  // namespace

DimVector channels_last_strides(IntArrayRef sizes) {
  TAEDA_CHECK(sizes.size() == 4, "required rank 4 tensor to use channels_last format");
  return strides_in_order(sizes, kImagesLast);
}

DimVector channels_last_3d_strides(IntArrayRef sizes) {
  TAEDA_CHECK(sizes.size() == 5, "required rank 5 tensor to use channels_last_3d format");
  return strides_in_order(sizes, kVolumesLast);
}

DimVector strides_in(IntArrayRef sizes, MemoryFormat format) {
  return format == MemoryFormat::ChannelsLast     ? channels_last_strides(sizes)
         : format == MemoryFormat::ChannelsLast3d ? channels_last_3d_strides(sizes)
                                                  : contiguous_strides(sizes);
}

int64_t product(IntArrayRef sizes) {
  int64_t n = 1;
  for (int64_t s : sizes) __builtin_mul_overflow(n, s, &n);
  return n;
}

std::optional<int64_t> representable_product(IntArrayRef sizes) {
  int64_t n = 1;
  for (int64_t s : sizes)
    if (__builtin_mul_overflow(n, s, &n)) return std::nullopt;
  return n;
}

namespace {
void check_sizes(IntArrayRef sizes) {
  for (int64_t s : sizes)
    TAEDA_CHECK(s >= 0, "Trying to create tensor with negative dimension ", s, ": ", sizes);
}

void check_count_of_dims(IntArrayRef sizes) {
  TAEDA_CHECK(static_cast<int64_t>(sizes.size()) <= kMaxDims, "tensors of more than ", kMaxDims,
              " dimensions are not supported, got ", sizes.size());
  const auto long_ones =
      std::count_if(sizes.begin(), sizes.end(), [](int64_t s) { return s != 1; });
  TAEDA_CHECK(long_ones <= kMaxLoopDims, "tensors of more than ", kMaxLoopDims,
              " dimensions that have not one element are not supported, got ", long_ones);
}
}  // namespace

int64_t checked_numel(IntArrayRef sizes) {
  if (static_cast<int64_t>(sizes.size()) > kMaxLoopDims) [[unlikely]]
    check_count_of_dims(sizes);
  int64_t n = 1, negative = 0;
  bool overflows = false;
  for (int64_t s : sizes) {
    overflows |= __builtin_mul_overflow(n, s, &n);
    negative |= s;
  }
  if (negative < 0 || overflows) [[unlikely]] {
    check_sizes(sizes);
    throw Error("numel: integer multiplication overflow");
  }
  return n;
}

int64_t checked_nbytes(IntArrayRef sizes, int64_t item) {
  check_sizes(sizes);
  int64_t bytes = item;
  for (int64_t s : sizes)
    TAEDA_CHECK(!__builtin_mul_overflow(bytes, s, &bytes),
                "Storage size calculation overflowed with sizes=", sizes);
  return bytes;
}

int64_t wrap_dim(int64_t dim, int64_t ndim) {
  const int64_t range = std::max<int64_t>(ndim, 1);
  TAEDA_CHECK_INDEX(dim >= -range && dim < range,
                    "Dimension out of range (expected to be in range of [", -range, ", ", range - 1,
                    "], but got ", dim, ")");
  return dim < 0 ? dim + range : dim;
}

size_t wrap_own_dim(int64_t dim, int64_t ndim) {
  TAEDA_CHECK_INDEX(ndim > 0, "Dimension specified as ", dim, " but tensor has no dimensions");
  return static_cast<size_t>(wrap_dim(dim, ndim));
}

DimVector wrap_dims(IntArrayRef dims, int64_t ndim, bool empty_is_all) {
  DimVector out;
  if (dims.empty() && empty_is_all) {
    for (int64_t d = 0; d < ndim; ++d) out.push_back(d);
    return out;
  }
  uint64_t seen = 0;
  for (int64_t d : dims) {
    const int64_t w = wrap_dim(d, ndim);
    TAEDA_CHECK(!(seen >> w & 1), "dim ", w, " appears multiple times in the list of dims");
    seen |= uint64_t{1} << w;
    out.push_back(w);
  }
  return out;
}

DimVector broadcast_sizes(IntArrayRef a, IntArrayRef b) {
  const size_t n = std::max(a.size(), b.size());
  DimVector out(n);
  for (size_t i = 0; i < n; ++i) {
    const size_t d = n - 1 - i;
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    TAEDA_CHECK(x == y || x == 1 || y == 1, "The size of tensor a (", x,
                ") must match the size of tensor b (", y, ") at non-singleton dimension ", d);
    out[d] = x == 1 ? y : x;
  }
  return out;
}

DimVector infer_size(IntArrayRef shape, int64_t numel) {
  DimVector out(shape);
  int64_t unknown = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1) {
      TAEDA_CHECK(unknown < 0, "only one dimension can be inferred");
      unknown = static_cast<int64_t>(i);
      out[i] = 1;
    } else {
      TAEDA_CHECK(shape[i] >= 0, "invalid shape dimension ", shape[i], " at index ", i,
                  " of shape ", shape);
    }
  }
  const std::optional<int64_t> known = representable_product(out);
  if (unknown >= 0 && known) {
    TAEDA_CHECK(*known != 0, "cannot reshape tensor of 0 elements into shape ", shape,
                " because the unspecified dimension size -1 can be any value and is ambiguous");
    out[unknown] = numel / *known;
  }
  TAEDA_CHECK(known && *known * (unknown < 0 ? 1 : out[unknown]) == numel, "shape '", shape,
              "' is invalid for input of size ", numel);
  return out;
}

bool Layout::is_contiguous() const {
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] == 1) continue;
    if (strides[i] != step) return numel() == 0;
    pass(step, sizes[i]);
  }
  return true;
}

bool Layout::is_channels_last() const { return is_in_order(*this, kImagesLast); }
bool Layout::is_channels_last_3d() const { return is_in_order(*this, kVolumesLast); }

namespace {

/// Dimensions longer than one, smallest stride first.
DimVector by_stride(const Layout& l) {
  DimVector order;
  for (int64_t d = 0; d < l.ndim(); ++d)
    if (l.sizes[d] != 1) order.push_back(d);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return l.strides[a] < l.strides[b]; });
  return order;
}

}  // namespace

bool Layout::is_non_overlapping_and_dense() const {
  if (is_contiguous()) return true;
  int64_t step = 1;
  for (int64_t d : by_stride(*this)) {
    if (sizes[d] == 0) return true;
    if (strides[d] != step) return false;
    pass(step, sizes[d]);
  }
  return true;
}

bool Layout::has_internal_overlap() const {
  if (numel() == 0 || is_contiguous()) return false;
  int64_t reach = 0;
  for (int64_t d : by_stride(*this)) {
    if (strides[d] <= reach) return true;
    reach += strides[d] * (sizes[d] - 1);
  }
  return false;
}

int64_t Layout::extent() const {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    last += (sizes[i] - 1) * strides[i];
  }
  return last + 1;
}

int64_t Layout::checked_storage_nbytes(int64_t item) const {
  if (checked_numel(sizes) == 0) return 0;
  int64_t last = offset, bytes = 0;
  bool overflows = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t distance = 0;
    overflows |= __builtin_mul_overflow(sizes[i] - 1, strides[i], &distance) ||
                 __builtin_add_overflow(last, distance, &last);
  }
  overflows |= __builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, item, &bytes);
  TAEDA_CHECK(!overflows, "Storage size calculation overflowed with sizes=", sizes,
              " and strides=", strides);
  return bytes;
}

Layout Layout::transpose(int64_t a, int64_t b) const {
  Layout out = *this;
  if (a == b) return out;
  std::swap(out.sizes[a], out.sizes[b]);
  std::swap(out.strides[a], out.strides[b]);
  return out;
}

Layout Layout::permute(IntArrayRef dims) const {
  TAEDA_CHECK(static_cast<int64_t>(dims.size()) == ndim(),
              "permute(sparse_coo): number of dimensions in the tensor input does not match the "
              "length of the "
              "desired ordering of dimensions i.e. input.dim() = ",
              ndim(), " is not equal to len(dims) = ", dims.size());
  Layout out{DimVector(dims.size()), DimVector(dims.size()), offset};
  uint64_t seen = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t from = wrap_dim(dims[i], ndim());
    TAEDA_CHECK(!(seen >> from & 1), "permute(): duplicate dims are not allowed.");
    seen |= uint64_t{1} << from;
    out.sizes[i] = sizes[from];
    out.strides[i] = strides[from];
  }
  return out;
}

Layout Layout::select(int64_t dim, int64_t index) const {
  TAEDA_CHECK_INDEX(ndim() > 0, "select() cannot be applied to a 0-dim tensor.");
  const int64_t size = sizes[dim];
  TAEDA_CHECK_INDEX(index >= -size && index < size, "select(): index ", index,
                    " out of range for tensor of size ", sizes, " at dimension ", dim);
  Layout out = *this;
  out.offset += (index < 0 ? index + size : index) * strides[dim];
  out.sizes.erase(dim);
  out.strides.erase(dim);
  return out;
}

namespace {

/// The stride of every `step`-th element. Where int64 cannot hold it the dimension has at most one
/// element, and any stride will do.
int64_t wider_stride(int64_t stride, int64_t step) {
  int64_t out = 0;
  return __builtin_mul_overflow(stride, step, &out) ? stride : out;
}

}  // namespace

Layout Layout::slice(int64_t dim, int64_t start, int64_t end, int64_t step) const {
  TAEDA_CHECK(ndim() > 0, "slice() cannot be applied to a 0-dim tensor.");
  TAEDA_CHECK_VALUE(step > 0, "slice step must be positive");
  const int64_t size = sizes[dim];
  const auto clamp = [size](int64_t i) {
    return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size);
  };
  const int64_t from = clamp(start);
  const int64_t to = std::max(from, clamp(end));
  Layout out = *this;
  out.offset += from * strides[dim];
  out.sizes[dim] = to == from ? 0 : (to - from - 1) / step + 1;
  out.strides[dim] = wider_stride(strides[dim], step);
  return out;
}

Layout Layout::narrow(int64_t dim, int64_t start, int64_t length) const {
  TAEDA_CHECK(ndim() > 0, "narrow() cannot be applied to a 0-dim tensor.");
  TAEDA_CHECK(length >= 0, "narrow(): length must be non-negative.");
  const int64_t size = sizes[dim];
  TAEDA_CHECK_INDEX(start >= -size && start <= size,
                    "start out of range (expected to be in range of [", -size, ", ", size,
                    "], but got ", start, ")");
  const int64_t from = start < 0 ? start + size : start;
  TAEDA_CHECK(length <= size - from, "start (", from, ") + length (", length,
              ") exceeds dimension size (", size, ").");
  Layout out = *this;
  out.offset += from * strides[dim];
  out.sizes[dim] = length;
  return out;
}

Layout Layout::unsqueeze(int64_t dim) const {
  Layout out = *this;
  out.strides.insert(dim, dim < ndim() ? sizes[dim] * strides[dim] : 1);
  out.sizes.insert(dim, 1);
  return out;
}

Layout Layout::squeeze() const {
  Layout out{{}, {}, offset};
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1) {
      out.sizes.push_back(sizes[i]);
      out.strides.push_back(strides[i]);
    }
  return out;
}

Layout Layout::squeeze(int64_t dim) const {
  Layout out = *this;
  if (ndim() == 0 || sizes[dim] != 1) return out;
  out.sizes.erase(dim);
  out.strides.erase(dim);
  return out;
}

Layout Layout::expand(IntArrayRef target) const {
  TAEDA_CHECK(target.size() >= sizes.size(), "expand(Tensor{", sizes, "}, size=", target,
              "): the number of sizes provided (", target.size(),
              ") must be greater or equal to the number of dimensions in the tensor (",
              sizes.size(), ")");
  Layout out{DimVector(target), DimVector(target.size()), offset};
  const size_t lead = target.size() - sizes.size();
  for (size_t i = target.size(); i-- > 0;) {
    if (i < lead) {
      TAEDA_CHECK(target[i] >= 0, "The expanded size of the tensor (", target[i],
                  ") isn't allowed in a leading, non-existing dimension ", i);
      out.strides[i] = 0;
      continue;
    }
    const int64_t have = sizes[i - lead];
    const int64_t want = target[i] == -1 ? have : target[i];
    TAEDA_CHECK(have == want || have == 1, "The expanded size of the tensor (", want,
                ") must match the existing size (", have, ") at non-singleton dimension ", i,
                ".  Target sizes: ", target, ".  Tensor sizes: ", sizes);
    out.sizes[i] = want;
    out.strides[i] = have == want ? strides[i - lead] : 0;
  }
  return out;
}

Layout Layout::diagonal(int64_t off, int64_t dim1, int64_t dim2) const {
  TAEDA_CHECK(dim1 != dim2, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  const int64_t n = off >= 0 ? std::min(sizes[dim1], sizes[dim2] - off)
                             : std::min(sizes[dim1] + off, sizes[dim2]);
  Layout out = *this;
  if (n > 0) out.offset += off >= 0 ? off * strides[dim2] : -off * strides[dim1];
  const int64_t stride = strides[dim1] + strides[dim2];
  for (int64_t d : {std::max(dim1, dim2), std::min(dim1, dim2)}) {
    out.sizes.erase(d);
    out.strides.erase(d);
  }
  out.sizes.push_back(std::max<int64_t>(n, 0));
  out.strides.push_back(stride);
  return out;
}

Layout Layout::unfold(int64_t dim, int64_t size, int64_t step) const {
  const int64_t have = ndim() == 0 ? 1 : sizes[dim];
  TAEDA_CHECK(size >= 0, "size is ", size, " but must be >= 0");
  TAEDA_CHECK(size <= have, "maximum size for tensor at dimension ", dim, " is ", have,
              " but size is ", size);
  TAEDA_CHECK(step > 0, "step is ", step, " but must be > 0");
  Layout out = *this;
  if (ndim() > 0) {
    out.sizes[dim] = (have - size) / step + 1;
    out.strides[dim] = wider_stride(strides[dim], step);
  }
  out.sizes.push_back(size);
  out.strides.push_back(ndim() == 0 ? 1 : strides[dim]);
  return out;
}

std::optional<Layout> Layout::view(IntArrayRef shape) const {
  Layout out{DimVector(shape), contiguous_strides(shape), offset};
  if (numel() == 0 || is_contiguous()) return out;
  // Walk both shapes from the back: each run of old dimensions that is contiguous in itself can be
  // cut anew; a new dimension must not straddle two runs.
  int64_t view_dim = static_cast<int64_t>(shape.size()) - 1;
  int64_t run_stride = strides.back();
  int64_t run = 1, cut = 1;
  for (int64_t d = ndim() - 1; d >= 0; --d) {
    run *= sizes[d];
    const bool run_ends = d == 0 || (sizes[d - 1] != 1 && strides[d - 1] != run * run_stride);
    if (!run_ends) continue;
    while (view_dim >= 0 && (cut < run || shape[view_dim] == 1)) {
      out.strides[view_dim] = cut * run_stride;
      cut *= shape[view_dim];
      --view_dim;
    }
    if (cut != run) return std::nullopt;
    if (d > 0) {
      run_stride = strides[d - 1];
      run = cut = 1;
    }
  }
  if (view_dim != -1) return std::nullopt;
  return out;
}

DimVector strides_like(const Layout& like) {
  if (like.is_contiguous()) return contiguous_strides(like.sizes);
  if (like.is_non_overlapping_and_dense()) return like.strides;
  // Keep the order of the dimensions in memory, innermost first, and close the gaps. A dimension
  // that repeats the same elements has no place in memory and keeps the one among the sizes; so
  // the relation is none that a sort could use. Of equal strides the smaller size is inside.
  const auto belongs_outside = [&](int64_t a, int64_t b) {
    const int64_t x = like.strides[a], y = like.strides[b];
    if (x == 0 || y == 0) return 0;
    return x != y ? (x > y ? 1 : -1) : like.sizes[a] > like.sizes[b] ? 1 : 0;
  };
  DimVector order;
  for (int64_t d = like.ndim(); d-- > 0;) order.push_back(d);
  for (size_t i = 1; i < order.size(); ++i)
    for (size_t at = i, other = i; other-- > 0;) {
      const int outside = belongs_outside(order[other], order[at]);
      if (outside < 0) break;
      if (outside == 0) continue;
      std::swap(order[other], order[at]);
      at = other;
    }
  DimVector out(like.sizes.size());
  int64_t step = 1;
  for (int64_t d : order) {
    out[d] = step;
    pass(step, like.sizes[d]);
  }
  return out;
}

}  // namespace taeda::inline v0_2
