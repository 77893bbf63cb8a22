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

/// The functions whose names begin with `letter`, or null if one of them is missing.
template <class T>
std::unique_ptr<Lapack<T>> load_lapack(const char* letter) {
  const auto find = [letter](auto& function, const char* name) {
    return lapack_library().load(function, (std::string(letter) + name + "_").c_str());
  };
  constexpr bool real = std::is_same_v<T, typename RealOf<T>::type>;
  auto l = std::make_unique<Lapack<T>>();
  bool complete = find(l->potrf, "potrf") && find(l->getrf, "getrf") && find(l->trsm, "trsm") &&
                  find(l->geqrf, "geqrf");
  if constexpr (real)
    complete = complete && find(l->orgqr, "orgqr") && find(l->real_syevd, "syevd") &&
               find(l->real_gesdd, "gesdd");
  else
    complete = complete && find(l->orgqr, "ungqr") && find(l->complex_heevd, "heevd") &&
               find(l->complex_gesdd, "gesdd");
  return complete ? std::move(l) : nullptr;
}

template <class T>
std::unique_ptr<GeneralLapack<T>> load_general_lapack(const char* letter) {
  const auto find = [letter](auto& function, const char* name) {
    return lapack_library().load(function, (std::string(letter) + name + "_").c_str());
  };
  constexpr bool real = std::is_same_v<T, typename RealOf<T>::type>;
  auto l = std::make_unique<GeneralLapack<T>>();
  bool complete = find(l->sytrf, "sytrf") && find(l->sytrs, "sytrs");
  if constexpr (real)
    complete = complete && find(l->real_geev, "geev");
  else
    complete = complete && find(l->complex_geev, "geev") && find(l->hetrf, "hetrf") &&
               find(l->hetrs, "hetrs");
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

template <>
const Lapack<float>& lapack<float>() {
  static const std::unique_ptr<Lapack<float>> loaded = load_lapack<float>("s");
  return checked(loaded);
}

template <>
const Lapack<double>& lapack<double>() {
  static const std::unique_ptr<Lapack<double>> loaded = load_lapack<double>("d");
  return checked(loaded);
}

template <>
const Lapack<complex<float>>& lapack<complex<float>>() {
  static const std::unique_ptr<Lapack<complex<float>>> loaded = load_lapack<complex<float>>("c");
  return checked(loaded);
}

template <>
const Lapack<complex<double>>& lapack<complex<double>>() {
  static const std::unique_ptr<Lapack<complex<double>>> loaded = load_lapack<complex<double>>("z");
  return checked(loaded);
}

template <>
const GeneralLapack<float>& general_lapack<float>() {
  static const std::unique_ptr<GeneralLapack<float>> loaded = load_general_lapack<float>("s");
  return checked(loaded);
}

template <>
const GeneralLapack<double>& general_lapack<double>() {
  static const std::unique_ptr<GeneralLapack<double>> loaded = load_general_lapack<double>("d");
  return checked(loaded);
}

template <>
const GeneralLapack<complex<float>>& general_lapack<complex<float>>() {
  static const std::unique_ptr<GeneralLapack<complex<float>>> loaded =
      load_general_lapack<complex<float>>("c");
  return checked(loaded);
}

template <>
const GeneralLapack<complex<double>>& general_lapack<complex<double>>() {
  static const std::unique_ptr<GeneralLapack<complex<double>>> loaded =
      load_general_lapack<complex<double>>("z");
  return checked(loaded);
}

}  // namespace taeda::inline v0_2::cpu
