// Decompositions of matrices that need not be symmetric or definite, by LAPACK; real and complex.
#include <type_traits>

#include "taeda/cpu/matrices.h"
#include "taeda/cpu/scratch.h"
#include "taeda/kernels/linalg.h"

namespace taeda::inline v0_2::cpu {

void register_linalg_general();

namespace {

/// Eigenvectors of a real matrix as LAPACK leaves them: a pair of conjugates takes two columns, the
/// real and the imaginary part of the first.
template <class T>
void unpack_vectors(int n, const T* packed, const T* im, complex<T>* out) {
  for (int64_t j = 0; j < n; ++j) {
    const T *const re = packed + j * n, *const next = re + n;
    const bool pair = im[j] != 0;
    for (int64_t i = 0; i < n; ++i) {
      out[j * n + i] = {re[i], pair ? next[i] : T(0)};
      if (pair) out[(j + 1) * n + i] = {re[i], -next[i]};
    }
    j += pair;
  }
}

/// One matrix of eig_slot after another, real ones.
template <class T>
void real_eig_range(const Matrices<T>& m, complex<T>* values, const Matrices<complex<T>>& vectors,
                    int* info, int64_t begin, int64_t end) {
  const GeneralLapack<T>& l = general_lapack<T>();
  const int n = m.rows, lda = m.leading(), one = 1;
  const char* const job = vectors.data ? "V" : "N";
  const ScratchArray<T> re(n), im(n), packed(vectors.data ? int64_t{n} * n : 1);
  const auto call = [&](int64_t i, T* work, int size) {
    l.real_geev("N", job, &n, m.at(i), &lda, re.get(), im.get(), nullptr, &one, packed.get(), &lda,
                work, &size, info + i, 1, 1);
  };
  const int size = workspace<T>([&](T* work, int query) { call(begin, work, query); });
  const ScratchArray<T> work(size);
  for (int64_t i = begin; i < end; ++i) {
    call(i, work.get(), size);
    for (int64_t j = 0; j < n; ++j) values[i * n + j] = {re.get()[j], im.get()[j]};
    if (vectors.data && info[i] == 0) unpack_vectors(n, packed.get(), im.get(), vectors.at(i));
  }
}

template <class T>
void complex_eig_range(const Matrices<T>& m, T* values, const Matrices<T>& vectors, int* info,
                       int64_t begin, int64_t end) {
  using Real = typename RealOf<T>::type;
  const GeneralLapack<T>& l = general_lapack<T>();
  const int n = m.rows, lda = m.leading(), one = 1;
  const char* const job = vectors.data ? "V" : "N";
  const ScratchArray<Real> real_work(2 * int64_t{n});
  const auto call = [&](int64_t i, T* work, int size) {
    l.complex_geev("N", job, &n, m.at(i), &lda, values + i * n, nullptr, &one, vectors.at(i), &lda,
                   work, &size, real_work.get(), info + i, 1, 1);
  };
  const int size = workspace<T>([&](T* work, int query) { call(begin, work, query); });
  const ScratchArray<T> work(size);
  for (int64_t i = begin; i < end; ++i) call(i, work.get(), size);
}

void eig_cpu(const Tensor& a, const Tensor& values, const Tensor& vectors, const Tensor& info) {
  dispatch(LapackTypes{}, "linalg_eig_out_cpu", a.dtype(), [&]<class T>() {
    using Real = typename RealOf<T>::type;
    using Complex = complex<Real>;
    const Matrices<T> m(a);
    const Matrices<Complex> v(vectors);
    Complex* const w = values.data_ptr<Complex>();
    int* const status = info.data_ptr<int32_t>();
    for_matrices(m.count, cubed(m.rows) * (v.data ? 25 : 10), [&](int64_t begin, int64_t end) {
      if constexpr (std::is_same_v<T, Real>)
        real_eig_range(m, w, v, status, begin, end);
      else
        complex_eig_range(m, w, v, status, begin, end);
    });
  });
}

void ldl_factor_cpu(const Tensor& a, const Tensor& pivots, const Tensor& info, bool hermitian) {
  dispatch(LapackTypes{}, "ldl_factor_kernel_cpu", a.dtype(), [&]<class T>() {
    const GeneralLapack<T>& l = general_lapack<T>();
    const auto factor = hermitian && is_complex(a.dtype()) ? l.hetrf : l.sytrf;
    const Matrices<T> m(a);
    const int n = m.rows, lda = m.leading();
    int *const rows = pivots.data_ptr<int32_t>(), *const status = info.data_ptr<int32_t>();
    const auto call = [&](int64_t i, T* work, int size) {
      factor("L", &n, m.at(i), &lda, rows + i * n, work, &size, status + i, 1);
    };
    for_matrices(m.count, cubed(n) / 6, [&](int64_t begin, int64_t end) {
      const int size = workspace<T>([&](T* work, int query) { call(begin, work, query); });
      const ScratchArray<T> work(size);
      for (int64_t i = begin; i < end; ++i) call(i, work.get(), size);
    });
  });
}

void ldl_solve_cpu(const Tensor& ld, const Tensor& pivots, const Tensor& x, bool hermitian) {
  dispatch(LapackTypes{}, "ldl_solve_kernel_cpu", ld.dtype(), [&]<class T>() {
    const GeneralLapack<T>& l = general_lapack<T>();
    const auto solve = hermitian && is_complex(ld.dtype()) ? l.hetrs : l.sytrs;
    const Matrices<T> m(ld), right(x);
    const int n = m.rows, lda = m.leading();
    const int* const rows = pivots.data_ptr<int32_t>();
    const double work = static_cast<double>(n) * n * right.columns;
    for_matrices(right.count, work, [&](int64_t begin, int64_t end) {
      int info = 0;
      for (int64_t i = begin; i < end; ++i)
        solve("L", &n, &right.columns, m.at(i), &lda, rows + i * n, right.at(i), &lda, &info, 1);
    });
  });
}

}  // namespace

void register_linalg_general() {
  fill_slots<On<eig_slot, eig_cpu>, On<ldl_factor_slot, ldl_factor_cpu>,
             On<ldl_solve_slot, ldl_solve_cpu>>(kCPU);
}

}  // namespace taeda::inline v0_2::cpu
