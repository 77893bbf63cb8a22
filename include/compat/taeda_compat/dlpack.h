// ATen/DLConvertor.h: tensors that other libraries see and theirs as tensors, by libtorch's names.
#pragma once

#include <taeda/io/dlpack.h>
#include <taeda_compat/namespaces.h>

#include <functional>
#include <utility>

namespace taeda_compat {

inline DLManagedTensor* toDLPack(const Tensor& src) { return taeda::to_dlpack(src); }
inline DLManagedTensorVersioned* toDLPackVersioned(const Tensor& src) {
  return taeda::to_dlpack_versioned(src);
}
/// The structure is given back by its deleter, which takes what it frees as not const.
inline Tensor fromDLPack(const DLManagedTensor* src) {
  return taeda::from_dlpack(const_cast<DLManagedTensor*>(src));
}
inline Tensor fromDLPack(DLManagedTensor* src, std::function<void(void*)> deleter) {
  return taeda::from_dlpack(src, std::move(deleter));
}
inline Tensor fromDLPackVersioned(DLManagedTensorVersioned* src) { return taeda::from_dlpack(src); }
inline DLDataType getDLDataType(const Tensor& t) { return taeda::to_dlpack_dtype(t.dtype()); }
inline ScalarType toScalarType(const DLDataType& dtype) { return taeda::from_dlpack_dtype(dtype); }
/// The name of the tensor's kind of device, with the number `device_id`.
inline DLDevice getDLContext(const Tensor& tensor, const int64_t& device_id) {
  DLDevice out = taeda::to_dlpack_device(tensor.device());
  out.device_id = static_cast<int32_t>(device_id);
  return out;
}

}  // namespace taeda_compat
