// Tensors that other libraries see, and theirs as tensors, without a copy: DLPack
// (dmlc.github.io/dlpack, versions 0.8 and 1).
#pragma once

#include <functional>

#include "taeda/io/dlpack_abi.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// Lends a tensor's memory. The structure keeps the memory until its `deleter` is called, once,
/// from any thread; it knows nothing of gradients. The first element is at `data`, `byte_offset` is
/// 0. Throws Error for devices that DLPack has no name for: only the CPU and CUDA have one. Work
/// that is queued on CUDA's current stream may still write when the call returns.
DLManagedTensor* to_dlpack(const Tensor& tensor);
/// The same as the structure of DLPack 1; `read_only` asks the borrower not to write.
DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor, bool read_only = false);

/// A tensor over what another library lends; the loan ends, by the structure's deleter, when the
/// last tensor over it dies. Where this throws, the structure stays the caller's. Throws Error for
/// devices, dtypes, versions and strides that tensors cannot have.
Tensor from_dlpack(DLManagedTensor* lent);
/// The same with `deleter` called instead of the structure's own; it gets the data's address.
Tensor from_dlpack(DLManagedTensor* lent, std::function<void(void*)> deleter);
/// Tensors can always be written to: of what is lent read-only this is a copy, and the loan is
/// over.
Tensor from_dlpack(DLManagedTensorVersioned* lent);

/// The names of dtypes and devices, and back. They throw Error for what has none.
DLDataType to_dlpack_dtype(ScalarType dtype);
ScalarType from_dlpack_dtype(const DLDataType& dtype);
DLDevice to_dlpack_device(const Device& device);
Device from_dlpack_device(const DLDevice& device);

}  // namespace taeda::inline v0_2
