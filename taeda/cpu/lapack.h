// The only door to LAPACK, which is looked for when it is first needed: libtaeda does not link to
// it. Functions take Fortran's arguments: everything by address, and the lengths of character
// arguments at the end.
#pragma once

#include <cstddef>

#include "taeda/base/complex.h"

namespace taeda::inline v0_2::cpu {

/// The type of a number's real part.
template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<complex<T>> {
  using type = T;
};

/// Functions of T, which may be complex. Real and complex numbers have those of their own kind;
/// what is named after the other kind is null.
template <class T>
struct Lapack {
  using Real = typename RealOf<T>::type;
  using Int = const int*;
  using Char = const char*;
  using Length = size_t;

  void (*potrf)(Char uplo, Int n, T* a, Int lda, int* info, Length);
  void (*getrf)(Int m, Int n, T* a, Int lda, int* pivots, int* info);
  void (*trsm)(Char side, Char uplo, Char trans, Char diag, Int m, Int n, const T* alpha,
               const T* a, Int lda, T* b, Int ldb, Length, Length, Length, Length);
  void (*geqrf)(Int m, Int n, T* a, Int lda, T* tau, T* work, Int lwork, int* info);
  /// Of complex numbers it is `ungqr`.
  void (*orgqr)(Int m, Int n, Int k, T* a, Int lda, const T* tau, T* work, Int lwork, int* info);
  void (*real_syevd)(Char jobz, Char uplo, Int n, T* a, Int lda, T* w, T* work, Int lwork,
                     int* iwork, Int liwork, int* info, Length, Length);
  void (*complex_heevd)(Char jobz, Char uplo, Int n, T* a, Int lda, Real* w, T* work, Int lwork,
                        Real* real_work, Int real_size, int* iwork, Int liwork, int* info, Length,
                        Length);
  void (*real_gesdd)(Char jobz, Int m, Int n, T* a, Int lda, T* s, T* u, Int ldu, T* vt, Int ldvt,
                     T* work, Int lwork, int* iwork, int* info, Length);
  void (*complex_gesdd)(Char jobz, Int m, Int n, T* a, Int lda, Real* s, T* u, Int ldu, T* vt,
                        Int ldvt, T* work, Int lwork, Real* real_work, int* iwork, int* info,
                        Length);
};

/// Functions for matrices that are not definite, likewise. The Hermitian ones are null for real
/// numbers.
template <class T>
struct GeneralLapack {
  using Real = typename RealOf<T>::type;
  using Int = const int*;
  using Char = const char*;
  using Length = size_t;

  // Eigenvalues: of real matrices as real and imaginary parts, of complex ones as they are.
  void (*real_geev)(Char left, Char right, Int n, T* a, Int lda, T* re, T* im, T* vl, Int ldvl,
                    T* vr, Int ldvr, T* work, Int lwork, int* info, Length, Length);
  void (*complex_geev)(Char left, Char right, Int n, T* a, Int lda, T* w, T* vl, Int ldvl, T* vr,
                       Int ldvr, T* work, Int lwork, Real* real_work, int* info, Length, Length);
  void (*sytrf)(Char uplo, Int n, T* a, Int lda, int* pivots, T* work, Int lwork, int* info,
                Length);
  void (*hetrf)(Char uplo, Int n, T* a, Int lda, int* pivots, T* work, Int lwork, int* info,
                Length);
  void (*sytrs)(Char uplo, Int n, Int columns, const T* a, Int lda, const int* pivots, T* b,
                Int ldb, int* info, Length);
  void (*hetrs)(Char uplo, Int n, Int columns, const T* a, Int lda, const int* pivots, T* b,
                Int ldb, int* info, Length);
};

/// The functions for float, double, complex<float> or complex<double>. Throws NotImplementedError,
/// saying what to install, where there is no LAPACK, and under TAEDA_LAPACK=0.
template <class T>
const Lapack<T>& lapack();
/// The same.
template <class T>
const GeneralLapack<T>& general_lapack();

}  // namespace taeda::inline v0_2::cpu
