// Making tensors. TensorOptions say dtype, device, requires_grad and memory format; a dtype or a
// device alone may stand for them: zeros({2, 3}, kLong), ones({2}, "sim:0").
// [operations, keyword: memory_format]
#pragma once

#include "taeda/ops/create/tensor_literal.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// A tensor of shape `size` over uninitialised memory.
/// [composite]
Tensor empty(IntArrayRef size, const TensorOptions& options = {},
             std::optional<MemoryFormat> memory_format = {});
/// A tensor of shape `size` over uninitialised memory, with the strides given, in elements.
/// [composite]
Tensor empty_strided(IntArrayRef size, IntArrayRef stride, const TensorOptions& options = {});
/// Zeros, or ones, of shape `size`; of the default dtype unless the options have one.
Tensor zeros(IntArrayRef size, const TensorOptions& options = {});
Tensor ones(IntArrayRef size, const TensorOptions& options = {});
/// `value` everywhere, of shape `size`; dtype follows `value` if the options have none: int64 for
/// integers, bool, the default for floats.
Tensor full(IntArrayRef size, const Scalar& value, const TensorOptions& options = {});
/// A 0-dim tensor; of the default dtype unless the options have one.
Tensor scalar_tensor(const Scalar& value, const TensorOptions& options = {});

/// Uninitialised memory with sizes, strides, dtype and device of `self`, unless the options have
/// others.
/// [composite]
Tensor empty_like(const Tensor& self, const TensorOptions& options = {},
                  std::optional<MemoryFormat> memory_format = {});
/// Zeros, ones or `value` everywhere, with sizes, strides, dtype and device of `self`, unless the
/// options have others.
Tensor zeros_like(const Tensor& self, const TensorOptions& options = {},
                  std::optional<MemoryFormat> memory_format = {});
Tensor ones_like(const Tensor& self, const TensorOptions& options = {},
                 std::optional<MemoryFormat> memory_format = {});
Tensor full_like(const Tensor& self, const Scalar& value, const TensorOptions& options = {},
                 std::optional<MemoryFormat> memory_format = {});

/// A vector of start, start + step, ... before `end`. int64 if all three are integers, else the
/// default dtype. Throws Error for a step of zero or one that leads away from `end`.
/// [sequence]
Tensor arange(const Scalar& end, const TensorOptions& options = {});
Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options = {});
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              const TensorOptions& options = {});
/// A vector of `steps` numbers from `start` to `end`, both included, at equal distances. Throws
/// Error for a negative number.
/// [sequence]
Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps,
                const TensorOptions& options = {});
/// A vector of `steps` powers of `base`: base ** linspace(start, end, steps).
/// [sequence, composite]
Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base = 10,
                const TensorOptions& options = {});
/// Ones on the diagonal of a matrix [n, m] ([n, n]), zeros elsewhere. Throws Error for negative
/// sizes.
Tensor eye(int64_t n, const TensorOptions& options = {});
Tensor eye(int64_t n, int64_t m, const TensorOptions& options = {});
/// Rows and columns, as a [2, count] tensor, of the elements on or below (above) the diagonal
/// `offset` of a row x col matrix. int64 unless the options have a dtype.
/// [composite]
Tensor tril_indices(int64_t row, int64_t col, int64_t offset = 0,
                    const TensorOptions& options = {});
Tensor triu_indices(int64_t row, int64_t col, int64_t offset = 0,
                    const TensorOptions& options = {});

/// The numbers given, in the shape of the nested lists: tensor({{1, 2}, {3, 4}}), tensor(3.5),
/// tensor(std::vector<float>{...}). Without a dtype in the options, int becomes int64, floating
/// point the default dtype. Throws Error for lists of unequal lengths.
/// [composite]
Tensor tensor(const TensorLiteral& values, const TensorOptions& options = {});

/// A tensor over memory of somebody else, which must outlive it, or is given to `deleter` when the
/// last tensor over it dies. `stride` are in elements. The options' device says where it lies.
/// [composite]
Tensor from_blob(void* data, IntArrayRef size, const TensorOptions& options = {});
Tensor from_blob(void* data, IntArrayRef size, IntArrayRef stride,
                 const TensorOptions& options = {});
Tensor from_blob(void* data, IntArrayRef size, std::function<void(void*)> deleter,
                 const TensorOptions& options = {});
Tensor from_blob(void* data, IntArrayRef size, IntArrayRef stride,
                 std::function<void(void*)> deleter, const TensorOptions& options = {});
/// The same with strides in braces, `{}` for contiguous memory.
/// [composite]
Tensor from_blob(void* data, IntArrayRef size, std::initializer_list<int64_t> stride,
                 const TensorOptions& options = {});
Tensor from_blob(void* data, IntArrayRef size, std::initializer_list<int64_t> stride,
                 std::function<void(void*)> deleter, const TensorOptions& options = {});

/// The complex tensor real + i * imag; both broadcast and have one floating dtype, else Error.
/// (libtorch's `complex`; here that name is the number's type.)
Tensor make_complex(const Tensor& real, const Tensor& imag);
/// The complex tensor abs * (cos(angle) + i * sin(angle)); both broadcast and have one floating
/// dtype, else Error.
/// [out, autocast: float32 host, dtypes: floating]
Tensor polar(const Tensor& abs, const Tensor& angle);

}  // namespace taeda::inline v0_2
