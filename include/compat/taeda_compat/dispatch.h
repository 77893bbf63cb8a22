// AT_DISPATCH_*: a lambda's body for the C++ type of a dtype, as `scalar_t`.
#pragma once

#include <taeda_compat/namespaces.h>

namespace taeda_compat {

template <class A, class B>
struct Joined;
template <class... A, class... B>
struct Joined<TypeList<A...>, TypeList<B...>> {
  using type = TypeList<A..., B...>;
};

using DispatchFloats = TypeList<float, double>;
using DispatchFloatsAndComplex = Joined<DispatchFloats, ComplexTypes>::type;
using DispatchReals = Joined<DispatchFloats, IntTypes>::type;
using DispatchNumbers = Joined<DispatchReals, ComplexTypes>::type;

/// The C++ type of a dtype that programs name in AT_DISPATCH_*_AND.
template <ScalarType t>
struct CppType;
#define TAEDA_COMPAT_CPP_TYPE(T)         \
  template <>                            \
  struct CppType<taeda::dtype_of<T>()> { \
    using type = T;                      \
  }
TAEDA_COMPAT_CPP_TYPE(Half);
TAEDA_COMPAT_CPP_TYPE(BFloat16);
TAEDA_COMPAT_CPP_TYPE(bool);
TAEDA_COMPAT_CPP_TYPE(float);
TAEDA_COMPAT_CPP_TYPE(double);
TAEDA_COMPAT_CPP_TYPE(uint8_t);
TAEDA_COMPAT_CPP_TYPE(int8_t);
TAEDA_COMPAT_CPP_TYPE(int16_t);
TAEDA_COMPAT_CPP_TYPE(int32_t);
TAEDA_COMPAT_CPP_TYPE(int64_t);
TAEDA_COMPAT_CPP_TYPE(taeda::complex<float>);
TAEDA_COMPAT_CPP_TYPE(taeda::complex<double>);
#undef TAEDA_COMPAT_CPP_TYPE

template <class List, ScalarType... more>
using ListAnd = typename Joined<List, TypeList<typename CppType<more>::type...>>::type;

/// The list in a function type `void(List)`: commas in a macro's argument need the brackets.
template <class Function>
struct ListOf;
template <class List>
struct ListOf<void(List)> {
  using type = List;
};

/// The result of `f` for the first type of the list whose dtype is `t`. Throws NotImplementedError
/// if the list lacks it.
template <class First, class... Rest, class F>
decltype(auto) dispatched(TypeList<First, Rest...>, const char* op, ScalarType t, F&& f) {
  using Result = decltype(f.template operator()<First>());
  if (t == dtype_of<First>()) return f.template operator()<First>();
  if constexpr (sizeof...(Rest) > 0)
    return static_cast<Result>(dispatched(TypeList<Rest...>{}, op, t, f));
  else
    taeda::detail::throw_no_dtype(op, t);
}

}  // namespace taeda_compat

#define TAEDA_COMPAT_DISPATCH(LIST, NAMED, TYPE, NAME, ...)                         \
  ::taeda_compat::dispatched(::taeda_compat::ListOf<void LIST>::type{}, NAME, TYPE, \
                             [&]<class NAMED>() { return (__VA_ARGS__)(); })
#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) \
  TAEDA_COMPAT_DISPATCH((taeda_compat::DispatchFloats), scalar_t, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...)                                 \
  TAEDA_COMPAT_DISPATCH((taeda_compat::ListAnd<taeda_compat::DispatchFloats, taeda::kHalf>), \
                        scalar_t, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND(A, TYPE, NAME, ...)                                        \
  TAEDA_COMPAT_DISPATCH((taeda_compat::ListAnd<taeda_compat::DispatchFloats, A>), scalar_t, TYPE, \
                        NAME, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(A, B, TYPE, NAME, ...)                                 \
  TAEDA_COMPAT_DISPATCH((taeda_compat::ListAnd<taeda_compat::DispatchFloats, A, B>), scalar_t, \
                        TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_COMPLEX_TYPES(TYPE, NAME, ...) \
  TAEDA_COMPAT_DISPATCH((taeda::ComplexTypes), scalar_t, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(TYPE, NAME, ...) \
  TAEDA_COMPAT_DISPATCH((taeda_compat::DispatchFloatsAndComplex), scalar_t, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND1(A, TYPE, NAME, ...)                     \
  TAEDA_COMPAT_DISPATCH((taeda_compat::ListAnd<taeda_compat::DispatchFloatsAndComplex, A>), \
                        scalar_t, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(A, B, TYPE, NAME, ...)                     \
  TAEDA_COMPAT_DISPATCH((taeda_compat::ListAnd<taeda_compat::DispatchFloatsAndComplex, A, B>), \
                        scalar_t, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) \
  TAEDA_COMPAT_DISPATCH((taeda::IntTypes), scalar_t, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES_AND(A, TYPE, NAME, ...)                                 \
  TAEDA_COMPAT_DISPATCH((taeda_compat::ListAnd<taeda::IntTypes, A>), scalar_t, TYPE, NAME, \
                        __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) \
  TAEDA_COMPAT_DISPATCH((taeda_compat::DispatchReals), scalar_t, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND(A, TYPE, NAME, ...)                                            \
  TAEDA_COMPAT_DISPATCH((taeda_compat::ListAnd<taeda_compat::DispatchReals, A>), scalar_t, TYPE, \
                        NAME, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND2(A, B, TYPE, NAME, ...)                                     \
  TAEDA_COMPAT_DISPATCH((taeda_compat::ListAnd<taeda_compat::DispatchReals, A, B>), scalar_t, \
                        TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND3(A, B, C, TYPE, NAME, ...)                                     \
  TAEDA_COMPAT_DISPATCH((taeda_compat::ListAnd<taeda_compat::DispatchReals, A, B, C>), scalar_t, \
                        TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX(TYPE, NAME, ...) \
  TAEDA_COMPAT_DISPATCH((taeda_compat::DispatchNumbers), scalar_t, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND(A, TYPE, NAME, ...)                                  \
  TAEDA_COMPAT_DISPATCH((taeda_compat::ListAnd<taeda_compat::DispatchNumbers, A>), scalar_t, TYPE, \
                        NAME, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(A, B, TYPE, NAME, ...)                           \
  TAEDA_COMPAT_DISPATCH((taeda_compat::ListAnd<taeda_compat::DispatchNumbers, A, B>), scalar_t, \
                        TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(A, B, C, TYPE, NAME, ...)                           \
  TAEDA_COMPAT_DISPATCH((taeda_compat::ListAnd<taeda_compat::DispatchNumbers, A, B, C>), scalar_t, \
                        TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_INDEX_TYPES(TYPE, NAME, ...) \
  TAEDA_COMPAT_DISPATCH((taeda::TypeList<int32_t, int64_t>), index_t, TYPE, NAME, __VA_ARGS__)
