// The tensor handle users hold. Most operations are free functions, declared in the header of their
// family (ops/*.h), and methods, which are made from these declarations.
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <tuple>

#include "taeda/device/generator_arg.h"
#include "taeda/tensor/accessor.h"
#include "taeda/tensor/tensor_base.h"
#include "taeda/tensor/type.h"

namespace taeda::inline v0_2 {

class Tensor;
class TensorIndex;
namespace autograd {
class Node;
}

/// Arguments that are lists, or that may be absent.
using TensorList = ArrayRef<Tensor>;
using OptionalDim = std::optional<int64_t>;
using OptionalScalar = std::optional<Scalar>;
using OptionalDtype = std::optional<ScalarType>;

/// "none", "mean" or "sum" of a loss; enumerators as libtorch's Reduction.
enum class Reduction : int8_t { None = 0, Mean = 1, Sum = 2 };
/// How a loss takes its reduction: one of them, or its number.
class ReductionArg {
 public:
  // Both throw Error for what is none.
  ReductionArg(Reduction reduction) : ReductionArg(static_cast<int64_t>(reduction)) {}
  ReductionArg(int64_t number);
  constexpr operator Reduction() const { return reduction_; }

 private:
  Reduction reduction_;
};

/// How an operation that computes with a real number takes it.
class RealArg {
 public:
  constexpr RealArg(double value) : value_(value) {}
  RealArg(const Scalar& value) : value_(value.toDouble()) {}
  constexpr operator double() const { return value_; }

 private:
  double value_;
};

class Tensor : public TensorBase {
 public:
  using TensorBase::TensorBase;
  /// What operations with two results return.
  using T2 = std::tuple<Tensor, Tensor>;

  Tensor() = default;
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  ~Tensor() = default;
  /// What may be absent: an undefined tensor then.
  template <class T>
  requires(std::same_as<T, std::optional<Tensor>> || std::same_as<T, std::nullopt_t>)
      Tensor(const T& maybe) {
    if constexpr (!std::same_as<T, std::nullopt_t>)
      if (maybe) *this = *maybe;
  }
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  // Assignment to what an expression gives writes into its elements: `x[i] = 1.5`, `x[i][j] = y`.
  Tensor& operator=(const Tensor& other) && { return copy_(other); }
  Tensor& operator=(Tensor&& other) && { return copy_(other); }
  Tensor& operator=(const Scalar& value) && { return fill_(value); }

  // Devices, dtypes, copies (ops/create/copy.h)
  // A device is anything that makes one: `to("cuda", true)`, `to(kSim)`, `to(0)` by an index.
  Tensor to(const TensorOptions& options, bool non_blocking = false, bool copy = false) const;
  Tensor to(Device device, ScalarType dtype, bool non_blocking = false, bool copy = false) const;
  Tensor to(ScalarType dtype, bool non_blocking = false, bool copy = false) const;
  Tensor to(const Tensor& other, bool non_blocking = false, bool copy = false) const {
    return to(other.device(), other.dtype(), non_blocking, copy);
  }
  /// The same in a memory format, if there is one.
  /// Sizes stay; a dtype and a device that are the tensor's give the tensor itself unless `copy`.
  Tensor to(const TensorOptions& options, bool non_blocking, bool copy,
            std::optional<MemoryFormat> format) const;
  Tensor to(Device device, ScalarType dtype, bool non_blocking, bool copy,
            std::optional<MemoryFormat> format) const;
  Tensor to(ScalarType dtype, bool non_blocking, bool copy,
            std::optional<MemoryFormat> format) const;
  Tensor to(const Tensor& other, bool non_blocking, bool copy,
            std::optional<MemoryFormat> format) const;
  template <std::integral I>
  requires(!std::same_as<I, bool>) Tensor to(I index, bool non_blocking = false, bool copy = false)
  const { return to(Device(index), dtype(), non_blocking, copy); }
  Tensor cpu() const;
  Tensor cuda(int index = -1) const;
  Tensor meta() const { return to(Device(kMeta)); }
  Tensor type_as(const Tensor& other) const { return to(other); }
  Tensor toType(ScalarType t) const { return to(t); }
  Tensor contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  Tensor pin_memory() const;
  Tensor pin_memory(std::optional<Device> /*device*/) const { return pin_memory(); }
  Tensor& copy_(const Tensor& source, bool non_blocking = false) const;
  void record_stream(int64_t stream) const;
  Tensor to_double() const { return to(kDouble); }
  Scalar item() const;
  template <class T>
  T item() const {
    return item().to<T>();
  }

  // Autograd (autograd/)
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = {},
                bool create_graph = false, std::optional<std::vector<Tensor>> inputs = {}) const;
  template <std::same_as<std::optional<TensorList>> List>
  void backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph,
                const List& inputs) const {
    backward(gradient, retain_graph, create_graph,
             inputs ? std::optional(inputs->vec()) : std::nullopt);
  }
  const Tensor& requires_grad_(bool on = true) const;
  const Tensor& set_requires_grad(bool on) const { return requires_grad_(on); }
  /// The gradient, undefined until backward reached this tensor.
  const Tensor& grad() const;
  Tensor& mutable_grad() const;
  IntrusivePtr<autograd::Node> grad_fn() const;
  bool is_leaf() const;
  int64_t output_nr() const;
  void retain_grad() const;
  bool retains_grad() const;
  Tensor detach() const;
  Tensor& detach_() const;
  Tensor tensor_data() const { return detach(); }
  /// The same memory without a history, whose changes in place do not count for this tensor.
  Tensor variable_data() const;
  Tensor data() const { return variable_data(); }
  /// data_ptr<T>(), as libtorch first named it.
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  /// The name of its function; throws Error for a leaf.
  std::string name() const;
  /// Makes this tensor share `source`'s data, keeping its identity and gradient.
  void set_data(const Tensor& source) const;

  // Other sizes and memory for the same tensor (ops/shape/resize.cpp). All throw Error for a tensor
  // that requires a gradient.

  /// Row-major sizes `size` over the same memory. Where that is too small, the tensor gets memory
  /// of its own with the same elements first; those that are new are not initialised.
  const Tensor& resize_(IntArrayRef size, std::optional<MemoryFormat> format = {}) const;
  const Tensor& resize_as_(const Tensor& other, std::optional<MemoryFormat> format = {}) const;
  /// The memory, sizes and strides of `source`, which has the same dtype; none: no elements.
  Tensor& set_() const;
  Tensor& set_(const Tensor& source) const;
  Tensor& set_(const Tensor& source, int64_t storage_offset, IntArrayRef size,
               IntArrayRef stride = {}) const;
  Tensor& set_(const Storage& source) const;
  Tensor& set_(const Storage& source, int64_t storage_offset, IntArrayRef size,
               IntArrayRef stride = {}) const;
  const Tensor& as_strided_(IntArrayRef size, IntArrayRef stride,
                            OptionalDim storage_offset = {}) const;
  /// Whether both are the same elements in the same memory.
  bool is_set_to(const Tensor& other) const;

  /// The tensor that this is a view of. Throws Error where this is none.
  Tensor _base() const;
  /// Called with the gradient when it is computed; a defined result replaces it. Returns a handle
  /// for remove_hook, which throws Error if there is no such hook.
  unsigned register_hook(std::function<Tensor(const Tensor&)> hook) const;
  /// A hook that returns nothing leaves the gradient as it is.
  template <class F>
  requires std::is_void_v<std::invoke_result_t<F&, Tensor>>
  unsigned register_hook(F hook) const {
    return register_hook([hook = std::move(hook)](const Tensor& gradient) mutable {
      return hook(gradient), Tensor();
    });
  }
  void remove_hook(unsigned handle) const;
  /// Called after backward accumulated into this leaf's `grad()`.
  unsigned register_post_accumulate_grad_hook(std::function<void(const Tensor&)> hook) const;

  /// function(*this, arguments...), for chains of calls.
  template <class F, class... Args>
  auto m(F function, Args&&... arguments) const {
    return function(*this, std::forward<Args>(arguments)...);
  }

  // Printing (tensor/print.h)
  /// As Python prints the tensor: "tensor([1., 2.], requires_grad=True)".
  std::string repr() const;
  /// "CPUFloatType".
  std::string toString() const { return type().toString(); }
  /// Kind of device and dtype, which stand for options.
  TensorType type() const { return {device().type(), dtype(), layout()}; }
  /// Every tensor is one.
  bool is_variable() const { return true; }
  void print() const;

  // Every operation that is a function, too: tools/ops makes these from the declarations in
  // ops/*.h.
#include "taeda/generated/tensor/operations.inc"
#include "taeda/tensor/tensor_methods.inc"
};

std::ostream& operator<<(std::ostream& out, const Tensor& t);

/// Allocates an uninitialised tensor; `ops/create/create.h` has the public functions.
Tensor make_tensor(Layout layout, ScalarType dtype, Device device);
Tensor make_tensor(IntArrayRef sizes, ScalarType dtype, Device device);
/// A view of `of` with another layout, and maybe dtype; records no gradient. Every view is made
/// here: it follows the base in place and has the kind that the source, the modes of the thread and
/// `kind` (Default, MultiOutput or CustomFunction) give it.
Tensor make_view(const Tensor& of, Layout layout, ViewKind kind = ViewKind::Default);
Tensor make_view(const Tensor& of, Layout layout, ScalarType dtype,
                 ViewKind kind = ViewKind::Default);
/// A tensor over the same memory without any relation to the source's history; in-place changes of
/// one count for the other.
Tensor make_alias(const Tensor& source);
Tensor make_alias(const Tensor& source, Layout layout, ScalarType dtype);
/// As `to.set_data(source)`, but in-place changes of one count for the other, as for an alias.
void share_data(const Tensor& to, const Tensor& source);

}  // namespace taeda::inline v0_2
