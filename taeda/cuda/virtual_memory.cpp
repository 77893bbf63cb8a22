// The driver's functions are asked for at run time, so that the plug-in needs no libcuda to load.
#include "taeda/cuda/virtual_memory.h"

#include <cuda.h>

#include <map>
#include <mutex>
#include <set>
#include <type_traits>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/cuda/context.h"

namespace taeda::inline v0_2::gpu {

namespace {

struct Driver {
  decltype(&cuDeviceGet) get_device;
  decltype(&cuDeviceGetAttribute) get_attribute;
  decltype(&cuMemGetAllocationGranularity) get_granularity;
  decltype(&cuMemAddressReserve) reserve;
  decltype(&cuMemAddressFree) unreserve;
  decltype(&cuMemCreate) create;
  decltype(&cuMemRelease) release;
  decltype(&cuMemMap) map;
  decltype(&cuMemUnmap) unmap;
  decltype(&cuMemSetAccess) set_access;
  decltype(&cuGetErrorString) error_string;

  /// False if the driver lacks one of them.
  bool load() {
    const auto find = [](auto& function, const char* name) {
      constexpr unsigned kSince = 10020;  // the release of CUDA that brought them
      void* found = nullptr;
      cudaDriverEntryPointQueryResult result{};
      const cudaError_t status =
          cudaGetDriverEntryPointByVersion(name, &found, kSince, cudaEnableDefault, &result);
      if (status != cudaSuccess) cudaGetLastError();
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
      return status == cudaSuccess && result == cudaDriverEntryPointSuccess && found;
    };
    return find(get_device, "cuDeviceGet") && find(get_attribute, "cuDeviceGetAttribute") &&
           find(get_granularity, "cuMemGetAllocationGranularity") &&
           find(reserve, "cuMemAddressReserve") && find(unreserve, "cuMemAddressFree") &&
           find(create, "cuMemCreate") && find(release, "cuMemRelease") && find(map, "cuMemMap") &&
           find(unmap, "cuMemUnmap") && find(set_access, "cuMemSetAccess") &&
           find(error_string, "cuGetErrorString");
  }
};

CUdeviceptr as_pointer(void* p) { return reinterpret_cast<CUdeviceptr>(p); }

CUmemAllocationProp property_of(int device) {
  CUmemAllocationProp property{};
  property.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  property.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  property.location.id = device;
  return property;
}

class DriverMemory final : public VirtualMemory {
 public:
  size_t granularity(int device) override {
    static const bool loaded = driver_.load();
    CUdevice handle = 0;
    int supported = 0;
    size_t bytes = 0;
    const CUmemAllocationProp property = property_of(device);
    if (!loaded) return 0;
    use_device(device);
    if (driver_.get_device(&handle, device) != CUDA_SUCCESS ||
        driver_.get_attribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                              handle) != CUDA_SUCCESS ||
        !supported ||
        driver_.get_granularity(&bytes, &property, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) !=
            CUDA_SUCCESS)
      return 0;
    return bytes;
  }

  void* reserve(int device, size_t bytes) override {
    use_device(device);
    const RelaxedCapture relaxed;
    CUdeviceptr p = 0;
    return driver_.reserve(&p, bytes, 0, 0, 0) == CUDA_SUCCESS ? reinterpret_cast<void*>(p)
                                                               : nullptr;
  }

  // At the end of the process the driver may be gone already, and the memory with it: what fails
  // when something is given back is not reported.
  void unreserve(int, void* p, size_t bytes) override { driver_.unreserve(as_pointer(p), bytes); }

  bool map(int device, void* p, size_t bytes) override {
    use_device(device);
    const RelaxedCapture relaxed;
    const CUmemAllocationProp property = property_of(device);
    CUmemGenericAllocationHandle memory = 0;
    const CUresult status = driver_.create(&memory, bytes, &property, 0);
    if (status == CUDA_ERROR_OUT_OF_MEMORY) return false;
    check(status, "taking memory from the device");
    const CUresult mapped = driver_.map(as_pointer(p), bytes, 0, memory, 0);
    driver_.release(memory);  // what is mapped lives until it is unmapped
    check(mapped, "mapping device memory");
    std::lock_guard lock(mutex_);
    std::vector<int> users(users_[device].begin(), users_[device].end());
    users.push_back(device);
    const CUresult allowed = allow(p, bytes, users);
    if (allowed != CUDA_SUCCESS) driver_.unmap(as_pointer(p), bytes);
    check(allowed, "allowing access to device memory");
    mapped_[device][p] = bytes;
    return true;
  }

  void unmap(int device, void* p, size_t bytes) override {
    const RelaxedCapture relaxed;
    std::lock_guard lock(mutex_);
    driver_.unmap(as_pointer(p), bytes);
    mapped_[device].erase(p);
  }

  void share(int owner, int user) {
    std::lock_guard lock(mutex_);
    if (!users_[owner].insert(user).second) return;
    for (const auto& [p, bytes] : mapped_[owner])
      check(allow(p, bytes, {user}), "allowing access to a peer's memory");
  }

 private:
  CUresult allow(void* p, size_t bytes, const std::vector<int>& users) const {
    std::vector<CUmemAccessDesc> access;
    for (int user : users)
      access.push_back({property_of(user).location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
    return driver_.set_access(as_pointer(p), bytes, access.data(), access.size());
  }
  void check(CUresult status, const char* what) const {
    if (status == CUDA_SUCCESS) return;
    const char* text = nullptr;
    driver_.error_string(status, &text);
    throw Error(detail::concat("CUDA error: ", text ? text : "unknown error", " (",
                               static_cast<int>(status), ") in ", what));
  }

  Driver driver_{};
  std::mutex mutex_;
  std::map<int, std::map<void*, size_t>> mapped_;  ///< by device
  std::map<int, std::set<int>> users_;             ///< other devices that reach a device's memory
};

DriverMemory& driver_memory() {
  static auto* memory = new DriverMemory;  // tensors may outlive static destruction
  return *memory;
}

}  // namespace

VirtualMemory* cuda_virtual_memory() { return &driver_memory(); }

void share_virtual_memory(int owner, int user) { driver_memory().share(owner, user); }

}  // namespace taeda::gpu
