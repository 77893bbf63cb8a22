// cuFFT for the emulator: transforms by the sums that define them, for the layouts that plans
// describe. What the real library does to its callers happens here, too: it wants aligned data and
// memory for intermediate results, and overwrites the input of complex-to-real transforms.
#include <cufft.h>
#include <dlfcn.h>

#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numbers>
#include <vector>

namespace {

using Complex = std::complex<double>;
constexpr size_t kWorkBytes = 4096;

struct Plan {
  int rank = 0;
  long long sizes[3], in_sizes[3], out_sizes[3];
  long long in_step, in_distance, out_step, out_distance, batch;
  cufftType type;
  void* work = nullptr;
};

std::mutex mutex;
std::map<cufftHandle, Plan> plans;

/// Device memory is open to the plug-in's runtime alone.
bool copy_bytes(void* to, const void* from, size_t bytes) {
  using Copy = cudaError_t(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t);
  static Copy* const function = [] {
    void* plug_in = dlopen("libtaeda_cuda.so", RTLD_NOW | RTLD_NOLOAD);
    return reinterpret_cast<Copy*>(plug_in ? dlsym(plug_in, "cudaMemcpyAsync") : nullptr);
  }();
  return function && function(to, from, bytes, cudaMemcpyDefault, nullptr) == cudaSuccess;
}

/// Host copy of device memory, written back on demand.
template <class T>
struct Mirror {
  T* device;
  std::vector<T> host;
  Mirror(void* p, size_t n) : device(static_cast<T*>(p)), host(n) {
    ok = copy_bytes(host.data(), device, n * sizeof(T));
  }
  bool write() { return copy_bytes(device, host.data(), host.size() * sizeof(T)); }
  bool ok;
};

/// Where an element of a transform lies; `index` counts row by row in `sizes`.
long long place(const Plan& p, const long long* counted, const long long* stored, long long step,
                long long index) {
  long long at[3], out = 0;
  for (int d = p.rank; d-- > 0; index /= counted[d]) at[d] = index % counted[d];
  for (int d = 0; d < p.rank; ++d) out = out * stored[d] + at[d];
  return out * step;
}

long long volume(const Plan& p, const long long* sizes) {
  long long n = 1;
  for (int d = 0; d < p.rank; ++d) n *= sizes[d];
  return n;
}

size_t reach(const Plan& p, const long long* sizes, long long step, long long distance) {
  return static_cast<size_t>((p.batch - 1) * distance + (volume(p, sizes) - 1) * step + 1);
}

void transform(const Plan& p, std::vector<Complex>& x, int sign) {
  long long inner = 1;
  for (int d = p.rank; d-- > 0; inner *= p.sizes[d]) {
    const long long n = p.sizes[d];
    std::vector<Complex> roots, y(x.size());
    for (long long k = 0; k < n; ++k)
      roots.push_back(std::polar(
          1.0, sign * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n)));
    for (size_t i = 0; i < x.size(); ++i) {
      const auto at = static_cast<long long>(i), k = at / inner % n;
      for (long long j = 0; j < n; ++j)
        y[i] +=
            x[static_cast<size_t>(at + (j - k) * inner)] * roots[static_cast<size_t>(j * k % n)];
    }
    x = std::move(y);
  }
}

bool aligned(const void* p, size_t bytes) { return reinterpret_cast<uintptr_t>(p) % bytes == 0; }

template <class In, class Out>
cufftResult execute(cufftHandle handle, void* in, void* out, cufftType type, int sign) {
  const std::lock_guard lock(mutex);
  const auto found = plans.find(handle);
  if (found == plans.end() || found->second.type != type) return CUFFT_INVALID_PLAN;
  const Plan& p = found->second;
  if (!p.work) return CUFFT_NO_WORKSPACE;
  const size_t alignment = sizeof(In) > sizeof(Out) ? sizeof(In) : sizeof(Out);
  if (!aligned(in, alignment) || !aligned(out, alignment)) return CUFFT_UNALIGNED_DATA;
  Mirror<In> source(in, reach(p, p.in_sizes, p.in_step, p.in_distance));
  Mirror<Out> target(out, reach(p, p.out_sizes, p.out_step, p.out_distance));
  const std::vector<double> noise(kWorkBytes / 8, std::numeric_limits<double>::quiet_NaN());
  if (!source.ok || !target.ok || !copy_bytes(p.work, noise.data(), kWorkBytes))
    return CUFFT_EXEC_FAILED;
  constexpr bool to_real = sizeof(Out) < sizeof(In), from_real = sizeof(In) < sizeof(Out);
  for (long long b = 0; b < p.batch; ++b) {
    const long long n = volume(p, p.sizes);
    std::vector<Complex> x(static_cast<size_t>(n));
    for (long long i = 0; i < volume(p, to_real ? p.in_sizes : p.sizes); ++i) {
      const long long at = place(p, to_real ? p.in_sizes : p.sizes, p.in_sizes, p.in_step, i);
      const Complex z(source.host[static_cast<size_t>(b * p.in_distance + at)]);
      x[static_cast<size_t>(i)] = z;
      if (to_real && i > 0) x[static_cast<size_t>(n - i)] = std::conj(z);
      if (to_real) source.host[static_cast<size_t>(b * p.in_distance + at)] = In(std::nanf(""));
    }
    transform(p, x, sign);
    for (long long i = 0; i < n; ++i) {
      if (from_real && i % p.sizes[p.rank - 1] >= p.out_sizes[p.rank - 1]) continue;
      const long long at = place(p, p.sizes, p.out_sizes, p.out_step, i);
      Out& y = target.host[static_cast<size_t>(b * p.out_distance + at)];
      if constexpr (to_real)
        y = static_cast<Out>(x[static_cast<size_t>(i)].real());
      else
        y = static_cast<Out>(x[static_cast<size_t>(i)]);
    }
  }
  if (to_real && !source.write()) return CUFFT_EXEC_FAILED;
  return target.write() ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

}  // namespace

extern "C" {

cufftResult cufftCreate(cufftHandle* handle) {
  const std::lock_guard lock(mutex);
  static cufftHandle next = 1;
  plans[*handle = next++];
  return CUFFT_SUCCESS;
}
cufftResult cufftDestroy(cufftHandle handle) {
  const std::lock_guard lock(mutex);
  return plans.erase(handle) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
cufftResult cufftSetAutoAllocation(cufftHandle, int automatic) {
  return automatic ? CUFFT_NOT_SUPPORTED : CUFFT_SUCCESS;
}
cufftResult cufftMakePlanMany64(cufftHandle handle, int rank, long long* n, long long* inembed,
                                long long istride, long long idist, long long* onembed,
                                long long ostride, long long odist, cufftType type, long long batch,
                                size_t* work_size) {
  const std::lock_guard lock(mutex);
  const bool to_real = type == CUFFT_C2R || type == CUFFT_Z2D;
  if (rank < 1 || rank > 3 || batch < 1 || (to_real && rank > 1)) return CUFFT_INVALID_SIZE;
  Plan& p = plans.at(handle);
  p.rank = rank;
  for (int d = 0; d < rank; ++d)
    p.sizes[d] = n[d], p.in_sizes[d] = inembed[d], p.out_sizes[d] = onembed[d];
  p.in_step = istride, p.in_distance = idist, p.out_step = ostride, p.out_distance = odist;
  p.batch = batch, p.type = type;
  *work_size = kWorkBytes;
  return CUFFT_SUCCESS;
}
cufftResult cufftSetStream(cufftHandle, cudaStream_t) { return CUFFT_SUCCESS; }
cufftResult cufftSetWorkArea(cufftHandle handle, void* work) {
  const std::lock_guard lock(mutex);
  plans.at(handle).work = work;
  return CUFFT_SUCCESS;
}
cufftResult cufftExecC2C(cufftHandle p, cufftComplex* in, cufftComplex* out, int direction) {
  return execute<std::complex<float>, std::complex<float>>(p, in, out, CUFFT_C2C, direction);
}
cufftResult cufftExecR2C(cufftHandle p, cufftReal* in, cufftComplex* out) {
  return execute<float, std::complex<float>>(p, in, out, CUFFT_R2C, CUFFT_FORWARD);
}
cufftResult cufftExecC2R(cufftHandle p, cufftComplex* in, cufftReal* out) {
  return execute<std::complex<float>, float>(p, in, out, CUFFT_C2R, CUFFT_INVERSE);
}
cufftResult cufftExecZ2Z(cufftHandle p, cufftDoubleComplex* in, cufftDoubleComplex* out,
                         int direction) {
  return execute<Complex, Complex>(p, in, out, CUFFT_Z2Z, direction);
}
cufftResult cufftExecD2Z(cufftHandle p, cufftDoubleReal* in, cufftDoubleComplex* out) {
  return execute<double, Complex>(p, in, out, CUFFT_D2Z, CUFFT_FORWARD);
}
cufftResult cufftExecZ2D(cufftHandle p, cufftDoubleComplex* in, cufftDoubleReal* out) {
  return execute<Complex, double>(p, in, out, CUFFT_Z2D, CUFFT_INVERSE);
}

}  // extern "C"
