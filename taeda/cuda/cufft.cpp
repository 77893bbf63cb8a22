#include "taeda/cuda/cufft.h"

#include "taeda/base/error.h"

#if __has_include(<cufft.h>)
#include <cufft.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "taeda/cuda/shared_library.h"
#include "taeda/device/graph.h"
#endif

namespace taeda::inline v0_2::gpu {

#if __has_include(<cufft.h>)

namespace {

constexpr size_t kKeptPlans = 256;

/// The functions used, by the version that the headers are of.
struct FftLibrary {
  decltype(&cufftCreate) create;
  decltype(&cufftDestroy) destroy;
  decltype(&cufftSetAutoAllocation) set_auto_allocation;
  decltype(&cufftMakePlanMany64) make_plan;
  decltype(&cufftSetStream) set_stream;
  decltype(&cufftSetWorkArea) set_work_area;
  decltype(&cufftExecC2C) c2c;
  decltype(&cufftExecR2C) r2c;
  decltype(&cufftExecC2R) c2r;
  decltype(&cufftExecZ2Z) z2z;
  decltype(&cufftExecD2Z) d2z;
  decltype(&cufftExecZ2D) z2d;

  static std::string file() { return "libcufft.so." + std::to_string(CUFFT_VER_MAJOR); }

  bool load() {
    const SharedLibrary library{file().c_str(), "libcufft.so"};
    return library.load(create, "cufftCreate") && library.load(destroy, "cufftDestroy") &&
           library.load(set_auto_allocation, "cufftSetAutoAllocation") &&
           library.load(make_plan, "cufftMakePlanMany64") &&
           library.load(set_stream, "cufftSetStream") &&
           library.load(set_work_area, "cufftSetWorkArea") && library.load(c2c, "cufftExecC2C") &&
           library.load(r2c, "cufftExecR2C") && library.load(c2r, "cufftExecC2R") &&
           library.load(z2z, "cufftExecZ2Z") && library.load(d2z, "cufftExecD2Z") &&
           library.load(z2d, "cufftExecZ2D");
  }
};

const FftLibrary& fft_library() {
  static const std::unique_ptr<FftLibrary> loaded = [] {
    auto l = std::make_unique<FftLibrary>();
    if (!l->load()) l.reset();
    return l;
  }();
  const char* text = std::getenv("TAEDA_CUDA_FFT");
  TAEDA_CHECK(!text || std::strcmp(text, "0") != 0,
              "Fourier transforms on cuda need cuFFT, which TAEDA_CUDA_FFT=0 turns off");
  TAEDA_CHECK(loaded, "Fourier transforms on cuda need cuFFT, but neither ", FftLibrary::file(),
              " nor libcufft.so could be loaded");
  return *loaded;
}

const char* name_of(cufftResult result) {
  switch (result) {
    case CUFFT_INVALID_PLAN: return "CUFFT_INVALID_PLAN";
    case CUFFT_ALLOC_FAILED: return "CUFFT_ALLOC_FAILED";
    case CUFFT_INVALID_TYPE: return "CUFFT_INVALID_TYPE";
    case CUFFT_INVALID_VALUE: return "CUFFT_INVALID_VALUE";
    case CUFFT_INTERNAL_ERROR: return "CUFFT_INTERNAL_ERROR";
    case CUFFT_EXEC_FAILED: return "CUFFT_EXEC_FAILED";
    case CUFFT_SETUP_FAILED: return "CUFFT_SETUP_FAILED";
    case CUFFT_INVALID_SIZE: return "CUFFT_INVALID_SIZE";
    case CUFFT_UNALIGNED_DATA: return "CUFFT_UNALIGNED_DATA";
    case CUFFT_INVALID_DEVICE: return "CUFFT_INVALID_DEVICE";
    case CUFFT_NO_WORKSPACE: return "CUFFT_NO_WORKSPACE";
    case CUFFT_NOT_IMPLEMENTED: return "CUFFT_NOT_IMPLEMENTED";
    case CUFFT_NOT_SUPPORTED: return "CUFFT_NOT_SUPPORTED";
    default: return "unknown result";
  }
}

void check_fft(cufftResult result) {
  TAEDA_CHECK(result == CUFFT_SUCCESS, "cuFFT error: ", name_of(result), " (",
              static_cast<int>(result), ")");
}

cufftType type_of(const FftShape& shape) {
  switch (shape.type) {
    case FftShape::Type::RealToComplex: return shape.is_double ? CUFFT_D2Z : CUFFT_R2C;
    case FftShape::Type::ComplexToReal: return shape.is_double ? CUFFT_Z2D : CUFFT_C2R;
    default: return shape.is_double ? CUFFT_Z2Z : CUFFT_C2C;
  }
}

/// A plan on the current device, without memory for intermediate results.
class FftPlan {
 public:
  FftPlan(const FftLibrary& l, const FftShape& shape) : l_(l) {
    check_fft(l_.create(&handle_));
    const cufftResult result = make(shape);
    if (result != CUFFT_SUCCESS) l_.destroy(handle_);
    check_fft(result);
  }
  ~FftPlan() { l_.destroy(handle_); }
  FftPlan(const FftPlan&) = delete;
  FftPlan& operator=(const FftPlan&) = delete;

  cufftHandle handle() const { return handle_; }
  size_t work_bytes() const { return work_bytes_; }

 private:
  cufftResult make(const FftShape& shape) {
    long long sizes[3], in_sizes[3], out_sizes[3];
    for (int d = 0; d < shape.rank; ++d) sizes[d] = in_sizes[d] = out_sizes[d] = shape.sizes[d];
    const int last = shape.rank - 1;
    if (shape.type == FftShape::Type::RealToComplex) out_sizes[last] = sizes[last] / 2 + 1;
    if (shape.type == FftShape::Type::ComplexToReal) in_sizes[last] = sizes[last] / 2 + 1;
    const cufftResult result = l_.set_auto_allocation(handle_, 0);
    if (result != CUFFT_SUCCESS) return result;
    return l_.make_plan(handle_, shape.rank, sizes, in_sizes, shape.step, shape.in_distance,
                        out_sizes, shape.step, shape.out_distance, type_of(shape), shape.batch,
                        &work_bytes_);
  }

  const FftLibrary& l_;
  cufftHandle handle_ = 0;
  size_t work_bytes_ = 0;
};

/// Plans of all devices, the last used first. To be locked while one is made, set up and run: a
/// plan remembers its stream and its memory. Plans that a graph runs stay for good.
class FftPlans {
 public:
  static FftPlans& instance() {
    static auto* plans = new FftPlans;  // outlives the library's own state
    return *plans;
  }
  std::mutex& mutex() { return mutex_; }

  const FftPlan& get(const FftLibrary& l, int device, const FftShape& shape, bool captured) {
    const auto at = std::find_if(plans_.begin(), plans_.end(), [&](const Entry& e) {
      return e.device == device && e.shape == shape;
    });
    if (at != plans_.end()) {
      std::rotate(plans_.begin(), at, at + 1);
    } else {
      auto plan = std::make_unique<FftPlan>(l, shape);
      if (plans_.size() >= kKeptPlans && !captured) forget_one();
      plans_.insert(plans_.begin(), Entry{device, shape, std::move(plan), false});
    }
    plans_.front().captured |= captured;
    return *plans_.front().plan;
  }

 private:
  struct Entry {
    int device;
    FftShape shape;
    std::unique_ptr<FftPlan> plan;
    bool captured;
  };

  void forget_one() {
    const auto last =
        std::find_if(plans_.rbegin(), plans_.rend(), [](const Entry& e) { return !e.captured; });
    if (last != plans_.rend()) plans_.erase(std::next(last).base());
  }

  std::mutex mutex_;
  std::vector<Entry> plans_;
};

cufftResult run(const FftLibrary& l, cufftHandle plan, const FftShape& shape, void* in, void* out,
                bool forward) {
  const int direction = forward ? CUFFT_FORWARD : CUFFT_INVERSE;
  switch (type_of(shape)) {
    case CUFFT_R2C:
      return l.r2c(plan, static_cast<cufftReal*>(in), static_cast<cufftComplex*>(out));
    case CUFFT_D2Z:
      return l.d2z(plan, static_cast<cufftDoubleReal*>(in), static_cast<cufftDoubleComplex*>(out));
    case CUFFT_C2R:
      return l.c2r(plan, static_cast<cufftComplex*>(in), static_cast<cufftReal*>(out));
    case CUFFT_Z2D:
      return l.z2d(plan, static_cast<cufftDoubleComplex*>(in), static_cast<cufftDoubleReal*>(out));
    case CUFFT_Z2Z:
      return l.z2z(plan, static_cast<cufftDoubleComplex*>(in),
                   static_cast<cufftDoubleComplex*>(out), direction);
    default:
      return l.c2c(plan, static_cast<cufftComplex*>(in), static_cast<cufftComplex*>(out),
                   direction);
  }
}

}  // namespace

void cufft_transform(const Context& context, const FftShape& shape, const void* in, void* out,
                     bool forward) {
  const FftLibrary& l = fft_library();
  FftPlans& plans = FftPlans::instance();
  const std::lock_guard lock(plans.mutex());
  const RelaxedCapture relaxed;  // the library loads kernels and takes memory for a new plan
  const Device device(kCUDA, context.device);
  const FftPlan& plan = plans.get(l, context.device, shape, is_current_stream_capturing(device));
  const Scratch work(device, static_cast<int64_t>(plan.work_bytes()) + 256);
  const auto aligned = (reinterpret_cast<uintptr_t>(work.as<void>()) + 255) / 256 * 256;
  check_fft(l.set_stream(plan.handle(), context.stream));
  check_fft(l.set_work_area(plan.handle(), reinterpret_cast<void*>(aligned)));
  check_fft(run(l, plan.handle(), shape, const_cast<void*>(in), out, forward));
  context.launched("fft");
}

#else

void cufft_transform(const Context&, const FftShape&, const void*, void*, bool) {
  throw Error("Fourier transforms on cuda need cuFFT, which this build was made without");
}

#endif

}  // namespace taeda::gpu
