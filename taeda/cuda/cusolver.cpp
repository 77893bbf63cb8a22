#include "taeda/cuda/cusolver.h"

#include "taeda/base/error.h"

#if __has_include(<cusolverDn.h>) && __has_include(<cublas_v2.h>)
#define TAEDA_HAS_CUSOLVER 1
#include <cublas_v2.h>
#include <cusolverDn.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "taeda/cuda/shared_library.h"
#endif

namespace taeda::inline v0_2::gpu {

#if defined(TAEDA_HAS_CUSOLVER)

namespace {

// Up to this size cuBLAS decomposes the matrices of a batch side by side; larger ones fill the
// device one by one.
constexpr int kBatchedLu = 512;

/// The functions of one dtype.
template <class T>
struct Functions {
  using Solver = cusolverDnHandle_t;
  cusolverStatus_t (*potrf_size)(Solver, cublasFillMode_t, int, T*, int, int*);
  cusolverStatus_t (*potrf)(Solver, cublasFillMode_t, int, T*, int, T*, int, int*);
  cusolverStatus_t (*potrf_batched)(Solver, cublasFillMode_t, int, T**, int, int*, int);
  cusolverStatus_t (*getrf_size)(Solver, int, int, T*, int, int*);
  cusolverStatus_t (*getrf)(Solver, int, int, T*, int, T*, int*, int*);
  cusolverStatus_t (*geqrf_size)(Solver, int, int, T*, int, int*);
  cusolverStatus_t (*geqrf)(Solver, int, int, T*, int, T*, T*, int, int*);
  cusolverStatus_t (*orgqr_size)(Solver, int, int, int, const T*, int, const T*, int*);
  cusolverStatus_t (*orgqr)(Solver, int, int, int, T*, int, const T*, T*, int, int*);
  cusolverStatus_t (*syevd_size)(Solver, cusolverEigMode_t, cublasFillMode_t, int, const T*, int,
                                 const T*, int*);
  cusolverStatus_t (*syevd)(Solver, cusolverEigMode_t, cublasFillMode_t, int, T*, int, T*, T*, int,
                            int*);
  cusolverStatus_t (*gesvd_size)(Solver, int, int, int*);
  cusolverStatus_t (*gesvd)(Solver, signed char, signed char, int, int, T*, int, T*, T*, int, T*,
                            int, T*, int, T*, int*);
  cublasStatus_t (*getrf_batched)(cublasHandle_t, int, T* const*, int, int*, int*, int);
  cublasStatus_t (*trsm)(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,
                         cublasDiagType_t, int, int, const T*, const T*, int, T*, int);
  cublasStatus_t (*trsm_batched)(cublasHandle_t, cublasSideMode_t, cublasFillMode_t,
                                 cublasOperation_t, cublasDiagType_t, int, int, const T*,
                                 const T* const*, int, T* const*, int, int);

  /// `letter`: S or D.
  bool load(const SharedLibrary& solver, const SharedLibrary& blas, char letter) {
    const auto find = [&](auto& function, const char* name) {
      return solver.load(function, (std::string("cusolverDn") + letter + name).c_str());
    };
    const auto find_blas = [&](auto& function, const char* name) {
      return blas.load(function, (std::string("cublas") + letter + name).c_str());
    };
    return find(potrf_size, "potrf_bufferSize") && find(potrf, "potrf") &&
           find(potrf_batched, "potrfBatched") && find(getrf_size, "getrf_bufferSize") &&
           find(getrf, "getrf") && find(geqrf_size, "geqrf_bufferSize") && find(geqrf, "geqrf") &&
           find(orgqr_size, "orgqr_bufferSize") && find(orgqr, "orgqr") &&
           find(syevd_size, "syevd_bufferSize") && find(syevd, "syevd") &&
           find(gesvd_size, "gesvd_bufferSize") && find(gesvd, "gesvd") &&
           find_blas(getrf_batched, "getrfBatched") && find_blas(trsm, "trsm_v2") &&
           find_blas(trsm_batched, "trsmBatched");
  }
};

// The names are looked up as text; these make the compiler compare what is called with the headers.
static_assert(std::is_same_v<decltype(Functions<double>::potrf), decltype(&cusolverDnDpotrf)>);
static_assert(
    std::is_same_v<decltype(Functions<double>::potrf_batched), decltype(&cusolverDnDpotrfBatched)>);
static_assert(std::is_same_v<decltype(Functions<double>::getrf), decltype(&cusolverDnDgetrf)>);
static_assert(std::is_same_v<decltype(Functions<double>::geqrf), decltype(&cusolverDnDgeqrf)>);
static_assert(std::is_same_v<decltype(Functions<double>::orgqr), decltype(&cusolverDnDorgqr)>);
static_assert(std::is_same_v<decltype(Functions<double>::orgqr_size),
                             decltype(&cusolverDnDorgqr_bufferSize)>);
static_assert(std::is_same_v<decltype(Functions<double>::syevd), decltype(&cusolverDnDsyevd)>);
static_assert(std::is_same_v<decltype(Functions<double>::syevd_size),
                             decltype(&cusolverDnDsyevd_bufferSize)>);
static_assert(std::is_same_v<decltype(Functions<double>::gesvd), decltype(&cusolverDnDgesvd)>);
static_assert(
    std::is_same_v<decltype(Functions<double>::getrf_batched), decltype(&cublasDgetrfBatched)>);
static_assert(std::is_same_v<decltype(Functions<double>::trsm), decltype(&cublasDtrsm_v2)>);
static_assert(
    std::is_same_v<decltype(Functions<double>::trsm_batched), decltype(&cublasDtrsmBatched)>);

struct Library {
  Functions<float> single;
  Functions<double> twice;
  decltype(&cusolverDnCreate) create;
  decltype(&cusolverDnSetStream) set_stream;
  decltype(&cublasCreate_v2) blas_create;
  decltype(&cublasSetStream_v2) blas_set_stream;

  bool load() {
    const std::string solver_file = "libcusolver.so." + std::to_string(CUSOLVER_VER_MAJOR),
                      blas_file = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
    const SharedLibrary solver{solver_file.c_str()}, blas{blas_file.c_str()};
    return single.load(solver, blas, 'S') && twice.load(solver, blas, 'D') &&
           solver.load(create, "cusolverDnCreate") &&
           solver.load(set_stream, "cusolverDnSetStream") &&
           blas.load(blas_create, "cublasCreate_v2") &&
           blas.load(blas_set_stream, "cublasSetStream_v2");
  }
};

const Library& library() {
  static const std::unique_ptr<Library> loaded = [] {
    auto l = std::make_unique<Library>();
    if (!l->load()) l.reset();
    return l;
  }();
  const char* text = std::getenv("TAEDA_CUDA_SOLVER");
  const bool off = text && std::strcmp(text, "0") == 0;
  TAEDA_CHECK_NOT_IMPLEMENTED(
      !off, "linear algebra on CUDA needs cuSOLVER, which TAEDA_CUDA_SOLVER=0 turns off");
  TAEDA_CHECK_NOT_IMPLEMENTED(loaded,
                              "linear algebra on CUDA needs cuSOLVER and cuBLAS: "
                              "libcusolver.so.",
                              CUSOLVER_VER_MAJOR, " and libcublas.so.", CUBLAS_VER_MAJOR,
                              " could not be loaded");
  return *loaded;
}

void check_status(int status, const char* function) {
  TAEDA_CHECK(status == 0, "CUDA error: ", function, " failed with status ", status);
}

struct HandlePair {
  cusolverDnHandle_t solver = nullptr;
  cublasHandle_t blas = nullptr;
};

/// Handles that no other thread uses meanwhile, kept for the next call; and where they work.
class Call {
 public:
  Call(const char* op, const Tensor& t) : l_(library()), op_(op), context_(t.device()) {
    {
      const std::lock_guard lock(mutex());
      std::vector<HandlePair>& mine = free_ones()[context_.device];
      if (!mine.empty()) {
        handles_ = mine.back();
        mine.pop_back();
      }
    }
    if (!handles_.blas) start();
    check_status(l_.set_stream(handles_.solver, context_.stream), "cusolverDnSetStream");
    check_status(l_.blas_set_stream(handles_.blas, context_.stream), "cublasSetStream");
  }
  ~Call() {
    const std::lock_guard lock(mutex());
    free_ones()[context_.device].push_back(handles_);
  }
  Call(const Call&) = delete;

  const Context& context() const { return context_; }
  cusolverDnHandle_t solver() const { return handles_.solver; }
  cublasHandle_t blas() const { return handles_.blas; }
  /// Runs f(Functions<T>) for the tensor's dtype.
  template <class F>
  void run(const Tensor& t, F&& f) const {
    if (t.dtype() == kFloat)
      f(l_.single, float());
    else if (t.dtype() == kDouble)
      f(l_.twice, double());
    else
      throw NotImplementedError(
          detail::concat("\"", op_, "_cuda\" not implemented for '", t.dtype(), "'"));
    context_.launched(op_);
  }

 private:
  /// A device that cannot run the libraries is as good as none.
  void start() {
    const cusolverStatus_t solver = l_.create(&handles_.solver);
    TAEDA_CHECK_NOT_IMPLEMENTED(
        solver == CUSOLVER_STATUS_SUCCESS || solver == CUSOLVER_STATUS_ALLOC_FAILED,
        "linear algebra on CUDA needs cuSOLVER, which could not be started: status ", int{solver});
    check_status(solver, "cusolverDnCreate");
    check_status(l_.blas_create(&handles_.blas), "cublasCreate");
  }
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  static std::map<int, std::vector<HandlePair>>& free_ones() {
    static std::map<int, std::vector<HandlePair>> handles;
    return handles;
  }

  const Library& l_;
  const char* op_;
  Context context_;
  const RelaxedCapture relaxed_;  // the libraries load kernels and take memory when they want
  HandlePair handles_;
};

int to_int(int64_t n) {
  TAEDA_CHECK(n <= INT_MAX, "cuSOLVER takes sizes up to 2147483647, but got ", n);
  return static_cast<int>(n);
}

/// The matrices of a batch, by columns.
template <class T>
struct Matrices {
  T* data = nullptr;
  int rows = 0, columns = 0, count = 0;

  explicit Matrices(const Tensor& t) {
    if (!t.defined()) return;
    data = t.data_ptr<T>();
    count = to_int(t.size(0));
    rows = to_int(t.size(1));
    columns = to_int(t.size(2));
  }
  int64_t step() const { return int64_t{rows} * columns; }
  T* at(int i) const { return data + i * step(); }
  int leading() const { return std::max(rows, 1); }
};

/// Addresses of the matrices, on the device.
template <class T>
class Addresses {
 public:
  Addresses(const Call& call, const Tensor& t, const Matrices<T>& m)
      : memory_(t.device(), m.count * static_cast<int64_t>(sizeof(void*))) {
    write_addresses(call.context(), memory_.as<void*>(), m.data,
                    m.step() * static_cast<int64_t>(sizeof(T)), m.count);
  }
  T** get() const { return memory_.as<T*>(); }

 private:
  Scratch memory_;
};

template <class T>
int64_t bytes_for(int64_t elements) {
  return elements * static_cast<int64_t>(sizeof(T));
}

}  // namespace

void cusolver_cholesky(const Tensor& a, const Tensor& info) {
  const Call call("cholesky", a);
  call.run(a, [&]<class T>(const Functions<T>& f, T) {
    const Matrices<T> m(a);
    int* const status = info.data_ptr<int32_t>();
    if (m.count > 1) {
      const Addresses<T> addresses(call, a, m);
      check_status(f.potrf_batched(call.solver(), CUBLAS_FILL_MODE_LOWER, m.rows, addresses.get(),
                                   m.leading(), status, m.count),
                   "cusolverDn<t>potrfBatched");
      return;
    }
    int size = 0;
    check_status(
        f.potrf_size(call.solver(), CUBLAS_FILL_MODE_LOWER, m.rows, m.data, m.leading(), &size),
        "cusolverDn<t>potrf_bufferSize");
    const Scratch work(a.device(), bytes_for<T>(size));
    check_status(f.potrf(call.solver(), CUBLAS_FILL_MODE_LOWER, m.rows, m.data, m.leading(),
                         work.as<T>(), size, status),
                 "cusolverDn<t>potrf");
  });
}

void cusolver_lu(const Tensor& a, const Tensor& pivots, const Tensor& info, bool pivot) {
  const Call call("lu", a);
  call.run(a, [&]<class T>(const Functions<T>& f, T) {
    const Matrices<T> m(a);
    const int k = std::min(m.rows, m.columns);
    int* const exchanged = pivots.data_ptr<int32_t>();
    int* const status = info.data_ptr<int32_t>();
    if (m.count > 1 && m.rows == m.columns && m.rows <= kBatchedLu) {
      const Addresses<T> addresses(call, a, m);
      check_status(f.getrf_batched(call.blas(), m.rows, addresses.get(), m.leading(),
                                   pivot ? exchanged : nullptr, status, m.count),
                   "cublas<t>getrfBatched");
      return;
    }
    int size = 0;
    check_status(f.getrf_size(call.solver(), m.rows, m.columns, m.data, m.leading(), &size),
                 "cusolverDn<t>getrf_bufferSize");
    const Scratch work(a.device(), bytes_for<T>(size));
    for (int i = 0; i < m.count; ++i)
      check_status(f.getrf(call.solver(), m.rows, m.columns, m.at(i), m.leading(), work.as<T>(),
                           pivot ? exchanged + int64_t{i} * k : nullptr, status + i),
                   "cusolverDn<t>getrf");
  });
}

void cublas_triangular_solve(const Tensor& a, const Tensor& x, bool upper, bool transpose,
                             bool unitriangular) {
  const Call call("triangular_solve", a);
  const cublasFillMode_t fill = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  const cublasOperation_t operation = transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasDiagType_t diagonal = unitriangular ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
  call.run(a, [&]<class T>(const Functions<T>& f, T) {
    const Matrices<T> m(a), r(x);
    const T one = 1;
    if (r.count == 1) {
      check_status(f.trsm(call.blas(), CUBLAS_SIDE_LEFT, fill, operation, diagonal, r.rows,
                          r.columns, &one, m.data, m.leading(), r.data, r.leading()),
                   "cublas<t>trsm");
      return;
    }
    const Addresses<T> from(call, a, m), to(call, x, r);
    check_status(
        f.trsm_batched(call.blas(), CUBLAS_SIDE_LEFT, fill, operation, diagonal, r.rows, r.columns,
                       &one, from.get(), m.leading(), to.get(), r.leading(), r.count),
        "cublas<t>trsmBatched");
  });
}

void cusolver_qr(const Tensor& a, const Tensor& q) {
  const Call call("qr", a);
  call.run(a, [&]<class T>(const Functions<T>& f, T) {
    const Matrices<T> m(a), result(q);
    const int k = std::min(m.rows, m.columns), lda = m.leading();
    const Scratch tau(a.device(), bytes_for<T>(k)), status(a.device(), sizeof(int));
    int size = 0, expand_size = 0;
    check_status(f.geqrf_size(call.solver(), m.rows, m.columns, m.data, lda, &size),
                 "cusolverDn<t>geqrf_bufferSize");
    if (result.data)
      check_status(f.orgqr_size(call.solver(), m.rows, result.columns, k, result.data, lda,
                                tau.as<T>(), &expand_size),
                   "cusolverDn<t>orgqr_bufferSize");
    size = std::max(size, expand_size);
    const Scratch work(a.device(), bytes_for<T>(size));
    for (int i = 0; i < m.count; ++i) {
      check_status(f.geqrf(call.solver(), m.rows, m.columns, m.at(i), lda, tau.as<T>(),
                           work.as<T>(), size, status.as<int>()),
                   "cusolverDn<t>geqrf");
      if (!result.data) continue;
      check(cudaMemcpyAsync(result.at(i), m.at(i),
                            static_cast<size_t>(bytes_for<T>(int64_t{m.rows} * k)),
                            cudaMemcpyDeviceToDevice, call.context().stream),
            "linalg.qr");
      check_status(f.orgqr(call.solver(), m.rows, result.columns, k, result.at(i), lda, tau.as<T>(),
                           work.as<T>(), size, status.as<int>()),
                   "cusolverDn<t>orgqr");
    }
  });
}

void cusolver_eigh(const Tensor& a, const Tensor& values, const Tensor& info, bool vectors) {
  const Call call("eigh", a);
  const cusolverEigMode_t mode = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  call.run(a, [&]<class T>(const Functions<T>& f, T) {
    const Matrices<T> m(a);
    T* const w = values.data_ptr<T>();
    int size = 0;
    check_status(f.syevd_size(call.solver(), mode, CUBLAS_FILL_MODE_LOWER, m.rows, m.data,
                              m.leading(), w, &size),
                 "cusolverDn<t>syevd_bufferSize");
    const Scratch work(a.device(), bytes_for<T>(size));
    for (int i = 0; i < m.count; ++i)
      check_status(
          f.syevd(call.solver(), mode, CUBLAS_FILL_MODE_LOWER, m.rows, m.at(i), m.leading(),
                  w + int64_t{i} * m.rows, work.as<T>(), size, info.data_ptr<int32_t>() + i),
          "cusolverDn<t>syevd");
  });
}

void cusolver_svd(const Tensor& a, const Tensor& u, const Tensor& s, const Tensor& vh,
                  const Tensor& info) {
  const Call call("svd", a);
  call.run(a, [&]<class T>(const Functions<T>& f, T) {
    const Matrices<T> m(a), left(u), right(vh);
    const signed char job = !left.data ? 'N' : left.columns == m.rows ? 'A' : 'S';
    int size = 0;
    check_status(f.gesvd_size(call.solver(), m.rows, m.columns, &size),
                 "cusolverDn<t>gesvd_bufferSize");
    const Scratch work(a.device(), bytes_for<T>(size));
    for (int i = 0; i < m.count; ++i)
      check_status(f.gesvd(call.solver(), job, job, m.rows, m.columns, m.at(i), m.leading(),
                           s.data_ptr<T>() + int64_t{i} * m.columns, left.at(i), m.leading(),
                           right.at(i), std::max(m.columns, 1), work.as<T>(), size, nullptr,
                           info.data_ptr<int32_t>() + i),
                   "cusolverDn<t>gesvd");
  });
}

#else

namespace {
[[noreturn]] void no_solver() {
  throw NotImplementedError(
      "linear algebra on CUDA needs cuSOLVER, whose headers were missing when this plug-in was "
      "built");
}
}  // namespace

void cusolver_cholesky(const Tensor&, const Tensor&) { no_solver(); }
void cusolver_lu(const Tensor&, const Tensor&, const Tensor&, bool) { no_solver(); }
void cublas_triangular_solve(const Tensor&, const Tensor&, bool, bool, bool) { no_solver(); }
void cusolver_qr(const Tensor&, const Tensor&) { no_solver(); }
void cusolver_eigh(const Tensor&, const Tensor&, const Tensor&, bool) { no_solver(); }
void cusolver_svd(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&) {
  no_solver();
}

#endif

}  // namespace taeda::gpu
