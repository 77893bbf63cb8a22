// Indexing by functions (ATen/TensorIndexing.h).
#pragma once

#include <taeda_compat/namespaces.h>

#include <vector>

// Inner namespaces are Taeda's: what libtorch has there in addition.
namespace taeda::indexing {

namespace detail {
inline std::vector<TensorIndex> indices_of(const std::vector<Tensor>& tensors) {
  std::vector<TensorIndex> out;
  for (const Tensor& t : tensors)
    out.push_back(t.defined() ? TensorIndex(t) : TensorIndex(Slice()));
  return out;
}
}  // namespace detail

/// self.index(indices).
inline Tensor get_item(const Tensor& self, ArrayRef<TensorIndex> indices,
                       bool /*disable_slice_optimization*/ = false) {
  return self.index(indices);
}
/// The sizes without those of 1 that come first.
inline IntArrayRef slicePrefix1sSize(IntArrayRef sizes) {
  size_t ones = 0;
  while (ones < sizes.size() && sizes[ones] == 1) ++ones;
  return sizes.slice(ones, sizes.size() - ones);
}
/// dst.copy_(src), where src may have more dimensions if they are of size 1 and come first.
inline void copy_to(const Tensor& dst, const Tensor& src) {
  const IntArrayRef sizes = slicePrefix1sSize(src.sizes());
  dst.copy_(src.sizes() == dst.sizes() ? src : src.reshape(sizes));
}
/// self.index_put_(indices, value), where the value may have such dimensions, too.
inline void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& value,
                     bool /*disable_slice_optimization*/ = false) {
  self.index_put_(indices, value.reshape(slicePrefix1sSize(value.sizes())));
}
inline void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Scalar& value) {
  self.index_put_(indices, value);
}
/// self.index(indices) by tensors alone; an undefined one stands for all of its dimension.
inline Tensor dispatch_index(const Tensor& self, std::vector<Tensor>&& indices) {
  return self.index(detail::indices_of(indices));
}
inline Tensor dispatch_index_put_(Tensor& self, std::vector<Tensor>&& indices,
                                  const Tensor& value) {
  return self.index_put_(detail::indices_of(indices), value);
}
/// A tensor without dimensions.
inline Tensor scalarToTensor(const Scalar& v, const TensorOptions& options,
                             const Device& self_device) {
  return scalar_tensor(v, options.device(self_device));
}

}  // namespace taeda::indexing
