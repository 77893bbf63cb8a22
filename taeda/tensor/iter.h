// The one iterator behind every pointwise kernel: broadcasting, output allocation, dimension
// coalescing, for every device. Type promotion happens before (promote.h): operands have the dtypes
// that the kernel computes in, or the Iter says what they have in memory.
#pragma once

#include <cstring>

#include "taeda/base/parallel_for.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// An input of a pointwise operation: a tensor or a number.
class Operand {
 public:
  Operand(const Tensor& t) : tensor_(&t) {}
  Operand(const Scalar& s) : scalar_(s) {}
  const Tensor* tensor() const { return tensor_; }
  const Scalar& scalar() const { return scalar_; }

 private:
  const Tensor* tensor_ = nullptr;
  Scalar scalar_;
};

/// Outputs first, then inputs. A plain value: copyable into a queue, without references to tensors.
class Iter {
 public:
  static constexpr int kMaxOperands = 6;

  /// Lays the operands over each other. Undefined outputs are allocated, on `device_of` the
  /// operands and in the inputs' memory order; defined ones must have the broadcast shape. `op`
  /// names the operation in errors. Throws Error for shapes that do not broadcast, operands on
  /// different devices, an output that overlaps itself or is a part of an input, and elements
  /// outside of their storage: what a kernel finds in an Iter may be read and written.
  Iter(const char* op, ArrayRef<Tensor*> outputs, ArrayRef<ScalarType> output_dtypes,
       ArrayRef<Operand> inputs, ScalarType common);

  /// The device that all operands are on: of the first one that is not on the CPU. Beside it an
  /// input may be a number in a 0-dim CPU tensor; an output may not, it would never be written.
  /// Throws Error otherwise, as `check_same_device`.
  static Device device_of(const char* op, ArrayRef<Tensor*> outputs, ArrayRef<Operand> inputs);

  const char* op() const { return op_; }
  Device device() const { return device_; }
  int ndim() const { return ndim_; }
  int noperands() const { return noperands_; }
  int noutputs() const { return noutputs_; }
  int64_t numel() const { return numel_; }
  /// Sizes and byte strides; dimension 0 is the innermost.
  int64_t size(int d) const { return sizes_[d]; }
  int64_t stride(int operand, int d) const { return strides_[operand][d]; }
  /// dtype that inputs have and the kernel computes in.
  ScalarType common_dtype() const { return common_; }
  ScalarType output_dtype() const { return output_dtype_; }
  /// Whether an operand has another dtype in memory than the kernel takes or gives. Only kernels of
  /// device types that `converts_operands` (kernels/pointwise.h) names see such an Iter.
  bool is_mixed() const { return mixed_mask_ != 0; }
  bool is_mixed(int operand) const { return mixed_mask_ >> operand & 1; }
  /// What a mixed operand has in memory.
  ScalarType stored_dtype(int operand) const { return stored_[operand]; }
  void set_stored_dtype(int operand, ScalarType dtype) {
    mixed_mask_ |= 1u << operand;
    stored_[operand] = dtype;
  }
  /// An input that is a number: the same on every element, in `common_dtype`, held inside the Iter.
  bool is_scalar(int operand) const { return scalar_mask_ >> operand & 1; }
  char* data(int operand) const {
    return is_scalar(operand) ? const_cast<char*>(scalars_[operand]) : data_[operand];
  }
  /// Calls f(name, index, address, bytes) for the memory of every operand that is a tensor, from
  /// its first element to its last.
  template <class F>
  void for_each_extent(F&& f) const {
    for (int i = 0; i < noperands_ && numel_ > 0; ++i) {
      if (is_scalar(i)) continue;
      int64_t bytes = items_[i];
      for (int d = 0; d < ndim_; ++d) bytes += (sizes_[d] - 1) * strides_[i][d];
      f(i < noutputs_ ? "output" : "input", i < noutputs_ ? i : i - noutputs_, data_[i], bytes);
    }
  }
  /// Moves every tensor operand by `delta` bytes (device address to host alias).
  void rebase(ptrdiff_t delta) {
    for (int i = 0; i < noperands_; ++i)
      if (!is_scalar(i) && data_[i]) data_[i] += delta;
  }

  /// Calls `loop(char** data, const int64_t* strides, int64_t n)` over one-dimensional runs that
  /// cover all elements, from several threads when there are at least `grain` elements for each.
  template <class Loop>
  void for_each(Loop&& loop, int64_t grain = kParallelGrain) const {
    if (numel_ == 0) return;
    if (ndim_ <= 1 && numel_ <= grain) {
      run_range(0, numel_, loop);
      return;
    }
    parallel_for(0, numel_, grain,
                 [&](int64_t begin, int64_t end) { run_range(begin, end, loop); });
  }

 private:
  DimVector set_shape(ArrayRef<Tensor*> outputs, ArrayRef<Operand> inputs);
  void allocate(ArrayRef<Tensor*> outputs, ArrayRef<ScalarType> dtypes, ArrayRef<Operand> inputs,
                IntArrayRef shape);
  bool try_flat(ArrayRef<Tensor*> outputs, ArrayRef<ScalarType> dtypes, ArrayRef<Operand> inputs);
  void set_operand(int i, const Tensor& t, IntArrayRef shape);
  void set_scalar(int i, const Scalar& s);
  void reorder_and_coalesce();

  template <class Loop>
  void run_range(int64_t begin, int64_t end, Loop& loop) const {
    char* ptrs[kMaxOperands];
    int64_t inner[kMaxOperands];
    for (int i = 0; i < noperands_; ++i) inner[i] = ndim_ > 0 ? strides_[i][0] : 0;
    const int64_t width = ndim_ > 0 ? sizes_[0] : 1;
    for (int64_t at = begin; at < end;) {
      const int64_t column = at % width;
      const int64_t n = std::min(width - column, end - at);
      locate(at / width, column, ptrs);
      loop(ptrs, inner, n);
      at += n;
    }
  }
  /// Addresses of element `column` of row `row` (rows counted over dimensions 1..ndim-1).
  void locate(int64_t row, int64_t column, char** ptrs) const {
    for (int i = 0; i < noperands_; ++i)
      ptrs[i] = data(i) + (ndim_ > 0 ? column * strides_[i][0] : 0);
    for (int d = 1; d < ndim_; ++d) {
      const int64_t index = row % sizes_[d];
      row /= sizes_[d];
      for (int i = 0; i < noperands_; ++i) ptrs[i] += index * strides_[i][d];
    }
  }

  const char* op_;
  Device device_;
  int ndim_ = 0;
  int noperands_ = 0;
  int noutputs_ = 0;
  uint32_t scalar_mask_ = 0;
  uint32_t mixed_mask_ = 0;
  ScalarType common_;
  ScalarType output_dtype_ = ScalarType::Undefined;
  int64_t numel_ = 0;
  uint8_t items_[kMaxOperands];  // bytes of an element
  ScalarType stored_[kMaxOperands];
  char* data_[kMaxOperands];
  alignas(16) char scalars_[kMaxOperands][16];
  int64_t sizes_[kMaxLoopDims];
  int64_t strides_[kMaxOperands][kMaxLoopDims];
};

/// Throws Error unless every tensor is on the first one's device, in PyTorch's words: "Expected all
/// tensors to be on the same device, but found at least two devices, cuda:0 and cpu! (when checking
/// argument <other> in method <op>)". Undefined tensors and nullptr are passed over.
void check_same_device(const char* op, ArrayRef<const Tensor*> tensors);

/// Whether tensors without gaps have bytes of memory in common. Addresses of different devices are
/// not comparable, and tensors on meta have none.
bool share_bytes(const Tensor& a, const Tensor& b);
/// Throws Error, in PyTorch's words, if two elements of `out`, which will be written, share memory.
void check_no_internal_overlap(const Tensor& out);
/// For kernels that read inputs at other positions than they write: throws Error, in PyTorch's
/// words, if `out` shares memory with an input, as far as that is easily told: of tensors without
/// gaps.
void check_no_overlap(const Tensor& out, ArrayRef<const Tensor*> inputs);

}  // namespace taeda
