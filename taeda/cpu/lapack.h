// The only door to LAPACK, which is looked for when it is first needed: libtaeda does not link to
// it. Functions take Fortran's arguments: everything by address, and the lengths of character
// arguments at the end.
#pragma once

#include <cstddef>

namespace taeda::inline v0_2::cpu {

template <class T>
struct Lapack {
  using Int = const int*;
  using Char = const char*;
  using Length = size_t;

  void (*potrf)(Char uplo, Int n, T* a, Int lda, int* info, Length);
  void (*getrf)(Int m, Int n, T* a, Int lda, int* pivots, int* info);
  void (*trsm)(Char side, Char uplo, Char trans, Char diag, Int m, Int n, const T* alpha,
               const T* a, Int lda, T* b, Int ldb, Length, Length, Length, Length);
  void (*geqrf)(Int m, Int n, T* a, Int lda, T* tau, T* work, Int lwork, int* info);
  void (*orgqr)(Int m, Int n, Int k, T* a, Int lda, const T* tau, T* work, Int lwork, int* info);
  void (*syevd)(Char jobz, Char uplo, Int n, T* a, Int lda, T* w, T* work, Int lwork, int* iwork,
                Int liwork, int* info, Length, Length);
  void (*gesdd)(Char jobz, Int m, Int n, T* a, Int lda, T* s, T* u, Int ldu, T* vt, Int ldvt,
                T* work, Int lwork, int* iwork, int* info, Length);
};

/// The functions for float or double. Throws NotImplementedError, saying what to install, where
/// there is no LAPACK, and under TAEDA_LAPACK=0.
template <class T>
const Lapack<T>& lapack();

}  // namespace taeda::cpu
