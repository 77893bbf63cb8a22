// How a call of an operation from Python finds its overload and its arguments.
//
// Signatures are constant tables, made by tools/ops from the declarations. They are tried in turn:
// an argument's type is looked at, nothing is converted and no error is made before one of them
// fits. What fits is converted when the operation is called; where nothing fits, the error lists
// the signatures in PyTorch's words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kinds.h"
#include "python.h"
#include "taeda/ops/nn/conv.h"
#include "values.h"

namespace taeda::python {

/// What an argument may be. Maybe: or None.
enum class Kind : uint8_t {
  Tensor,
  MaybeTensor,
  Tensors,
  Number,
  MaybeNumber,
  Numbers,
  Real,
  MaybeReal,
  Reals,
  MaybeReals,
  Int,
  MaybeInt,
  Ints,
  MaybeInts,
  Sizes,  ///< a sequence of ints; one int alone where `spread` says so
  Bool,
  MaybeBool,
  Text,
  MaybeText,
  Dtype,
  MaybeDtype,
  MaybeDevice,
  MaybeLayout,
  Format,
  MaybeFormat,
  MaybeGenerator,
  Reduction,  ///< its number, or its name
  Padding,    ///< sizes, or a name
  Out,        ///< a tensor that takes the result
  Outs,       ///< a tuple of them
};

struct Parameter {
  const char* name;
  Kind kind;
  /// As signatures show it; nullptr: the argument must be given.
  const char* standard = nullptr;
  bool keyword_only = false;
};

constexpr int kMostArguments = 24;

class Arguments;

struct Signature {
  const Parameter* parameters;
  uint8_t count;
  /// How many of them may be given by position.
  uint8_t positional;
  /// Which one a method is called on; -1 for a function.
  int8_t receiver;
  /// The first argument may be given as several ints: `zeros(2, 3)`.
  bool spread;
  /// Calls the operation.
  PyObject* (*call)(Arguments&);
};

/// All that a name can be called with.
struct Callable {
  const char* name;
  const Signature* signatures;
  int count;
};

/// The arguments of one call, by the numbers of their parameters.
class Arguments {
 public:
  bool given(int i) const { return values_[i] != nullptr; }
  /// Given, and not as None.
  bool present(int i) const { return values_[i] && values_[i] != Py_None; }
  PyObject* object(int i) const { return values_[i]; }

  const Tensor& tensor(int i) const {
    return values_[i] ? to_tensor(values_[i]) : to_tensor(Py_None);
  }
  std::optional<Tensor> maybe_tensor(int i) const {
    return present(i) ? std::optional(to_tensor(values_[i])) : std::nullopt;
  }
  std::vector<Tensor> tensors(int i) const { return to_tensors(values_[i]); }
  Scalar number(int i, const Scalar& standard = 0) const {
    return given(i) ? to_scalar(values_[i]) : standard;
  }
  std::optional<Scalar> maybe_number(int i) const {
    return present(i) ? std::optional(to_scalar(values_[i])) : std::nullopt;
  }
  std::vector<Scalar> numbers(int i) const { return to_scalars(values_[i]); }
  double real(int i, double standard = 0) const {
    return given(i) ? real_of(values_[i]) : standard;
  }
  std::optional<double> maybe_real(int i) const {
    return present(i) ? std::optional(real_of(values_[i])) : std::nullopt;
  }
  std::vector<double> reals(int i) const {
    return present(i) ? to_reals(values_[i]) : std::vector<double>();
  }
  int64_t integer(int i, int64_t standard = 0) const {
    return given(i) ? to_int(values_[i]) : standard;
  }
  std::optional<int64_t> maybe_integer(int i, std::optional<int64_t> standard = {}) const {
    if (!given(i)) return standard;
    return present(i) ? std::optional(to_int(values_[i])) : std::nullopt;
  }
  template <class... Standard>
  Ints ints(int i, Standard... standard) const {
    return given(i) ? to_ints(values_[i]) : Ints{int64_t(standard)...};
  }
  bool boolean(int i, bool standard = false) const {
    return given(i) ? to_bool(values_[i]) : standard;
  }
  std::optional<bool> maybe_boolean(int i) const {
    return present(i) ? std::optional(to_bool(values_[i])) : std::nullopt;
  }
  std::string_view text(int i, std::string_view standard = {}) const {
    return given(i) ? to_text(values_[i]) : standard;
  }
  std::optional<std::string_view> maybe_text(int i) const {
    return present(i) ? std::optional(to_text(values_[i])) : std::nullopt;
  }
  ScalarType dtype(int i) const { return to_dtype(values_[i]); }
  std::optional<ScalarType> maybe_dtype(int i) const {
    return present(i) ? std::optional(to_dtype(values_[i])) : std::nullopt;
  }
  std::optional<MemoryFormat> maybe_format(int i) const {
    return present(i) ? std::optional(to_memory_format(values_[i])) : std::nullopt;
  }
  GeneratorArg generator(int i) const {
    return present(i) ? GeneratorArg(to_generator(values_[i])) : GeneratorArg();
  }
  taeda::Reduction reduction(int i, taeda::Reduction standard) const;
  ConvPadding padding(int i) const;
  /// dtype, layout, device, pin_memory and requires_grad, from parameter `i` on.
  TensorOptions options(int i) const;

  /// Whether there is enough to do that other threads should run meanwhile.
  bool is_heavy() const;

  /// Finds the signature that fits and its arguments; nullptr if none does.
  const Signature* find(const Callable& callable, PyObject* self, PyObject* const* args,
                        Py_ssize_t count, PyObject* names);
  /// Whether there may be somebody who answers the call in the operation's place (Note [Overrides
  /// cost nothing]).
  bool may_be_overridden() const { return watched_; }
  /// Whether one object alone is taken by a callable of one parameter.
  bool takes(const Callable& callable, PyObject* object) {
    return fits(callable.signatures[0], nullptr, &object, 1, nullptr, true);
  }

 private:
  static double real_of(PyObject* object);
  bool fits(const Signature& s, PyObject* self, PyObject* const* args, Py_ssize_t count,
            PyObject* names, bool lenient);
  bool place_keywords(const Signature& s, PyObject* const* values, PyObject* names);

  const Signature* signature_ = nullptr;
  bool watched_ = false;
  PyObject* values_[kMostArguments];
  Ref packed_;
};

/// Calls a callable: the whole way from Python's arguments to its result.
PyObject* call(const Callable& callable, PyObject* self, PyObject* const* args, Py_ssize_t count,
               PyObject* names) noexcept;

/// What Python's tables of methods want.
template <const Callable& C>
PyObject* call_method(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return call(C, self, args, count, names);
}

// Results.

inline PyObject* result(Tensor t) { return wrap(std::move(t)); }
inline PyObject* result(bool value) { return PyBool_FromLong(value); }
inline PyObject* result(int64_t value) { return PyLong_FromLongLong(value); }
inline PyObject* result(std::vector<Tensor> tensors) { return from_tensors(std::move(tensors)); }
template <class... Ts>
std::vector<Tensor> as_vector(std::tuple<Ts...> t) {
  return std::apply([](auto&&... each) { return std::vector<Tensor>{each...}; }, std::move(t));
}
template <class... Ts>
PyObject* result(std::tuple<Ts...> t) {
  return from_tensors(as_vector(std::move(t)));
}
inline PyObject* result(std::tuple<Tensor, std::vector<Tensor>> t) {
  Ref first(wrap(std::move(std::get<0>(t))));
  Ref second(checked(from_tensors(std::move(std::get<1>(t)))));
  return PyTuple_Pack(2, first.get(), second.get());
}

/// A tuple whose parts have names, as torch.return_types has them.
class NamedResult {
 public:
  /// `fields` are names between spaces.
  constexpr NamedResult(const char* name, const char* fields) : name_(name), fields_(fields) {}
  PyObject* operator()(std::vector<Tensor> tensors);
  PyObject* operator()(std::tuple<Tensor, std::vector<Tensor>> parts);

 private:
  PyTypeObject* type();
  const char *name_, *fields_;
  PyTypeObject* type_ = nullptr;
};

/// Writes to what `out` was given: f(out) for one tensor.
template <class F>
PyObject* into(PyObject* out, F&& f) {
  Tensor target = to_tensor(out);
  f(target);
  Py_INCREF(out);
  return out;
}
/// The tensors that a tuple for `out` holds. Throws ErrorIsSet unless there are `count`.
std::vector<Tensor> outs(PyObject* out, int count, const char* name);

}  // namespace taeda::python
