// Tensors in ONNX's messages. Not part of the public interface; for sources that know the messages.
#pragma once

#include <string>

#include "taeda/io/budget.h"
#include "taeda/tensor/tensor.h"

namespace taeda_onnx {
class TensorData;
}

namespace taeda::inline v0_2::onnx {

/// ONNX's number for a dtype, and back. Throw Error for one that the other side does not have;
/// `what` is whose it is.
int32_t onnx_dtype(ScalarType dtype, const std::string& what);
ScalarType dtype_of_onnx(int32_t number, const std::string& what);

/// `tensor`, of any strides and device, as a message.
void write_tensor(const Tensor& tensor, ::taeda_onnx::TensorData& out);
/// The tensor of a message, on the host. Throws Error unless its data are as many as its sizes say.
Tensor read_tensor(const ::taeda_onnx::TensorData& in, const std::string& folder,
                   io::Budget& budget);

}  // namespace taeda::inline v0_2::onnx
