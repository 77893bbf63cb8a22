// Shapes that broadcast, and dimensions counted from the end (ATen/ExpandUtils.h, WrapDimUtils.h).
#pragma once

#include <taeda_compat/namespaces.h>

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <tuple>
#include <utility>
#include <vector>

namespace taeda_compat {

/// Whether `shape` broadcasts to `desired`.
inline bool is_expandable_to(IntArrayRef shape, IntArrayRef desired) {
  if (shape.size() > desired.size()) return false;
  for (size_t i = 1; i <= shape.size(); ++i) {
    const int64_t have = shape[shape.size() - i], want = desired[desired.size() - i];
    if (have != want && have != 1) return false;
  }
  return true;
}
/// Whether two shapes broadcast to one.
inline bool are_expandable(IntArrayRef a, IntArrayRef b) {
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const int64_t x = a[a.size() - i], y = b[b.size() - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}
/// The shape that both broadcast to. Throws Error where there is none.
inline DimVector infer_size_dimvector(IntArrayRef a, IntArrayRef b) {
  return taeda::broadcast_sizes(a, b);
}
inline std::vector<int64_t> infer_size(IntArrayRef a, IntArrayRef b) {
  return infer_size_dimvector(a, b).vec();
}
/// The shape with its one -1 replaced by what `numel` requires.
inline DimVector infer_size_dv(IntArrayRef shape, int64_t numel) {
  return taeda::infer_size(shape, numel);
}
inline std::vector<int64_t> infer_size(IntArrayRef shape, int64_t numel) {
  return infer_size_dv(shape, numel).vec();
}

/// A shape and the strides with which a smaller one is seen in it.
template <class Container>
struct InferExpandGeometryResult {
  Container sizes, strides;
};
/// Sizes and strides of a tensor of these sizes and strides, expanded. Throws Error, in the words
/// of `Tensor::expand`, where it cannot be.
inline InferExpandGeometryResult<DimVector> inferExpandGeometry_dimvector(
    IntArrayRef tensor_sizes, IntArrayRef tensor_strides, IntArrayRef sizes) {
  const auto expanded = taeda::Layout{tensor_sizes, tensor_strides, 0}.expand(sizes);
  return {expanded.sizes, expanded.strides};
}
inline std::tuple<std::vector<int64_t>, std::vector<int64_t>> inferExpandGeometry(
    IntArrayRef tensor_sizes, IntArrayRef tensor_strides, IntArrayRef sizes) {
  const auto out = inferExpandGeometry_dimvector(tensor_sizes, tensor_strides, sizes);
  return {out.sizes.vec(), out.strides.vec()};
}
/// Strides without gaps or overlaps, the dimensions in the order of the strides given.
inline std::vector<int64_t> infer_dense_strides(IntArrayRef sizes, IntArrayRef strides) {
  TAEDA_CHECK(sizes.size() == strides.size(),
              "Input sizes and strides should have same size but got ", sizes.size(), " and ",
              strides.size());
  std::vector<size_t> order(sizes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  // The last dimension comes first where strides are equal.
  for (size_t i = 1; i < order.size(); ++i)
    for (size_t j = i; j > 0 && strides[order[j]] < strides[order[j - 1]]; --j)
      std::swap(order[j], order[j - 1]);
  std::vector<int64_t> out(sizes.size());
  int64_t step = 1;
  for (size_t d : order) {
    out[d] = step;
    step *= std::max<int64_t>(sizes[d], 1);
  }
  return out;
}

namespace shapes_detail {
inline void check(std::initializer_list<const Tensor*> tensors, const char* name) {
  for (const Tensor* t : tensors)
    TAEDA_CHECK(t->defined(), name, "(...) called with an undefined Tensor");
}
}  // namespace shapes_detail

/// Throws Error, naming the function, unless all tensors are defined.
inline void check_defined(std::initializer_list<std::reference_wrapper<const Tensor>> tensors,
                          const char* api_name) {
  for (const Tensor& t : tensors) shapes_detail::check({&t}, api_name);
}

/// libtorch's handle of a tensor that may be another's; here always one of its own.
template <class T>
class MaybeOwned : public T {
 public:
  MaybeOwned(T value) : T(std::move(value)) {}
  const T& operator*() const { return *this; }
  const T* operator->() const { return this; }
};

// Each gives views in the shape that all broadcast to; a name is for the error where there is none.

using Expanded = MaybeOwned<Tensor>;
inline Expanded expand_inplace(const Tensor& tensor, const Tensor& to_expand) {
  return to_expand.expand(tensor.sizes());
}
inline Expanded expand_inplace(const Tensor& tensor, const Tensor& to_expand,
                               const char* api_name) {
  shapes_detail::check({&tensor, &to_expand}, api_name);
  return expand_inplace(tensor, to_expand);
}
inline std::tuple<Expanded, Expanded> expand_inplace(const Tensor& tensor, const Tensor& a,
                                                     const Tensor& b) {
  return {a.expand(tensor.sizes()), b.expand(tensor.sizes())};
}
inline std::tuple<Expanded, Expanded> expand_inplace(const Tensor& tensor, const Tensor& a,
                                                     const Tensor& b, const char* api_name) {
  shapes_detail::check({&tensor, &a, &b}, api_name);
  return expand_inplace(tensor, a, b);
}
inline std::tuple<Expanded, Expanded> expand_outplace(const Tensor& a, const Tensor& b) {
  const DimVector sizes = taeda::broadcast_sizes(a.sizes(), b.sizes());
  return {a.expand(sizes), b.expand(sizes)};
}
inline std::tuple<Expanded, Expanded> expand_outplace(const Tensor& a, const Tensor& b,
                                                      const char* api_name) {
  shapes_detail::check({&a, &b}, api_name);
  return expand_outplace(a, b);
}
inline std::tuple<Expanded, Expanded, Expanded> expand_outplace(const Tensor& a, const Tensor& b,
                                                                const Tensor& c) {
  const DimVector sizes =
      taeda::broadcast_sizes(taeda::broadcast_sizes(a.sizes(), b.sizes()), c.sizes());
  return {a.expand(sizes), b.expand(sizes), c.expand(sizes)};
}
inline std::tuple<Expanded, Expanded, Expanded> expand_outplace(const Tensor& a, const Tensor& b,
                                                                const Tensor& c,
                                                                const char* api_name) {
  shapes_detail::check({&a, &b, &c}, api_name);
  return expand_outplace(a, b, c);
}
/// Undefined tensors stay so.
inline std::vector<Tensor> expand_outplace(TensorList tensors) {
  DimVector sizes;
  for (const Tensor& t : tensors)
    if (t.defined()) sizes = taeda::broadcast_sizes(sizes, t.sizes());
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(t.defined() ? t.expand(sizes) : t);
  return out;
}
inline Expanded expand_size(const Tensor& tensor, IntArrayRef sizes) {
  return tensor.expand(sizes);
}
inline Expanded expand_size(const Tensor& tensor, IntArrayRef sizes, const char* api_name) {
  shapes_detail::check({&tensor}, api_name);
  return tensor.expand(sizes);
}
/// The sum over the dimensions that broadcasting `shape` to the tensor's sizes added or stretched.
/// The tensor itself, where there are none, unless a tensor that is no view of it is asked for.
inline Tensor sum_to(Tensor tensor, IntArrayRef shape, bool always_return_non_view = false) {
  const Tensor out = tensor.sum_to_size(shape);
  return always_return_non_view && out.is_alias_of(tensor) ? out.clone() : out;
}

/// A dimension in [-rank, rank) as one in [0, rank). A number has one dimension unless
/// `wrap_scalar` is off. Throws IndexError.
inline int64_t maybe_wrap_dim(int64_t dim, int64_t rank, bool wrap_scalar = true) {
  TAEDA_CHECK_INDEX(rank > 0 || wrap_scalar, "dimension specified as ", dim,
                    " but tensor has no dimensions");
  return taeda::wrap_dim(dim, rank);
}
/// Among a list of tensors or shapes the first one counts.
inline int64_t maybe_wrap_dim(int64_t dim, TensorList tensors) {
  return tensors.empty() ? dim : maybe_wrap_dim(dim, tensors[0].dim());
}
inline int64_t maybe_wrap_dim(int64_t dim, const std::vector<std::vector<int64_t>>& sizes) {
  return sizes.empty() ? dim : maybe_wrap_dim(dim, static_cast<int64_t>(sizes[0].size()));
}
/// All in place.
inline void maybe_wrap_dims_n(int64_t* dims, int64_t count, int64_t rank) {
  for (int64_t i = 0; i < count; ++i) dims[i] = maybe_wrap_dim(dims[i], rank);
}
template <class Container>
void maybe_wrap_dims(Container& dims, int64_t rank) {
  maybe_wrap_dims_n(dims.data(), static_cast<int64_t>(dims.size()), rank);
}
inline void wrap_all_dims(std::vector<int64_t>& dims, int64_t rank) { maybe_wrap_dims(dims, rank); }

/// A list of N numbers; one number stands for N equal ones. Throws Error, with the argument's name
/// and place, for another length.
template <size_t N>
std::array<int64_t, N> check_intlist(IntArrayRef list, const char* name, int pos) {
  std::array<int64_t, N> out{};
  if (list.empty()) return out;
  TAEDA_CHECK(list.size() == 1 || list.size() == N, "Expected a list of ", N, " ints but got ",
              list.size(), " for argument #", pos, " '", name, "'");
  for (size_t i = 0; i < N; ++i) out[i] = list[list.size() == 1 ? 0 : i];
  return out;
}

}  // namespace taeda_compat
