// The call of an operation from Python, made from the type of what calls it in C++.
//
// tools/ops writes a row for each overload (build/generated/python): its parameters, and
// `bound<function, places...>`, where `function` takes what the operation takes and a place says
// which parameter gives the argument and what stands for it where it is not given.
#pragma once

#include <algorithm>
#include <tuple>
#include <utility>

#include "arguments.h"

/// Into the one function that Python calls: a template's parts are no local functions, which
/// compilers put together by themselves.
#define TAEDA_PART [[gnu::always_inline]] static inline
/// But not what few calls need.
#define TAEDA_APART [[gnu::noinline]] static

namespace taeda::python {

/// A text as an argument of a template.
template <size_t N>
struct Word {
  constexpr Word(const char (&text)[N]) { std::copy_n(text, N, characters); }
  constexpr operator std::string_view() const { return {characters, N - 1}; }
  char characters[N];
};

/// Parameter I; `Standard` is what the argument is where that is not given: a value, or the
/// elements of a list.
template <int I, auto... Standard>
struct At {
  static constexpr int place = I;
};

/// A list, and whether it was given: as optional lists of C++ know it.
template <class List, class Optional>
struct MaybeList {
  List values;
  bool present;
  operator Optional() const { return present ? Optional(values) : Optional(); }
};

/// How an argument of type T is taken from the parameters of a call: `of(arguments, i,
/// standard...)`. What it gives lives as long as the call.
template <class T>
struct Taken;

#define TAEDA_TAKEN(type, expression)                                        \
  template <>                                                                \
  struct Taken<type> {                                                       \
    template <class... Standard>                                             \
    TAEDA_PART decltype(auto) of(const Arguments& a, int i, const Standard&... s) { \
      return expression;                                                     \
    }                                                                        \
  }
TAEDA_TAKEN(const Tensor&, a.tensor(i));
TAEDA_TAKEN(const std::optional<Tensor>&, a.maybe_tensor(i));
TAEDA_TAKEN(TensorList, a.tensors(i));
TAEDA_TAKEN(const Scalar&, a.number(i, Scalar(s)...));
TAEDA_TAKEN(const OptionalScalar&, OptionalScalar(a.maybe_number(i)));
TAEDA_TAKEN(ArrayRef<Scalar>, a.numbers(i));
TAEDA_TAKEN(double, a.real(i, double(s)...));
TAEDA_TAKEN(RealArg, a.real(i, double(s)...));
TAEDA_TAKEN(std::optional<double>, a.maybe_real(i));
TAEDA_TAKEN(ArrayRef<double>, a.reals(i));
TAEDA_TAKEN(int64_t, a.integer(i, int64_t(s)...));
TAEDA_TAKEN(OptionalDim, OptionalDim(a.maybe_integer(i, std::optional<int64_t>(s)...)));
TAEDA_TAKEN(IntArrayRef, a.ints(i, s...));
TAEDA_TAKEN(bool, a.boolean(i, bool(s)...));
TAEDA_TAKEN(std::optional<bool>, a.maybe_boolean(i));
TAEDA_TAKEN(std::string_view, a.text(i, std::string_view(s)...));
TAEDA_TAKEN(std::optional<std::string_view>, a.maybe_text(i));
TAEDA_TAKEN(ScalarType, a.dtype(i));
TAEDA_TAKEN(OptionalDtype, OptionalDtype(a.maybe_dtype(i)));
TAEDA_TAKEN(std::optional<MemoryFormat>, a.maybe_format(i));
TAEDA_TAKEN(GeneratorArg, a.generator(i));
TAEDA_TAKEN(ReductionArg, a.reduction(i, taeda::Reduction(s)...));
TAEDA_TAKEN(const ConvPadding&, a.padding(i));
TAEDA_TAKEN(const TensorOptions&, a.options(i));
TAEDA_TAKEN(OptionalIntArrayRef, (MaybeList<Ints, OptionalIntArrayRef>{a.ints(i), a.present(i)}));
TAEDA_TAKEN(std::optional<ArrayRef<double>>,
            (MaybeList<std::vector<double>, std::optional<ArrayRef<double>>>{a.reals(i),
                                                                             a.present(i)}));
#undef TAEDA_TAKEN

/// How a result goes to Python: by its type.
struct Plain {
  template <class Made>
  TAEDA_PART PyObject* give(Made&& made) {
    return result(std::forward<Made>(made));
  }
  static constexpr int out = -1;  ///< which parameter takes the result; none
};

/// As a tuple with names for its parts.
template <Word Title, Word Fields>
struct Named : Plain {
  template <class Made>
  TAEDA_APART PyObject* give(Made&& made) {
    static NamedResult named(Title.characters, Fields.characters);
    using Parts = std::remove_cvref_t<Made>;
    if constexpr (std::is_same_v<Parts, std::vector<Tensor>> ||
                  std::is_same_v<Parts, std::tuple<Tensor, std::vector<Tensor>>>)
      return named(std::forward<Made>(made));
    else
      return named(as_vector(std::forward<Made>(made)));
  }
};

/// What `Form` does, and parameter I is `out`: `Write(out, arguments...)` fills it.
template <int I, auto Write, class Form = Plain>
struct WithOut : Form {
  static constexpr int out = I;
  template <class... Values>
  TAEDA_PART PyObject* fill(const Arguments& a, Values&... values) {
    return into(a.object(I), [&](Tensor& out) { Write(out, values...); });
  }
};

/// The same for an operation with `Count` results.
template <int I, int Count, Word Name, auto Write, class Form = Plain>
struct WithOuts : Form {
  static constexpr int out = I;
  template <class... Values>
  TAEDA_PART PyObject* fill(const Arguments& a, Values&... values) {
    std::vector<Tensor> all = outs(a.object(I), Count, Name.characters);
    const auto write = [&]<size_t... N>(std::index_sequence<N...>) { Write(all[N]..., values...); };
    write(std::make_index_sequence<Count>());
    return Form::give(std::move(all));
  }
};

/// The result of `F`, called with values that live while it is made.
template <auto F, class Form, class Result>
struct Called {
  PyObject* made;
  template <class... Values>
  [[gnu::always_inline]] Called(Arguments& a, Values&&... values) {
    auto computed = [&]() -> Result {
      const ReleaseGil released(a.is_heavy());
      return F(values...);
    }();
    made = Form::give(std::move(computed));
  }
};
/// `out`, filled.
template <class Form>
struct Filled {
  PyObject* made;
  template <class... Values>
  Filled(const Arguments& a, Values&&... values) : made(Form::fill(a, values...)) {}
};

template <class T, int I, auto... Standard>
TAEDA_PART decltype(auto) take(const Arguments& a, At<I, Standard...>) {
  return Taken<T>::of(a, I, Standard...);
}

/// What a function returns and takes. In braces the values are made from left to right.
template <class F>
struct Shape : Shape<decltype(&F::operator())> {};
template <class R, class... A>
struct Shape<R (*)(A...)> {
  template <class Form, class... Places>
  TAEDA_APART PyObject* fill(const Arguments& a) {
    return Filled<Form>{a, take<A>(a, Places())...}.made;
  }
  template <auto F, class Form, class... Places>
  TAEDA_PART PyObject* call(Arguments& a) {
    if constexpr (Form::out >= 0)
      if (a.given(Form::out)) return fill<Form, Places...>(a);
    return Called<F, Form, std::remove_cvref_t<R>>{a, take<A>(a, Places())...}.made;
  }
};
template <class F, class R, class... A>
struct Shape<R (F::*)(A...) const> : Shape<R (*)(A...)> {};

/// Calls `F` with what its places say; the result goes the way of `Form`.
template <auto F, class Form, class... Places>
PyObject* bound(Arguments& a) {
  return Shape<decltype(F)>::template call<F, Form, Places...>(a);
}

/// The overload of a function with the type T.
template <class T>
constexpr T* fn(T* function) {
  return function;
}

}  // namespace taeda::python

#undef TAEDA_PART
#undef TAEDA_APART
