// Ranks of a test as threads of this program, each with a device: a simulated one and NCCL's
// functions for it or, with TAEDA_TEST_DEVICE=cuda, a GPU and NCCL.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "taeda/device/registry.h"
#include "taeda/device/sim.h"
#include "taeda/distributed/group/process_group.h"
#include "taeda/distributed/store/hash_store.h"
#include "tests/distributed/nccl/simulated/control.h"
#include "tests/variable.h"

namespace taeda {

/// The library that takes NCCL's place: loaded first, it is found under the name.
class SimulatedNccl {
 public:
  SimulatedNccl() : library_(dlopen(TAEDA_SIMULATED_NCCL, RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) throw std::runtime_error(dlerror());
  }
  NcclCounts counts() const { return call<NcclCounts (*)()>("taeda_nccl_counts")(); }
  void fail_next(const char* function) const {
    call<void (*)(const char*)>("taeda_nccl_fail_next")(function);
  }
  void lose(int rank) const { call<void (*)(int)>("taeda_nccl_lose")(rank); }

 private:
  template <class F>
  F call(const char* name) const {
    return reinterpret_cast<F>(dlsym(library_, name));
  }
  void* library_;
};

class NcclTest : public testing::Test {
 protected:
  using Group = distributed::ProcessGroup;

  static DeviceType type() {
    const char* const name = std::getenv("TAEDA_TEST_DEVICE");
    return name && std::string(name) == "cuda" ? kCUDA : kSim;
  }
  static Device device_of(const Group& g) { return Device(type(), g.rank()); }
  /// How many ranks there can be.
  static int ranks() { return std::min(device_count(type()), 3); }

  void SetUp() override {
    if (type() == kSim) {
      nccl_.emplace();
      sim::configure(3);
    } else if (!dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL)) {
      GTEST_SKIP() << "libnccl.so.2 is not installed";
    } else if (ranks() == 0) {
      GTEST_SKIP() << "there is no GPU";
    }
  }

  /// What each of `size` ranks' f(group), on its own device, says when it fails; "no error" where
  /// it does not. `store_of` makes a rank's own store of the common one.
  std::vector<std::string> run(
      int size, const std::function<void(Group&)>& f, Group::Options options = {},
      const std::function<distributed::StorePtr(distributed::StorePtr, int)>& store_of = {}) {
    const auto store = std::make_shared<distributed::HashStore>();
    std::vector<std::string> errors(static_cast<size_t>(size), "no error");
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        try {
          set_device(Device(type(), rank));
          const auto group =
              Group::create("nccl", store_of ? store_of(store, rank) : store, rank, size, options);
          f(*group);
        } catch (const std::exception& e) {
          errors[static_cast<size_t>(rank)] = e.what();
        }
      });
    for (std::thread& t : threads) t.join();
    return errors;
  }

  const Variable not_as_cuda_{"TAEDA_SIM_AS_CUDA", std::nullopt};
  std::optional<SimulatedNccl> nccl_;
};

/// For what NCCL alone cannot show: streams that are held back, failures on demand.
class SimulatedNcclTest : public NcclTest {
 protected:
  void SetUp() override {
    if (type() != kSim) GTEST_SKIP() << "about simulated devices";
    NcclTest::SetUp();
  }
};

/// For what takes more than one rank.
class NcclOfTwo : public NcclTest {
 protected:
  void SetUp() override {
    NcclTest::SetUp();
    if (!IsSkipped() && ranks() < 2) GTEST_SKIP() << "needs two devices";
  }
};

}  // namespace taeda
