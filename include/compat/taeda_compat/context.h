// at::globalContext(): switches of the process and questions about what it can do.
#pragma once

#include <taeda/device/allocator.h>
#include <taeda/device/backends.h>
#include <taeda/ops/create/determinism.h>
#include <taeda_compat/namespaces.h>

#include <string>
#include <string_view>

namespace taeda_compat {

/// How products of float matrices round their factors on an accelerator.
enum class Float32MatmulPrecision { HIGHEST, HIGH, MEDIUM };

/// The process's switches. What Taeda has one way of doing can be asked for and set to that way
/// alone; the setters throw Error for another.
class Context {
 public:
  /// The generator that operations on `device` use when they are given none.
  const Generator& defaultGenerator(Device device) const { return default_generator(device); }
  /// The accelerator on which `data` was pinned or the device of its type that is current.
  Device getDeviceFromPtr(void* data, DeviceType type) const {
    TAEDA_CHECK(data || type == kCPU, "getDeviceFromPtr expects an address");
    return type == kCPU ? Device(kCPU) : Device(type, current_device(type));
  }
  bool isPinnedPtr(void* data) const { return data && taeda::allocator::is_pinned(kCUDA, data); }
  bool hasCUDA() const { return cuda::is_available(); }
  bool hasMKL() const { return false; }
  bool hasLAPACK() const { return true; }

  /// Operations give the same bits every time already: sums have one order (docs/numerics.md).
  /// Switched on, libraries that are asked for their fastest algorithm are asked for one of those.
  bool deterministicAlgorithms() const { return taeda::are_deterministic_algorithms_enabled(); }
  bool deterministicAlgorithmsWarnOnly() const {
    return taeda::is_deterministic_algorithms_warn_only_enabled();
  }
  void setDeterministicAlgorithms(bool on, bool warn_only) {
    backends::cudnn::deterministic = on;
    taeda::use_deterministic_algorithms(on, warn_only);
  }
  bool deterministicFillUninitializedMemory() const { return taeda::fills_uninitialized_memory(); }
  void setDeterministicFillUninitializedMemory(bool on) { set_fill_uninitialized_memory(on); }
  static void alertNotDeterministic(const std::string_view& /*caller*/) {}

  bool allowTF32CuBLAS() const { return backends::cuda::matmul::allow_tf32; }
  void setAllowTF32CuBLAS(bool on) { backends::cuda::matmul::allow_tf32 = on; }
  bool allowTF32CuDNN() const { return backends::cudnn::allow_tf32; }
  void setAllowTF32CuDNN(bool on) { backends::cudnn::allow_tf32 = on; }
  bool benchmarkCuDNN() const { return backends::cudnn::benchmark; }
  void setBenchmarkCuDNN(bool on) { backends::cudnn::benchmark = on; }
  bool deterministicCuDNN() const { return backends::cudnn::deterministic; }
  void setDeterministicCuDNN(bool on) { backends::cudnn::deterministic = on; }
  bool userEnabledCuDNN() const { return backends::cudnn::enabled; }
  void setUserEnabledCuDNN(bool on) { backends::cudnn::enabled = on; }
  Float32MatmulPrecision float32MatmulPrecision() const {
    const std::string word = get_float32_matmul_precision();
    return word == "highest" ? Float32MatmulPrecision::HIGHEST
           : word == "high"  ? Float32MatmulPrecision::HIGH
                             : Float32MatmulPrecision::MEDIUM;
  }
  void setFloat32MatmulPrecision(Float32MatmulPrecision precision) {
    const char* const words[] = {"highest", "high", "medium"};
    set_float32_matmul_precision(words[static_cast<int>(precision)]);
  }
  void setFloat32MatmulPrecision(const std::string& word) { set_float32_matmul_precision(word); }

  /// Attention by one kernel; where it does not fit it is composed of products and softmax.
  bool userEnabledFlashSDP() const { return true; }
  bool userEnabledMathSDP() const { return true; }
  void setSDPUseFlash(bool on) { only(on, "setSDPUseFlash"); }
  void setSDPUseMath(bool on) { only(on, "setSDPUseMath"); }
  /// Weights are never packed in advance.
  bool releaseWeightsWhenPrepacking() const { return false; }
  void setReleaseWeightsWhenPrepacking(bool /*on*/) {}
  /// Whether numbers below the normal ones are now made zero: they never are.
  bool setFlushDenormal(bool on) { return !on; }

 private:
  static void only(bool on, const char* what) {
    TAEDA_CHECK_NOT_IMPLEMENTED(on, what, "(false): there is no other way to compute it");
  }
};

inline Context& globalContext() {
  static Context context;
  return context;
}
/// Starts nothing: what is needed is started when it is first asked for.
inline void init() {}
inline bool hasCUDA() { return cuda::is_available(); }
inline bool hasMKL() { return globalContext().hasMKL(); }
inline bool hasLAPACK() { return globalContext().hasLAPACK(); }

/// What make_generator makes: a generator of the CPU with a seed.
struct CPUGeneratorImpl {
  static Generator make(uint64_t seed = default_rng_seed_val) { return Generator(kCPU, seed); }
  static constexpr uint64_t default_rng_seed_val = 67280421310721;
};
/// make_generator<CPUGeneratorImpl>(seed): a generator of one's own.
template <class Impl, class... Args>
Generator make_generator(Args... arguments) {
  return Impl::make(arguments...);
}
inline size_t getNumGPUs() { return static_cast<size_t>(cuda::device_count()); }

}  // namespace taeda_compat
