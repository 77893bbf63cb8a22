// Functions that Taeda has as methods, as modules' functions or under other names, with libtorch's
// arguments. The build makes their forms with `out`.
// [operations]
#pragma once

#include <taeda/ops/out_forms.h>
#include <taeda/ops/random/random_forms.h>
#include <taeda_compat/namespaces.h>

#include <concepts>
#include <functional>
#include <initializer_list>
#include <string_view>

namespace taeda_compat {

namespace tensors_detail {
inline PaddingMode padding_mode(std::string_view mode) {
  if (mode == "constant") return kConstant;
  if (mode == "reflect") return kReflect;
  if (mode == "replicate") return kReplicate;
  if (mode == "circular") return kCircular;
  TAEDA_CHECK_NOT_IMPLEMENTED(false, "Unrecognised padding mode ", std::string(mode));
  return kConstant;
}
inline Tensor padded(const char* name, const Tensor& x, IntArrayRef padding, size_t dims,
                     PaddingMode mode) {
  TAEDA_CHECK(padding.size() == 2 * dims, name, ": padding size is expected to be ", 2 * dims,
              ", but got ", padding.size());
  return nn::functional::pad(x, padding, mode);
}
}  // namespace tensors_detail

/// nn::functional::pad with the mode as a text: "constant", "reflect", "replicate" or "circular".
inline Tensor pad(const Tensor& self, IntArrayRef pad, std::string_view mode = "constant",
                  std::optional<double> value = {}) {
  return nn::functional::pad(self, pad, tensors_detail::padding_mode(mode), value.value_or(0));
}
/// nn::functional::pad with one value.
inline Tensor constant_pad_nd(const Tensor& self, IntArrayRef pad, const Scalar& value = 0) {
  return nn::functional::pad(self, pad, kConstant, value.toDouble());
}
/// The border filled by reflection.
inline Tensor reflection_pad1d(const Tensor& self, IntArrayRef padding) {
  return tensors_detail::padded("reflection_pad1d", self, padding, 1, kReflect);
}
inline Tensor reflection_pad2d(const Tensor& self, IntArrayRef padding) {
  return tensors_detail::padded("reflection_pad2d", self, padding, 2, kReflect);
}
inline Tensor reflection_pad3d(const Tensor& self, IntArrayRef padding) {
  return tensors_detail::padded("reflection_pad3d", self, padding, 3, kReflect);
}
/// The border filled by repetition.
inline Tensor replication_pad1d(const Tensor& self, IntArrayRef padding) {
  return tensors_detail::padded("replication_pad1d", self, padding, 1, kReplicate);
}
inline Tensor replication_pad2d(const Tensor& self, IntArrayRef padding) {
  return tensors_detail::padded("replication_pad2d", self, padding, 2, kReplicate);
}
inline Tensor replication_pad3d(const Tensor& self, IntArrayRef padding) {
  return tensors_detail::padded("replication_pad3d", self, padding, 3, kReplicate);
}
/// nn::functional::pixel_shuffle and its inverse.
inline Tensor pixel_shuffle(const Tensor& self, int64_t upscale_factor) {
  return nn::functional::pixel_shuffle(self, upscale_factor);
}
inline Tensor pixel_unshuffle(const Tensor& self, int64_t downscale_factor) {
  return nn::functional::pixel_unshuffle(self, downscale_factor);
}
/// The product of all matrices, in the order that costs least.
inline Tensor chain_matmul(TensorList matrices) { return taeda::linalg::multi_dot(matrices); }
/// A tensor of `self`'s shape with one value everywhere.
inline Tensor fill(const Tensor& self, const Scalar& value) { return self.clone().fill_(value); }
inline Tensor fill(const Tensor& self, const Tensor& value) { return self.clone().fill_(value); }
inline Tensor zero(const Tensor& self) { return self.clone().zero_(); }
/// `src` in the sizes and dtype of `self`.
inline Tensor copy(const Tensor& self, const Tensor& src, bool non_blocking = false) {
  return self.clone().copy_(src, non_blocking);
}
/// A copy in other sizes, the same elements first.
inline Tensor resize(const Tensor& self, IntArrayRef size,
                     std::optional<MemoryFormat> memory_format = {}) {
  const Tensor out = self.detach().clone();
  out.resize_(size, memory_format);
  return out;
}
inline Tensor resize_as(const Tensor& self, const Tensor& the_template,
                        std::optional<MemoryFormat> memory_format = {}) {
  return resize(self, the_template.sizes(), memory_format);
}
/// A copy of a sparse tensor in other sizes, with its elements or without, and one with the
/// elements of another.
inline Tensor sparse_resize(const Tensor& self, IntArrayRef size, int64_t sparse_dim,
                            int64_t dense_dim) {
  return self.detach().clone().sparse_resize_(size, sparse_dim, dense_dim);
}
inline Tensor sparse_resize_and_clear(const Tensor& self, IntArrayRef size, int64_t sparse_dim,
                                      int64_t dense_dim) {
  return self.detach().clone().sparse_resize_and_clear_(size, sparse_dim, dense_dim);
}
inline Tensor resize_as_sparse(const Tensor& self, const Tensor& the_template) {
  return self.detach().clone().resize_as_sparse_(the_template);
}
inline Tensor copy_sparse_to_sparse(const Tensor& self, const Tensor& src,
                                    bool non_blocking = false) {
  Tensor out = self.detach().clone();
  return copy_sparse_to_sparse_(out, src, non_blocking);
}
inline const Tensor& resize_as_sparse_(const Tensor& self, const Tensor& the_template) {
  return self.resize_as_sparse_(the_template);
}
/// A tensor of self's dtype over the memory of another, or over none.
inline Tensor set(const Tensor& self) { return self.new_empty({0}).set_(); }
inline Tensor set(const Tensor& self, Storage source) { return self.new_empty({0}).set_(source); }
inline Tensor set(const Tensor& self, Storage source, int64_t storage_offset, IntArrayRef size,
                  IntArrayRef stride = {}) {
  return self.new_empty({0}).set_(source, storage_offset, size, stride);
}
inline Tensor set(const Tensor& self, const Tensor& source) {
  return self.new_empty({0}).set_(source);
}
/// The tensors' elements one behind the other.
inline Tensor flatten_dense_tensors(TensorList tensors) {
  std::vector<Tensor> flat;
  for (const Tensor& t : tensors) flat.push_back(t.contiguous().view({-1}));
  return taeda::cat(flat);
}
/// The inverse, in the sizes of `tensors`.
inline std::vector<Tensor> unflatten_dense_tensors(const Tensor& flat, TensorList tensors) {
  std::vector<Tensor> out;
  int64_t at = 0;
  for (const Tensor& t : tensors) {
    out.push_back(flat.narrow(0, at, t.numel()).view(t.sizes()));
    at += t.numel();
  }
  return out;
}

using nn::utils::rnn::pad_sequence;

using taeda::from_blob;
/// taeda::from_blob with the device that the memory lies on, or where the options say.
inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                        const std::function<void(void*)>& deleter, const TensorOptions& options,
                        std::optional<Device> target_device) {
  return taeda::from_blob(data, sizes, strides, deleter,
                          target_device ? options.device(*target_device) : options);
}
/// The same from element `storage_offset` on.
inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset,
                        const std::function<void(void*)>& deleter, const TensorOptions& options,
                        std::optional<Device> target_device) {
  int64_t count = storage_offset + 1;
  for (size_t d = 0; d < sizes.size(); ++d) count += (sizes[d] - 1) * strides[d];
  const Tensor all = taeda::from_blob(data, IntArrayRef(count), deleter,
                                      target_device ? options.device(*target_device) : options);
  return all.as_strided(sizes, strides, storage_offset);
}

/// Collects what `from_blob` takes: at::for_blob(data, {2, 3}).deleter(f).make_tensor().
class TensorMaker {
 public:
  TensorMaker(void* data, IntArrayRef sizes) : data_(data), sizes_(sizes) {}
  TensorMaker& strides(OptionalIntArrayRef v) {
    strides_ = v.has_value() ? std::optional(DimVector(*v)) : std::nullopt;
    return *this;
  }
  TensorMaker& storage_offset(OptionalDim v) { return offset_ = v.value_or(0), *this; }
  TensorMaker& deleter(std::function<void(void*)> v) { return deleter_ = std::move(v), *this; }
  /// `free` gets `context` when the last tensor over the memory dies.
  TensorMaker& context(void* context, void (*free)(void*)) {
    return deleter([context, free](void*) { free(context); });
  }
  TensorMaker& target_device(std::optional<Device> v) { return device_ = v, *this; }
  TensorMaker& options(TensorOptions v) { return options_ = v, *this; }
  Tensor make_tensor() const {
    const DimVector strides = strides_ ? *strides_ : Layout::contiguous(sizes_).strides;
    return from_blob(data_, sizes_, strides, offset_, deleter_, options_, device_);
  }

 private:
  void* data_;
  DimVector sizes_;
  std::optional<DimVector> strides_;
  int64_t offset_ = 0;
  std::function<void(void*)> deleter_;
  std::optional<Device> device_;
  TensorOptions options_;
};
/// Begins with a row-major tensor of `sizes` over `data`.
inline TensorMaker for_blob(void* data, IntArrayRef sizes) { return {data, sizes}; }

namespace tensors_detail {
template <class L>
concept NumberList = std::same_as<L, std::initializer_list<typename L::value_type>> &&
    std::constructible_from<TensorLiteral, ArrayRef<typename L::value_type>>;
}  // namespace tensors_detail

using taeda::tensor;
/// A vector of the numbers of a list that is an object; braces give taeda::tensor its literal.
template <tensors_detail::NumberList L>
Tensor tensor(const L& values, const TensorOptions& options = {}) {
  return taeda::tensor(ArrayRef<typename L::value_type>(values.begin(), values.size()), options);
}

// Forms with `out` of functions with other names
// ---------------------------------------------------

using taeda::argsort_out, taeda::count_nonzero_out, taeda::normal_out;
template <class Stable>
requires(std::same_as<Stable, bool> || std::same_as<Stable, int>)
Tensor& argsort_out(Tensor& out, const Tensor& self, Stable, int64_t dim, bool descending) {
  return taeda::argsort_out(out, self, dim, descending);
}
inline Tensor& count_nonzero_out(Tensor& out, const Tensor& self,
                                 std::same_as<OptionalDim> auto dim) {
  return taeda::count_nonzero_out(out, self, dim ? IntArrayRef(*dim) : IntArrayRef());
}
/// normal_functional_out and make_complex_out.
inline Tensor& normal_out(Tensor& out, const Tensor& self, double mean, double std,
                          GeneratorArg generator = {}) {
  return taeda::normal_functional_out(out, self, mean, std, generator);
}
inline Tensor& complex_out(Tensor& out, const Tensor& real, const Tensor& imag) {
  return taeda::make_complex_out(out, real, imag);
}

}  // namespace taeda_compat
