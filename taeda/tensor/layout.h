// Sizes, strides and offset of a strided tensor, and all view maths on them. A layout knows nothing
// of memory or dtype; every view operation is a function from layouts to layouts.
#pragma once

#include <optional>

#include "taeda/base/small_vector.h"

namespace taeda::inline v0_2 {

/// Most dimensions of a tensor, and most of more than one element: what kernels' loops hold.
constexpr int64_t kMaxDims = 64, kMaxLoopDims = 24;

/// Row-major; as the input; with the channels of [N, C, H, W], or of [N, C, D, H, W], innermost.
enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };

/// Row-major strides for `sizes`, in elements.
DimVector contiguous_strides(IntArrayRef sizes);
/// Strides of NHWC memory for NCHW sizes (four dimensions).
DimVector channels_last_strides(IntArrayRef sizes);
/// Strides of NDHWC memory for NCDHW sizes (five dimensions).
DimVector channels_last_3d_strides(IntArrayRef sizes);
/// Strides of dense memory in a format other than Preserve. Throws Error for sizes that a format
/// does not fit: "required rank 4 tensor to use channels_last format".
DimVector strides_in(IntArrayRef sizes, MemoryFormat format);
int64_t product(IntArrayRef sizes);

// Note [Sizes that int64 cannot hold]
// Sizes and strides come from users and files. Their products are computed by these functions,
// which notice when one does not fit; every tensor's layout passes `checked_numel`
// (TensorImpl::refresh), so sums and products over the layout of an existing tensor cannot
// overflow.

/// The product, or nothing when int64 cannot hold it.
std::optional<int64_t> representable_product(IntArrayRef sizes);
/// Number of elements of a tensor of these sizes. Throws Error: "Trying to create tensor with
/// negative dimension -1: [-1]", "numel: integer multiplication overflow", "tensors of more than 64
/// dimensions are not supported, got 65".
int64_t checked_numel(IntArrayRef sizes);
/// Bytes of that many elements of `item` bytes. Throws Error, too: "Storage size calculation
/// overflowed with sizes=[4611686018427387904, 4]".
int64_t checked_nbytes(IntArrayRef sizes, int64_t item);

/// Maps a dimension in [-ndim, ndim) to [0, ndim); a 0-dim tensor accepts -1 and 0.
/// Throws IndexError: "Dimension out of range (expected to be in range of [-2, 1], but got 2)".
int64_t wrap_dim(int64_t dim, int64_t ndim);
/// The same; throws IndexError without dimensions: "Dimension specified as 0 but tensor has ...".
size_t wrap_own_dim(int64_t dim, int64_t ndim);
/// Wraps a list and rejects duplicates ("dim 1 appears multiple times in the list of dims").
/// An empty list means every dimension if `empty_is_all`.
DimVector wrap_dims(IntArrayRef dims, int64_t ndim, bool empty_is_all = false);
/// The shape that both broadcast to. Throws Error: "The size of tensor a (3) must match the size of
/// tensor b (4) at non-singleton dimension 1".
DimVector broadcast_sizes(IntArrayRef a, IntArrayRef b);
/// Replaces one -1 by what `numel` requires. Throws Error: "shape '[2, 3]' is invalid for input of
/// size 8".
DimVector infer_size(IntArrayRef shape, int64_t numel);

/// How a tensor keeps its elements: at strides in memory, or those that are not zero beside their
/// indices, or a matrix's in the order of its rows beside their columns (tensor/sparse.h).
enum class TensorLayout : int8_t { Strided, Sparse, SparseCsr };
constexpr TensorLayout kStrided = TensorLayout::Strided;
constexpr TensorLayout kSparse = TensorLayout::Sparse;
constexpr TensorLayout kSparseCsr = TensorLayout::SparseCsr;

struct Layout {
  DimVector sizes;
  DimVector strides;
  int64_t offset = 0;

  /// The offsets of sparse tensors, whose elements have no place in memory; their strides are zero,
  /// so that no view of a layout changes the offset.
  static constexpr int64_t kNowhere = -1, kNowhereInRows = -2;
  static Layout sparse(IntArrayRef sizes) { return {sizes, DimVector(sizes.size(), 0), kNowhere}; }
  static Layout sparse_csr(IntArrayRef sizes) {
    return {sizes, DimVector(sizes.size(), 0), kNowhereInRows};
  }
  bool is_strided() const { return offset >= 0; }
  bool is_sparse() const { return offset == kNowhere; }
  bool is_sparse_csr() const { return offset == kNowhereInRows; }
  operator TensorLayout() const {
    return is_strided() ? kStrided : is_sparse() ? kSparse : kSparseCsr;
  }
  /// Row-major.
  static Layout contiguous(IntArrayRef sizes) { return {sizes, contiguous_strides(sizes), 0}; }

  int64_t ndim() const { return static_cast<int64_t>(sizes.size()); }
  int64_t numel() const { return product(sizes); }
  bool is_contiguous() const;
  bool is_channels_last() const;
  bool is_channels_last_3d() const;
  /// Every element has an address of its own and together they fill a block without gaps.
  bool is_non_overlapping_and_dense() const;
  /// Two different indices may reach one address (as after `expand`).
  bool has_internal_overlap() const;
  /// Elements from the offset to one past the last element reached; 0 when empty.
  int64_t extent() const;
  /// Bytes from the storage's start to the end of the last element reached; 0 when empty. For sizes
  /// and strides from outside; throws Error where int64 cannot hold it: "Storage size calculation
  /// overflowed with sizes=[2] and strides=[4611686018427387904]".
  int64_t checked_storage_nbytes(int64_t item) const;

  // Dimensions are already wrapped, except where `IntArrayRef` is said to take negative entries.
  Layout transpose(int64_t a, int64_t b) const;
  Layout permute(IntArrayRef dims) const;
  /// Throws IndexError for an index outside [-size, size).
  Layout select(int64_t dim, int64_t index) const;
  /// Python's slice rules: start and end clamp, negatives count from the end; step > 0.
  Layout slice(int64_t dim, int64_t start, int64_t end, int64_t step) const;
  Layout narrow(int64_t dim, int64_t start, int64_t length) const;
  Layout unsqueeze(int64_t dim) const;
  Layout squeeze() const;
  Layout squeeze(int64_t dim) const;
  /// -1 keeps a size. Throws Error in PyTorch's words if a size cannot expand.
  Layout expand(IntArrayRef sizes) const;
  Layout diagonal(int64_t offset, int64_t dim1, int64_t dim2) const;
  Layout unfold(int64_t dim, int64_t size, int64_t step) const;
  /// The same elements seen with `shape` (no -1), or nothing when that needs a copy.
  std::optional<Layout> view(IntArrayRef shape) const;

  friend bool operator==(const Layout&, const Layout&) = default;
};

/// The strides a result should have so that it follows the memory order of `like`.
DimVector strides_like(const Layout& like);

}  // namespace taeda::inline v0_2
