// Kernels that want dense row-major operands of one compute type, whatever the tensors are.
#pragma once

#include <optional>

#include "taeda/base/dtype.h"
#include "taeda/base/parallel_for.h"
#include "taeda/cpu/scratch.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace detail {

/// Calls f(first element's offset, stride, dense index, n) for every innermost run of a layout.
template <class F>
void for_each_run(const Layout& layout, F&& f) {
  const int64_t n = layout.ndim(), width = n > 0 ? layout.sizes[n - 1] : 1;
  const int64_t stride = n > 0 ? layout.strides[n - 1] : 0;
  const int64_t runs = width > 0 ? layout.numel() / width : 0;
  parallel_for(0, runs, std::max<int64_t>(1, kParallelGrain / std::max<int64_t>(width, 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t run = begin; run < end; ++run) {
                   int64_t offset = 0, rest = run;
                   for (int64_t d = n - 2; d >= 0; --d) {
                     offset += rest % layout.sizes[d] * layout.strides[d];
                     rest /= layout.sizes[d];
                   }
                   f(offset, stride, run * width, width);
                 }
               });
}

}  // namespace detail

/// A tensor's elements as a dense array of C: its own memory, or a converted copy.
template <class T, class C = opmath_t<T>>
class DenseInput {
 public:
  explicit DenseInput(const Tensor& t) {
    if (!t.defined()) return;
    const T* from = static_cast<const T*>(t.data_ptr());
    if constexpr (std::is_same_v<T, C>) {
      if (t.is_contiguous()) {
        data_ = from;
        return;
      }
    }
    C* to = copy_.emplace(t.numel()).get();
    detail::for_each_run(t.layout(), [&](int64_t offset, int64_t stride, int64_t index, int64_t n) {
      for (int64_t i = 0; i < n; ++i) to[index + i] = static_cast<C>(from[offset + i * stride]);
    });
    data_ = to;
  }
  /// Null for an undefined tensor.
  const C* get() const { return data_; }

 private:
  std::optional<ScratchArray<C>> copy_;
  const C* data_ = nullptr;
};

/// A dense array of C that becomes the tensor's elements at the end of the scope.
template <class T, class C = opmath_t<T>>
class DenseOutput {
 public:
  explicit DenseOutput(const Tensor& t) : tensor_(t) {
    if (!t.defined()) return;
    if constexpr (std::is_same_v<T, C>) {
      if (t.is_contiguous()) {
        data_ = static_cast<C*>(t.data_ptr());
        return;
      }
    }
    data_ = copy_.emplace(t.numel()).get();
  }
  ~DenseOutput() {
    if (!copy_) return;
    T* to = static_cast<T*>(tensor_.data_ptr());
    detail::for_each_run(tensor_.layout(),
                         [&](int64_t offset, int64_t stride, int64_t index, int64_t n) {
                           for (int64_t i = 0; i < n; ++i)
                             to[offset + i * stride] = static_cast<T>(data_[index + i]);
                         });
  }
  DenseOutput(const DenseOutput&) = delete;
  DenseOutput& operator=(const DenseOutput&) = delete;
  C* get() const { return data_; }

 private:
  const Tensor& tensor_;
  std::optional<ScratchArray<C>> copy_;
  C* data_ = nullptr;
};

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
