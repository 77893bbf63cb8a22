// Files of many small tensors: four times as many of them cost four times as many steps to load,
// not sixteen. Steps are counted, so that a busy machine does not decide.
#include <gtest/gtest.h>

#include "taeda/io/checkpoint.h"
#include "taeda/io/npy.h"
#include "taeda/io/pt_reader.h"
#include "taeda/io/sharded.h"
#include "taeda/io/zip_archive.h"
#include "taeda/ops/create/create.h"
#include "tests/io/counted.h"
#include "tests/io/temporary_folder.h"

namespace taeda::io {
namespace {

constexpr int kFew = 1500, kMany = 4 * kFew;
/// Ordered maps take a little more than four times the steps; what is quadratic takes sixteen.
constexpr double kMostGrowth = 6;

/// Names of one length with a long beginning in common, as modules have them: what compares each
/// with each does it in full.
std::map<std::string, Tensor> tensors_of(int count) {
  std::map<std::string, Tensor> out;
  for (int i = 0; i < count; ++i)
    out["network.layers." + std::to_string(100000 + i) + ".weight"] = full({2}, i);
  return out;
}

NamedTensors named(const std::map<std::string, Tensor>& tensors) {
  return {tensors.begin(), tensors.end()};
}

/// Loads what `write` wrote of few tensors and of many, and compares the steps.
template <class Write, class Load>
void expect_linear(Write&& write, Load&& load) {
  int64_t steps[2];
  for (const int count : {kFew, kMany}) {
    const TemporaryFolder folder;
    const std::string path = write(folder, tensors_of(count));
    const CountedSteps counted;
    EXPECT_EQ(load(path), static_cast<size_t>(count));
    steps[count == kMany] = counted.count();
  }
  if (steps[0] == 0) GTEST_SKIP() << "sanitizers count no steps";
  EXPECT_GE(steps[0], kFew) << "what is counted misses the work";
  EXPECT_LT(static_cast<double>(steps[1]), kMostGrowth * static_cast<double>(steps[0]));
}

TEST(ManyTensors, OfSafetensors) {
  expect_linear(
      [](const TemporaryFolder& folder, const auto& tensors) {
        save_safetensors(named(tensors), folder / "a.safetensors");
        return folder / "a.safetensors";
      },
      [](const std::string& path) {
        const auto file = SafeTensors::open(path);
        const size_t all = file.all().size();
        for (const std::string& name : file.keys()) file.get(name);
        return all;
      });
}

TEST(ManyTensors, OfShards) {
  expect_linear(
      [](const TemporaryFolder& folder, const auto& tensors) {
        Archive archive;
        for (const auto& [name, t] : tensors) archive.add(name, t);
        save_sharded(archive, folder / "a.index.json", 4096);
        return folder / "a.index.json";
      },
      [](const std::string& path) { return load_sharded(path).tensors.size(); });
}

TEST(ManyTensors, OfPt) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  expect_linear(
      [](const TemporaryFolder& folder, const auto& tensors) {
        Archive archive;
        for (const auto& [name, t] : tensors) archive.add(name, t);
        save_archive(archive, folder / "a.pt");
        return folder / "a.pt";
      },
      [](const std::string& path) { return load_pt(path).state_dict().size(); });
}

TEST(ManyTensors, OfNpz) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  expect_linear(
      [](const TemporaryFolder& folder, const auto& tensors) {
        save_npz(named(tensors), folder / "a.npz");
        return folder / "a.npz";
      },
      [](const std::string& path) { return load_npz(path).size(); });
}

TEST(ManyTensors, OfCheckpoints) {
  expect_linear(
      [](const TemporaryFolder& folder, const auto& tensors) {
        Checkpoint().put("state", tensors).save(folder / "checkpoint.safetensors");
        return folder / "checkpoint.safetensors";
      },
      [](const std::string& path) {
        std::map<std::string, Tensor> state;
        Checkpoint::load(path).get("state", state);
        return state.size();
      });
}

}  // namespace
}  // namespace taeda::io
