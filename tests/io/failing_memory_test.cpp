// Saves and loads while memory runs out, at each allocation that they make, of tensors and of what
// is around them: a save leaves the file that was there, a load changes everything or nothing.
#include "tests/failing_memory.h"

#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <sstream>

#include "taeda/amp/grad_scaler.h"
#include "taeda/device/caching_allocator.h"
#include "taeda/device/registry.h"
#include "taeda/io/checkpoint.h"
#include "taeda/io/npy.h"
#include "taeda/io/pt_reader.h"
#include "taeda/io/sharded.h"
#include "taeda/io/zip_archive.h"
#include "taeda/sim/memory.h"
#include "taeda/taeda.h"
#include "tests/device/fake_backend.h"
#include "tests/io/counted.h"
#include "tests/io/temporary_folder.h"

namespace taeda::io {
namespace {

using Folder = std::map<std::string, std::string>;  // contents by name

Folder snapshot(const TemporaryFolder& folder) {
  Folder out;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    out[entry.path().filename().string()] = contents(entry.path().string());
  return out;
}

void expect_same(const Folder& now, const Folder& then) {
  for (const auto& [name, content] : now) {
    EXPECT_TRUE(then.contains(name)) << name << " is left";
    if (then.contains(name)) {
      EXPECT_TRUE(content == then.at(name)) << name << " has another content";
    }
  }
  EXPECT_GE(now.size(), then.size());
}

/// As fail_each, of what the standard library asks for.
int64_t fail_each_new(const std::function<void()>& attempt,
                      const std::function<void()>& unchanged) {
  for (int64_t n = 1; n < 20'000; ++n) {
    SCOPED_TRACE(testing::Message() << "allocation " << n << " by new fails");
    try {
      const FailingNew failing(n);
      attempt();
      return n - 1;
    } catch (const OutOfMemoryError&) {
    } catch (const std::bad_alloc&) {
    } catch (const std::exception& e) {
      ADD_FAILURE() << "memory that ran out is called: " << e.what();
      return n;
    }
    unchanged();
  }
  ADD_FAILURE() << "it never goes through";
  return 0;
}

/// Each kind of memory in turn. An attempt that goes through ends its turn, so `prepare` comes
/// before each.
int64_t fail_everything(Device device, const std::function<void()>& prepare,
                        const std::function<void()>& attempt,
                        const std::function<void()>& unchanged, const std::function<void()>& done) {
  int64_t failures = 0;
  prepare();
  failures += fail_each<FailingAllocation>(attempt, unchanged, device);
  done();
  if (device.type() != kCPU) {
    prepare();
    failures += fail_each<FailingAllocation>(attempt, unchanged, Device(kCPU));
    done();
  }
  prepare();
  failures += fail_each<FailingBlock>(attempt, unchanged);
  done();
  prepare();
  failures += fail_each_new(attempt, unchanged);
  done();
  return failures;
}

TEST(FailingMemory, AFreeDoesNotFailAndTheNextGivesBackWhatItCouldNot) {
  FakeBackend device;
  taeda::detail::CachingAllocator a(device, 0, 0);  // caches nothing
  void* p = a.allocate(1000, 0, nullptr);
  {
    const FailingNew failing(1);
    a.deallocate(p);
  }
  a.deallocate(a.allocate(1000, 0, nullptr));
  EXPECT_EQ(device.used, 0u);
  EXPECT_EQ(a.stats().reserved, 0);
}

TEST(FailingMemory, AnAllocationThatFailsLeavesNothingBehind) {
  for (int64_t n = 1; n < 8; ++n) {
    FakeBackend device;
    taeda::detail::CachingAllocator a(device, 0, ~size_t{0});
    try {
      const FailingNew failing(n);
      a.deallocate(a.allocate(1000, 0, nullptr));
    } catch (const std::bad_alloc&) {
    }
    EXPECT_EQ(a.stats().allocated, 0) << n;
    a.empty_cache();
    EXPECT_EQ(device.used, 0u) << n;
  }
}

TEST(FailingMemory, ASimulatedDeviceLosesNoneOfItsOwn) {
  sim::Memory memory(Device(kSim, 0), size_t{1} << 20);
  for (int64_t n = 1; n < 4; ++n) {
    try {
      const FailingNew failing(n);
      if (void* p = memory.allocate(4096)) memory.deallocate(p, 4096);
    } catch (const std::bad_alloc&) {
    }
    EXPECT_EQ(memory.used(), 0u) << n;
  }
  EXPECT_NE(memory.allocate(size_t{1} << 20), nullptr);
}

/// All bits of a state.
template <class T>
std::string bits_of(const T& value) {
  Archive archive;
  pack(archive, "", value);
  std::string out;
  for (const auto& [name, tensor] : archive.tensors) {
    const Tensor t = tensor.detach().cpu().contiguous();
    out += name + dtype_name(t.dtype());
    out.append(static_cast<const char*>(t.data_ptr()), static_cast<size_t>(t.nbytes()));
  }
  for (const auto& [name, text] : archive.metadata) out += name + text;
  return out;
}

/// A training's parts after some steps; tensors are larger than what a storage keeps in itself.
struct Training {
  Training(Device device, int steps) {
    manual_seed(7);
    net->to(device);
    for (int i = 0; i < steps; ++i) {
      optimizer.zero_grad();
      net->forward(ones({2, 20}, device)).sum().backward();
      optimizer.step();
      schedule.step();
    }
  }
  std::string bits() const { return bits_of(net) + bits_of(optimizer) + bits_of(schedule); }
  nn::Sequential net{nn::Linear(20, 15), nn::Linear(15, 10)};
  optim::Adam optimizer{net->parameters(), optim::AdamOptions(0.1)};
  optim::StepLR schedule{optimizer, 2};
};

class FailingMemoryOfFiles : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (device_.type() == kSim && device_count(kSim) == 0) GTEST_SKIP() << "no simulated device";
  }
  const Device device_{GetParam()};
};

/// Writes the first content, then the second while memory runs out.
void check_save(Device device, const std::string& name,
                const std::function<void(const std::string&)>& first,
                const std::function<void(const std::string&)>& second) {
  SCOPED_TRACE(name);
  const TemporaryFolder folder, wanted;
  second(wanted / name);
  const Folder want = snapshot(wanted);
  Folder old;
  const auto prepare = [&] {
    first(folder / name);
    old = snapshot(folder);
  };
  const auto attempt = [&] { second(folder / name); };
  const int64_t before = bytes_in_use(device);
  const int64_t failures = fail_everything(
      device, prepare, attempt,
      [&] {
        expect_same(snapshot(folder), old);
        EXPECT_EQ(bytes_in_use(device), before);
      },
      [&] { expect_same(snapshot(folder), want); });
  EXPECT_GT(failures, 0);
}

TEST_P(FailingMemoryOfFiles, ASaveThatFailedLeavesTheOldFile) {
  const Training a(device_, 1), b(device_, 2);
  const auto save_net = [](const Training& t) {
    return [&t](const std::string& path) { save(t.net, path); };
  };
  for (const char* name : {"net.safetensors", "net.pt", "net.npz"})
    if (has_zip() || std::string(name).ends_with("rs"))
      check_save(device_, name, save_net(a), save_net(b));
  const auto save_weight = [](const Training& t) {
    return [weight = t.net->parameters()[0]](const std::string& path) { save(weight, path); };
  };
  check_save(device_, "weight.npy", save_weight(a), save_weight(b));
  const auto save_all = [](const Training& t) {
    return [&t](const std::string& path) {
      Checkpoint c;
      c.put("net", t.net).put("optimizer", t.optimizer).put("schedule", t.schedule).set("epoch", 3);
      c.save(path);
    };
  };
  check_save(device_, "checkpoint.safetensors", save_all(a), save_all(b));
  if (has_zip()) check_save(device_, "checkpoint.pt", save_all(a), save_all(b));
  if (!has_zip()) return;
  const auto save_compressed = [](const Training& t) {
    return [&t](const std::string& path) {
      NamedTensors list;
      for (const auto& item : t.net->state_dict()) list.emplace_back(item.key(), item.value());
      save_npz(list, path, /*compressed=*/true);
    };
  };
  check_save(device_, "compressed.npz", save_compressed(a), save_compressed(b));
}

/// Shards are replaced one by one, each whole or not at all; under a new name an index comes last.
TEST_P(FailingMemoryOfFiles, AnIndexOfShardsComesLast) {
  const Training training(device_, 1);
  Archive archive;
  pack(archive, "", training.net);
  const TemporaryFolder folder;
  const std::string index = folder / "net.index.json";
  const auto attempt = [&] { save_sharded(archive, index, 700); };
  fail_everything(
      device_,
      [&] {
        for (const auto& [name, content] : snapshot(folder)) std::filesystem::remove(folder / name);
      },
      attempt,
      [&] {
        for (const auto& [name, content] : snapshot(folder)) {
          EXPECT_FALSE(name.ends_with("json") || name.ends_with("~")) << name;
          EXPECT_NO_THROW(load_archive(folder / name));
        }
      },
      [&] { EXPECT_EQ(load_archive(index).tensors.size(), archive.tensors.size()); });
}

/// Loads while memory runs out; `bits` are those of what is loaded into.
void check_load(Device device, const std::string& name, const std::function<void()>& prepare,
                const std::function<void()>& load_it, const std::function<std::string()>& bits) {
  SCOPED_TRACE(name);
  prepare();
  load_it();
  const std::string want = bits();
  std::string old;
  int64_t before = 0;
  const auto remember = [&] {
    prepare();
    old = bits();
    before = bytes_in_use(device);
    EXPECT_NE(old, want);
  };
  const int64_t failures = fail_everything(
      device, remember, load_it,
      [&] {
        EXPECT_TRUE(bits() == old) << "half of it was loaded";
        EXPECT_EQ(bytes_in_use(device), before);
      },
      [&] { EXPECT_TRUE(bits() == want); });
  EXPECT_GT(failures, 0);
}

TEST_P(FailingMemoryOfFiles, ALoadChangesEverythingOrNothing) {
  const TemporaryFolder folder;
  const Training source(device_, 3);
  std::unique_ptr<Training> target;
  const auto prepare = [&] { target = std::make_unique<Training>(device_, 1); };
  for (const char* name : {"net.safetensors", "net.pt", "net.npz", "net.index.json"}) {
    if (!has_zip() && (std::string(name) == "net.pt" || std::string(name) == "net.npz")) continue;
    const std::string path = folder / name;
    save(source.net, path);
    check_load(
        device_, name, prepare, [&] { load(target->net, path); },
        [&] { return bits_of(target->net); });
  }
  Checkpoint all;
  all.put("net", source.net).put("optimizer", source.optimizer).put("schedule", source.schedule);
  for (const char* name : {"all.safetensors", "all.pt"}) {
    if (!has_zip() && std::string(name) == "all.pt") continue;
    const std::string path = folder / name;
    all.save(path);
    const std::string trace = std::string(name) + ", ";
    const auto all_bits = [&] { return target->bits(); };
    check_load(
        device_, trace + "net", prepare, [&] { Checkpoint::load(path).get("net", target->net); },
        all_bits);
    check_load(
        device_, trace + "optimizer", prepare,
        [&] { Checkpoint::load(path).get("optimizer", target->optimizer); }, all_bits);
    check_load(
        device_, trace + "schedule", prepare,
        [&] { Checkpoint::load(path).get("schedule", target->schedule); }, all_bits);
  }
}

TEST_P(FailingMemoryOfFiles, TensorsListsAndMapsAreLoadedWholeOrNotAtAll) {
  if (device_.type() != kCPU) GTEST_SKIP() << "what is loaded lies on the CPU";
  const TemporaryFolder folder;
  const Training source(device_, 3);
  const Tensor weight = source.net->parameters()[0].detach();
  Tensor tensor;
  std::vector<Tensor> list;
  std::map<std::string, Tensor> map;
  const auto prepare = [&] {
    tensor = full({20}, 1.5);
    list = {full({20}, 1.5)};
    map = {{"a", full({20}, 1.5)}, {"b", full({20}, 2.5)}};
  };
  for (const char* ending : {".safetensors", ".pt", ".npz", ".npy"}) {
    const std::string name = ending;
    if (!has_zip() && (name == ".pt" || name == ".npz")) continue;
    const std::string one = folder / ("one" + name), more = folder / ("more" + name);
    save(weight, one);
    check_load(
        device_, "tensor" + name, prepare, [&] { load(tensor, one); },
        [&] { return bits_of(tensor); });
    if (name == ".npy") continue;
    save(std::vector<Tensor>{weight, ones({30})}, more);
    check_load(
        device_, "list" + name, prepare, [&] { load(list, more); }, [&] { return bits_of(list); });
    check_load(
        device_, "map" + name, prepare, [&] { load(map, more); }, [&] { return bits_of(map); });
  }
  std::ostringstream out;
  save(weight, out);
  check_load(
      device_, "stream", prepare,
      [&] {
        std::istringstream in(out.str());
        load(tensor, in);
      },
      [&] { return bits_of(tensor); });
}

INSTANTIATE_TEST_SUITE_P(, FailingMemoryOfFiles, testing::Values("cpu", "sim:0"),
                         [](const auto& info) { return std::string(info.param).substr(0, 3); });

}  // namespace
}  // namespace taeda::io
