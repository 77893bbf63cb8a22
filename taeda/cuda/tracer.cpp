#include "taeda/cuda/tracer.h"

#include <string>
#include <vector>

#if __has_include(<cupti.h>)
#include <cupti.h>
#endif

#if defined(CUPTI_API_VERSION) && CUPTI_API_VERSION >= 130000
#define TAEDA_HAS_CUPTI 1
#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "taeda/cuda/context.h"
#include "taeda/cuda/shared_library.h"
#include "taeda/device/registry.h"
#endif

namespace taeda::inline v0_2::gpu {

namespace {

#if defined(TAEDA_HAS_CUPTI)

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr size_t kMaxRecords = size_t{1} << 20;
constexpr CUpti_ExternalCorrelationKind kOurNumbers = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                         CUPTI_ACTIVITY_KIND_RUNTIME,
                                         CUPTI_ACTIVITY_KIND_DRIVER,
                                         CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMCPY2,
                                         CUPTI_ACTIVITY_KIND_MEMSET};

/// The functions used.
struct Library {
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks;
  decltype(&cuptiActivityEnable) enable;
  decltype(&cuptiActivityDisable) disable;
  decltype(&cuptiActivityFlushAll) flush_all;
  decltype(&cuptiActivityGetNextRecord) next_record;
  decltype(&cuptiActivityPushExternalCorrelationId) push;
  decltype(&cuptiActivityPopExternalCorrelationId) pop;
  decltype(&cuptiGetTimestamp) timestamp;
  decltype(&cuptiGetResultString) result_string;

  bool load() {
    const std::string name = "libcupti.so." + std::to_string(CUPTI_API_VERSION / 10000);
    const std::string own = "/usr/local/cuda/lib64/" + name,
                      extra = "/usr/local/cuda/extras/CUPTI/lib64/" + name;
    const SharedLibrary library{name.c_str(), own.c_str(), extra.c_str()};
    return library.load(register_callbacks, "cuptiActivityRegisterCallbacks") &&
           library.load(enable, "cuptiActivityEnable") &&
           library.load(disable, "cuptiActivityDisable") &&
           library.load(flush_all, "cuptiActivityFlushAll") &&
           library.load(next_record, "cuptiActivityGetNextRecord") &&
           library.load(push, "cuptiActivityPushExternalCorrelationId") &&
           library.load(pop, "cuptiActivityPopExternalCorrelationId") &&
           library.load(timestamp, "cuptiGetTimestamp") &&
           library.load(result_string, "cuptiGetResultString");
  }
};

/// The loaded library, or null.
const Library* library() {
  static const std::unique_ptr<Library> loaded = [] {
    auto l = std::make_unique<Library>();
    if (!l->load()) l.reset();
    return l;
  }();
  return loaded.get();
}

const char* copy_name(uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD: return "Memcpy HtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH: return "Memcpy DtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD: return "Memcpy DtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH: return "Memcpy HtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP: return "Memcpy PtoP";
    default: return "Memcpy";
  }
}

class CuptiTracer final : public tracing::DeviceTracer {
 public:
  std::string start() override {
    const Library* l = library();
    if (!l) return "CUPTI (libcupti.so) was not found";
    std::lock_guard lock(mutex_);
    forget();
    CUptiResult status = CUPTI_SUCCESS;
    if (!std::exchange(registered_, true)) status = l->register_callbacks(give_buffer, take_buffer);
    for (CUpti_ActivityKind kind : kKinds)
      if (status == CUPTI_SUCCESS) status = l->enable(kind);
    uint64_t time = 0;
    if (status == CUPTI_SUCCESS) status = l->timestamp(&time);
    if (status == CUPTI_SUCCESS) {
      to_steady_clock_ = tracing::now() - static_cast<int64_t>(time);
      return "";
    }
    for (CUpti_ActivityKind kind : kKinds) l->disable(kind);
    const char* text = nullptr;
    l->result_string(status, &text);
    return std::string("CUPTI refuses: ") + (text ? text : "unknown error");
  }

  std::vector<tracing::Record> stop() override {
    const Library& l = *library();
    wait_for_devices();
    l.flush_all(0);
    for (CUpti_ActivityKind kind : kKinds) l.disable(kind);
    std::lock_guard lock(mutex_);
    for (Work& w : work_) {
      if (const auto api = apis_.find(w.correlation); api != apis_.end())
        w.record.launch_time = api->second;
      if (const auto owner = owners_.find(w.correlation); owner != owners_.end())
        w.record.owner = owner->second;
    }
    std::vector<tracing::Record> out;
    out.reserve(work_.size());
    for (const Work& w : work_) out.push_back(w.record);
    return out;
  }

  uint64_t dropped() const override {
    std::lock_guard lock(mutex_);
    return dropped_;
  }
  void push(uint64_t span_id) override { library()->push(kOurNumbers, span_id); }
  void pop() override { library()->pop(kOurNumbers, nullptr); }

 private:
  struct Work {
    tracing::Record record;
    uint32_t correlation;
  };

  void forget() {
    work_.clear();
    apis_.clear();
    owners_.clear();
    names_.clear();
    dropped_ = 0;
  }

  /// Those with memory in use or cached: others have nothing to do. An error stays with the device,
  /// for the next call that waits for it.
  static void wait_for_devices() {
    for (int i = 0; i < device_count(kCUDA); ++i) {
      if (allocator::memory_stats(Device(kCUDA, i)).reserved == 0) continue;
      use_device(i);
      cudaDeviceSynchronize();
    }
  }

  static void CUPTIAPI give_buffer(uint8_t** buffer, size_t* size, size_t* records) {
    *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
    *size = *buffer ? kBufferBytes : 0;
    *records = 0;  // as many as fit
  }

  static void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t filled) {
    static_cast<CuptiTracer*>(cupti_tracer())->read(buffer, filled);
    std::free(buffer);
  }

  void read(uint8_t* buffer, size_t filled) {
    std::lock_guard lock(mutex_);
    CUpti_Activity* activity = nullptr;
    while (library()->next_record(buffer, filled, &activity) == CUPTI_SUCCESS) read(*activity);
  }

  void read(const CUpti_Activity& activity) {
    switch (activity.kind) {
      case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
        const auto& a = reinterpret_cast<const CUpti_ActivityExternalCorrelation&>(activity);
        if (a.externalKind == kOurNumbers) owners_[a.correlationId] = a.externalId;
        break;
      }
      case CUPTI_ACTIVITY_KIND_RUNTIME:
      case CUPTI_ACTIVITY_KIND_DRIVER: {
        const auto& a = reinterpret_cast<const CUpti_ActivityAPI&>(activity);
        apis_.try_emplace(a.correlationId, steady(a.start));
        break;
      }
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      case CUPTI_ACTIVITY_KIND_KERNEL: {
        const auto& a = reinterpret_cast<const CUpti_ActivityKernel10&>(activity);
        add(a, demangled(a.name), 0);
        break;
      }
      case CUPTI_ACTIVITY_KIND_MEMCPY: {
        const auto& a = reinterpret_cast<const CUpti_ActivityMemcpy6&>(activity);
        add(a, copy_name(a.copyKind), a.bytes);
        break;
      }
      case CUPTI_ACTIVITY_KIND_MEMCPY2: {
        const auto& a = reinterpret_cast<const CUpti_ActivityMemcpyPtoP4&>(activity);
        add(a, copy_name(a.copyKind), a.bytes);
        break;
      }
      case CUPTI_ACTIVITY_KIND_MEMSET: {
        const auto& a = reinterpret_cast<const CUpti_ActivityMemset4&>(activity);
        add(a, "Memset", a.bytes);
        break;
      }
      default: break;
    }
  }

  template <class Activity>
  void add(const Activity& a, const char* name, uint64_t bytes) {
    if (work_.size() == kMaxRecords) {
      ++dropped_;
      return;
    }
    Work& w = work_.emplace_back();
    w.correlation = a.correlationId;
    w.record.kind = tracing::Kind::DeviceWork;
    w.record.device = Device(kCUDA, static_cast<int>(a.deviceId));
    w.record.name = name;
    w.record.start = steady(a.start);
    w.record.end = steady(a.end);
    w.record.stream = a.streamId;
    w.record.bytes = static_cast<int64_t>(bytes);
  }

  /// Stays until the next start.
  const char* demangled(const char* name) {
    if (!name) return "kernel";
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(
        abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
    return names_.emplace(status == 0 ? text.get() : name).first->c_str();
  }

  int64_t steady(uint64_t cupti_time) const {
    return static_cast<int64_t>(cupti_time) + to_steady_clock_;
  }

  mutable std::mutex mutex_;
  bool registered_ = false;
  int64_t to_steady_clock_ = 0;
  uint64_t dropped_ = 0;
  std::vector<Work> work_;
  std::unordered_map<uint32_t, int64_t> apis_;     ///< correlation to the time of the launch
  std::unordered_map<uint32_t, uint64_t> owners_;  ///< correlation to the operation
  std::unordered_set<std::string> names_;
};

#else

class CuptiTracer final : public tracing::DeviceTracer {
 public:
  std::string start() override { return "this build was made without the CUPTI of CUDA 13"; }
  std::vector<tracing::Record> stop() override { return {}; }
  uint64_t dropped() const override { return 0; }
  void push(uint64_t) override {}
  void pop() override {}
};

#endif

}  // namespace

tracing::DeviceTracer* cupti_tracer() {
  static auto* tracer = new CuptiTracer;  // CUPTI may call until the process ends
  return tracer;
}

}  // namespace taeda::gpu
