#include "taeda/cpu/lapack.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>

#include "taeda/base/error.h"
#include "taeda/base/shared_library.h"

namespace taeda::inline v0_2::cpu {

namespace {

const SharedLibrary& lapack_library() {
  static const SharedLibrary library{"liblapack.so.3", "libopenblas.so.0"};
  return library;
}

template <class T>
constexpr bool kReal = std::is_same_v<T, typename RealOf<T>::type>;

/// A function by its name, which begins with a letter for T: whether it is there.
template <class T, class F>
bool find(F& function, const char* name) {
  constexpr bool single = std::is_same_v<typename RealOf<T>::type, float>;
  const std::string letter = kReal<T> ? (single ? "s" : "d") : (single ? "c" : "z");
  return lapack_library().load(function, (letter + name + "_").c_str());
}

/// The functions of T, or null if one of them is missing.
template <class T>
std::unique_ptr<Lapack<T>> load_lapack() {
  auto l = std::make_unique<Lapack<T>>();
  bool complete = find<T>(l->potrf, "potrf") && find<T>(l->getrf, "getrf") &&
                  find<T>(l->trsm, "trsm") && find<T>(l->geqrf, "geqrf");
  if constexpr (kReal<T>)
    complete = complete && find<T>(l->orgqr, "orgqr") && find<T>(l->real_syevd, "syevd") &&
               find<T>(l->real_gesdd, "gesdd");
  else
    complete = complete && find<T>(l->orgqr, "ungqr") && find<T>(l->complex_heevd, "heevd") &&
               find<T>(l->complex_gesdd, "gesdd");
  return complete ? std::move(l) : nullptr;
}

template <class T>
std::unique_ptr<GeneralLapack<T>> load_general_lapack() {
  auto l = std::make_unique<GeneralLapack<T>>();
  bool complete = find<T>(l->sytrf, "sytrf") && find<T>(l->sytrs, "sytrs");
  if constexpr (kReal<T>)
    complete = complete && find<T>(l->real_geev, "geev");
  else
    complete = complete && find<T>(l->complex_geev, "geev") && find<T>(l->hetrf, "hetrf") &&
               find<T>(l->hetrs, "hetrs");
  return complete ? std::move(l) : nullptr;
}

template <class Functions>
const Functions& checked(const std::unique_ptr<Functions>& loaded) {
  const char* text = std::getenv("TAEDA_LAPACK");
  const bool off = text && std::strcmp(text, "0") == 0;
  TAEDA_CHECK_NOT_IMPLEMENTED(!off, "linear algebra needs LAPACK, which TAEDA_LAPACK=0 turns off");
  TAEDA_CHECK_NOT_IMPLEMENTED(
      loaded,
      "linear algebra needs LAPACK, which was not found (neither liblapack.so.3 nor "
      "libopenblas.so.0 could be loaded): apt-get install libopenblas0-openmp");
  return *loaded;
}

}  // namespace

template <class T>
const Lapack<T>& lapack() {
  static const std::unique_ptr<Lapack<T>> loaded = load_lapack<T>();
  return checked(loaded);
}
template const Lapack<float>& lapack();
template const Lapack<double>& lapack();
template const Lapack<complex<float>>& lapack();
template const Lapack<complex<double>>& lapack();

template <class T>
const GeneralLapack<T>& general_lapack() {
  static const std::unique_ptr<GeneralLapack<T>> loaded = load_general_lapack<T>();
  return checked(loaded);
}
template const GeneralLapack<float>& general_lapack();
template const GeneralLapack<double>& general_lapack();
template const GeneralLapack<complex<float>>& general_lapack();
template const GeneralLapack<complex<double>>& general_lapack();

}  // namespace taeda::inline v0_2::cpu
