// Matrix decompositions by LAPACK.
#include "taeda/kernels/linalg.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "taeda/cpu/lapack.h"
#include "taeda/cpu/matrices.h"
#include "taeda/cpu/scratch.h"
#include "taeda/kernels/pointwise/complex_division.h"

namespace taeda::inline v0_2::cpu {

void register_linalg();

namespace {

template <class T>
typename RealOf<T>::type real_part(T x) {
  if constexpr (std::is_same_v<T, typename RealOf<T>::type>)
    return x;
  else
    return x.re;
}

void cholesky_cpu(const Tensor& a, const Tensor& info) {
  dispatch(LapackTypes{}, "cholesky_cpu", a.dtype(), [&]<class T>() {
    const Lapack<T>& l = lapack<T>();
    const Matrices<T> m(a);
    int* const status = info.data_ptr<int32_t>();
    for_matrices(m.count, cubed(m.rows) / 6, [&](int64_t begin, int64_t end) {
      const int n = m.rows, lda = m.leading();
      for (int64_t i = begin; i < end; ++i) {
        l.potrf("L", &n, m.at(i), &lda, status + i, 1);
        // Some libraries ask whether a pivot is negative, which NaN is not.
        const T* const first = m.at(i);
        for (int k = 0; k < n && status[i] == 0; ++k)
          if (std::isnan(real_part(first[int64_t{k} * (lda + 1)]))) status[i] = k + 1;
      }
    });
  });
}

/// Rows up to which textbook loops take less time than a call of LAPACK.
constexpr int kSmall = 8;

/// By which LAPACK chooses pivots.
template <class T>
auto magnitude(T x) {
  if constexpr (std::is_same_v<T, typename RealOf<T>::type>)
    return std::abs(x);
  else
    return std::abs(x.re) + std::abs(x.im);
}

/// Gaussian elimination as it is written in textbooks. Without `pivots` rows stay where they are.
template <class T>
void eliminate(T* a, int rows, int columns, int* pivots, int* info) {
  *info = 0;
  for (int k = 0; k < std::min(rows, columns); ++k) {
    T* const left = a + int64_t{k} * rows;
    if (pivots) {
      int best = k;
      for (int i = k + 1; i < rows; ++i)
        if (magnitude(left[i]) > magnitude(left[best])) best = i;
      pivots[k] = best + 1;
      for (int j = 0; j < columns && best != k; ++j)
        std::swap(a[int64_t{j} * rows + k], a[int64_t{j} * rows + best]);
    }
    if (left[k] == T(0) && *info == 0) *info = k + 1;
    if (!pivots || !(left[k] == T(0)))
      for (int i = k + 1; i < rows; ++i) left[i] = detail::quotient(left[i], left[k]);
    for (int j = k + 1; j < columns; ++j) {
      T* const column = a + int64_t{j} * rows;
      for (int i = k + 1; i < rows; ++i) column[i] = column[i] - left[i] * column[k];
    }
  }
}

void lu_cpu(const Tensor& a, const Tensor& pivots, const Tensor& info, bool pivot) {
  dispatch(LapackTypes{}, "lu_cpu", a.dtype(), [&]<class T>() {
    const Lapack<T>& l = lapack<T>();
    const Matrices<T> m(a);
    const int k = std::min(m.rows, m.columns);
    int* const rows = pivots.data_ptr<int32_t>();
    int* const status = info.data_ptr<int32_t>();
    const double work = static_cast<double>(m.rows) * m.columns * k / 2;
    for_matrices(m.count, work, [&](int64_t begin, int64_t end) {
      const int lda = m.leading();
      for (int64_t i = begin; i < end; ++i) {
        if (!pivot || m.rows <= kSmall)
          eliminate(m.at(i), m.rows, m.columns, pivot ? rows + i * k : nullptr, status + i);
        else
          l.getrf(&m.rows, &m.columns, m.at(i), &lda, rows + i * k, status + i);
      }
    });
  });
}

void lu_permutation_cpu(const Tensor& perm, const Tensor& pivots) {
  const int64_t count = perm.size(0), rows = perm.size(1), k = pivots.size(1);
  for (int64_t b = 0; b < count; ++b) {
    int64_t* const p = perm.data_ptr<int64_t>() + b * rows;
    const int32_t* const swaps = pivots.data_ptr<int32_t>() + b * k;
    for (int64_t i = 0; i < rows; ++i) p[i] = i;
    for (int64_t i = 0; i < k; ++i) std::swap(p[i], p[swaps[i] - 1]);
  }
}

/// x becomes the solution of a x = x (its transposed, if `transpose`), column by column.
template <class T>
void substitute(const T* a, T* x, int n, int columns, bool upper, bool transpose, bool unit) {
  const bool from_last = upper != transpose;
  for (int c = 0; c < columns; ++c, x += n)
    for (int step = 0; step < n; ++step) {
      const int i = from_last ? n - 1 - step : step;
      T sum = x[i];
      for (int j = from_last ? i + 1 : 0; j < (from_last ? n : i); ++j)
        sum = sum - (transpose ? a[i * n + j] : a[j * n + i]) * x[j];
      x[i] = unit ? sum : detail::quotient(sum, a[i * n + i]);
    }
}

void triangular_solve_cpu(const Tensor& a, const Tensor& x, bool upper, bool transpose,
                          bool unitriangular) {
  dispatch(LapackTypes{}, "triangular_solve_cpu", a.dtype(), [&]<class T>() {
    const Lapack<T>& l = lapack<T>();
    const Matrices<T> m(a), r(x);
    const double work = static_cast<double>(m.rows) * m.rows * r.columns / 2;
    for_matrices(r.count, work, [&](int64_t begin, int64_t end) {
      const int lda = m.leading();
      const T one(1);
      for (int64_t i = begin; i < end; ++i) {
        if (m.rows <= kSmall) {
          substitute(m.at(i), r.at(i), m.rows, r.columns, upper, transpose, unitriangular);
          continue;
        }
        l.trsm("L", upper ? "U" : "L", transpose ? "T" : "N", unitriangular ? "U" : "N", &r.rows,
               &r.columns, &one, m.at(i), &lda, r.at(i), &lda, 1, 1, 1, 1);
      }
    });
  });
}

/// One matrix of qr_slot after another.
template <class T>
void qr_range(const Lapack<T>& l, const Matrices<T>& m, const Matrices<T>& q, int64_t begin,
              int64_t end) {
  const int rows = m.rows, k = std::min(m.rows, m.columns), lda = m.leading();
  int info = 0;
  std::vector<T> tau(static_cast<size_t>(std::max(k, 1)));
  const auto factor = [&](T* a, T* work, int size) {
    l.geqrf(&rows, &m.columns, a, &lda, tau.data(), work, &size, &info);
  };
  const auto expand = [&](T* a, T* work, int size) {
    l.orgqr(&rows, &q.columns, &k, a, &lda, tau.data(), work, &size, &info);
  };
  int size = workspace<T>([&](T* work, int n) { factor(m.data, work, n); });
  if (q.data) size = std::max(size, workspace<T>([&](T* w, int n) { expand(q.data, w, n); }));
  const ScratchArray<T> work(size);
  for (int64_t i = begin; i < end; ++i) {
    factor(m.at(i), work.get(), size);
    if (!q.data) continue;
    std::copy_n(m.at(i), int64_t{rows} * k, q.at(i));
    expand(q.at(i), work.get(), size);
  }
}

void qr_cpu(const Tensor& a, const Tensor& q) {
  dispatch(LapackTypes{}, "geqrf_cpu", a.dtype(), [&]<class T>() {
    const Lapack<T>& l = lapack<T>();
    const Matrices<T> m(a), result(q);
    const double work =
        2.0 * m.rows * m.columns * std::max(std::min(m.rows, m.columns), result.columns);
    for_matrices(m.count, work,
                 [&](int64_t begin, int64_t end) { qr_range(l, m, result, begin, end); });
  });
}

/// One matrix of eigh_slot after another.
template <class T>
void eigh_range(const Lapack<T>& l, const Matrices<T>& m, typename RealOf<T>::type* values,
                int* info, bool vectors, int64_t begin, int64_t end) {
  using Real = typename RealOf<T>::type;
  const char* const job = vectors ? "V" : "N";
  const int n = m.rows, lda = m.leading();
  // Workspaces of the numbers, of their real parts (complex ones only) and of integers.
  const auto call = [&](int64_t i, T* work, int size, Real* real_work, int real_size, int* iwork,
                        int integers) {
    if constexpr (std::is_same_v<T, Real>)
      l.real_syevd(job, "L", &n, m.at(i), &lda, values + i * n, work, &size, iwork, &integers,
                   info + i, 1, 1);
    else
      l.complex_heevd(job, "L", &n, m.at(i), &lda, values + i * n, work, &size, real_work,
                      &real_size, iwork, &integers, info + i, 1, 1);
  };
  T best(0);
  Real best_real = 0;
  int best_integers = 0;
  call(begin, &best, -1, &best_real, -1, &best_integers, -1);
  const int size = workspace_size(best), real_size = workspace_size(best_real),
            integers = std::max(1, best_integers);
  const ScratchArray<T> work(size);
  const ScratchArray<Real> real_work(real_size);
  const ScratchArray<int> integer_work(integers);
  for (int64_t i = begin; i < end; ++i)
    call(i, work.get(), size, real_work.get(), real_size, integer_work.get(), integers);
}

void eigh_cpu(const Tensor& a, const Tensor& values, const Tensor& info, bool vectors) {
  dispatch(LapackTypes{}, "linalg_eigh_cpu", a.dtype(), [&]<class T>() {
    const Lapack<T>& l = lapack<T>();
    const Matrices<T> m(a);
    for_matrices(m.count, cubed(m.rows) * (vectors ? 4 : 1), [&](int64_t begin, int64_t end) {
      eigh_range(l, m, values.data_ptr<typename RealOf<T>::type>(), info.data_ptr<int32_t>(),
                 vectors, begin, end);
    });
  });
}

/// Real numbers that gesdd wants beside complex ones.
int64_t svd_real_work(int64_t rows, int64_t columns, bool vectors) {
  if (!vectors) return 7 * columns;
  return columns * (5 * columns + 5 + 2 * std::max(rows, columns) + 2 * columns + 1);
}

/// One matrix of svd_slot after another.
template <class T>
void svd_range(const Lapack<T>& l, const Matrices<T>& m, const Matrices<T>& u,
               typename RealOf<T>::type* s, const Matrices<T>& vh, int* info, int64_t begin,
               int64_t end) {
  using Real = typename RealOf<T>::type;
  constexpr bool real = std::is_same_v<T, Real>;
  const int n = m.columns, lda = m.leading(), ldvt = std::max(n, 1);
  const char* const job = !u.data ? "N" : u.columns == m.rows ? "A" : "S";
  const ScratchArray<int> integer_work(8 * std::max(n, 1));
  const ScratchArray<Real> real_work(real ? 1 : svd_real_work(m.rows, ldvt, u.data != nullptr));
  const auto call = [&](int64_t i, T* work, int size) {
    if constexpr (real)
      l.real_gesdd(job, &m.rows, &n, m.at(i), &lda, s + i * n, u.at(i), &lda, vh.at(i), &ldvt, work,
                   &size, integer_work.get(), info + i, 1);
    else
      l.complex_gesdd(job, &m.rows, &n, m.at(i), &lda, s + i * n, u.at(i), &lda, vh.at(i), &ldvt,
                      work, &size, real_work.get(), integer_work.get(), info + i, 1);
  };
  const int size = workspace<T>([&](T* work, int query) { call(begin, work, query); });
  const ScratchArray<T> work(size);
  for (int64_t i = begin; i < end; ++i) call(i, work.get(), size);
}

void svd_cpu(const Tensor& a, const Tensor& u, const Tensor& s, const Tensor& vh,
             const Tensor& info) {
  dispatch(LapackTypes{}, "linalg_svd_cpu", a.dtype(), [&]<class T>() {
    const Lapack<T>& l = lapack<T>();
    const Matrices<T> m(a), left(u), right(vh);
    const double work = 4.0 * m.rows * m.columns * std::max(m.columns, left.columns);
    for_matrices(m.count, work, [&](int64_t begin, int64_t end) {
      svd_range(l, m, left, s.data_ptr<typename RealOf<T>::type>(), right, info.data_ptr<int32_t>(),
                begin, end);
    });
  });
}

// ---- of any square or symmetric matrix ----

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

void register_linalg() {
  fill_slots<On<cholesky_slot, cholesky_cpu>, On<lu_slot, lu_cpu>,
             On<lu_permutation_slot, lu_permutation_cpu>,
             On<triangular_solve_slot, triangular_solve_cpu>, On<qr_slot, qr_cpu>,
             On<eigh_slot, eigh_cpu>, On<svd_slot, svd_cpu>, On<eig_slot, eig_cpu>,
             On<ldl_factor_slot, ldl_factor_cpu>, On<ldl_solve_slot, ldl_solve_cpu>>(kCPU);
}

}  // namespace taeda::inline v0_2::cpu
