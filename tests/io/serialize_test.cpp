#include "taeda/io/serialize.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "taeda/base/ordered_dict.h"
#include "taeda/io/checkpoint.h"
#include "taeda/io/zip_archive.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/taeda.h"
#include "tests/error_of.h"
#include "tests/io/full_disk.h"
#include "tests/io/temporary_folder.h"

namespace taeda::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<float> values(const Tensor& t) {
  return {t.data_ptr<float>(), t.data_ptr<float>() + t.numel()};
}

TEST(Serialize, TensorsListsAndMapsThroughFilesAndStreams) {
  const TemporaryFolder folder;
  const Tensor a = full({2}, 1.5), b = full({1}, -2.0);

  save(a, folder / "tensor");
  Tensor tensor;
  load(tensor, folder / "tensor");
  EXPECT_THAT(values(tensor), ElementsAre(1.5f, 1.5f));

  std::stringstream stream;
  save(std::vector<Tensor>{a, b}, stream);
  std::vector<Tensor> list;
  load(list, stream);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_THAT(values(list[1]), ElementsAre(-2.f));

  save(std::map<std::string, Tensor>{{"x", a}, {"y", b}}, folder / "map");
  std::map<std::string, Tensor> map;
  load(map, folder / "map");
  EXPECT_THAT(values(map.at("y")), ElementsAre(-2.f));
  EXPECT_THAT(error_of([&] { load(tensor, folder / "map"); }),
              HasSubstr("no tensor named 'tensor' was saved; there are: x, y"));
  EXPECT_THAT(error_of([&] { load(list, folder / "map"); }), HasSubstr("no tensor named '0'"));
  EXPECT_EQ(list.size(), 2u) << "a failed load changes nothing";
}

/// As most programs write it.
TEST(Serialize, APathMayBeALiteral) {
  const TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder / "");
  taeda::save(full({2}, 1.5), "tensor.pt");
  Tensor tensor;
  taeda::load(tensor, "tensor.pt");
  std::filesystem::current_path(before);
  EXPECT_THAT(values(tensor), ElementsAre(1.5f, 1.5f));
}

TEST(Serialize, LongListsKeepTheirOrder) {
  std::vector<Tensor> list, back;
  for (int i = 0; i < 12; ++i) list.push_back(full({1}, i, i % 2 ? kFloat : kDouble));
  std::stringstream stream;
  save(list, stream);
  load(back, stream);
  ASSERT_EQ(back.size(), 12u);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(back[static_cast<size_t>(i)].item<int>(), i);
}

/// What was saved in turn loads in turn, and what follows is left to the program.
TEST(Serialize, SeveralThingsInOneStream) {
  std::stringstream stream;
  for (int i = 0; i < 3; ++i) save(full({2}, i), stream);
  save(std::vector<Tensor>{ones({1}), zeros({0})}, stream);
  stream << "the rest";
  for (int i = 0; i < 3; ++i) {
    Tensor tensor;
    load(tensor, stream);
    EXPECT_EQ(tensor[0].item<int>(), i);
  }
  std::vector<Tensor> list;
  load(list, stream);
  EXPECT_EQ(list.size(), 2u);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), "the rest");
  Tensor none;
  EXPECT_THAT(error_of([&] { load(none, stream); }), HasSubstr("it has 0 bytes"));
}

/// Python's files, one behind the other: the first is what the path names, a stream gives all.
TEST(Serialize, SeveralFilesOfPythonInOne) {
  if (!io::has_zip()) GTEST_SKIP() << "no libzip";
  const TemporaryFolder folder;
  std::string bytes;
  for (int i = 0; i < 3; ++i) {
    save(full({2}, i), folder / "one.pt");
    std::ifstream file(folder / "one.pt", std::ios::binary);
    bytes.append(std::istreambuf_iterator<char>(file), {});
  }
  std::ofstream(folder / "all.pt", std::ios::binary) << bytes;
  Tensor tensor;
  load(tensor, folder / "all.pt");
  EXPECT_EQ(tensor[0].item<int>(), 0);
  std::istringstream stream(bytes);
  for (int i = 0; i < 3; ++i) {
    load(tensor, stream);
    EXPECT_EQ(tensor[0].item<int>(), i);
  }
  // A damaged one does not become the next.
  bytes.replace(bytes.find("PK\5\6"), 4, "none");
  std::ofstream(folder / "all.pt", std::ios::binary) << bytes;
  EXPECT_THAT(error_of([&] { load(tensor, folder / "all.pt"); }), HasSubstr("cut off or damaged"));
}

TEST(Serialize, ADamagedStreamIsRefused) {
  std::stringstream stream("nonsense");
  Tensor t;
  EXPECT_THAT(error_of([&] { load(t, stream); }),
              HasSubstr("the stream is no valid safetensors file"));
}

/// Has the state of a module: a dictionary of tensors, loaded strictly.
struct FakeModule {
  OrderedDict<std::string, Tensor> state{{"w", full({2}, 1.0)}, {"b", full({1}, 2.0)}};
  OrderedDict<std::string, Tensor> state_dict() const { return state; }
  void load_state_dict(const OrderedDict<std::string, Tensor>& other) {
    for (const auto& item : state)
      TAEDA_CHECK(other.contains(item.key()), "Missing key: ", item.key());
    state = other;
  }
};

struct FakeOptimizer {
  struct State {
    OrderedDict<std::string, Tensor> tensors;
    OrderedDict<std::string, double> numbers;
  };
  State state;
  State state_dict() const { return state; }
  void load_state_dict(const State& other) { state = other; }
};

struct FakeSchedule {
  OrderedDict<std::string, double> state;
  OrderedDict<std::string, double> state_dict() const { return state; }
  void load_state_dict(const OrderedDict<std::string, double>& other) { state = other; }
};

TEST(Serialize, WhateverHasAStateDict) {
  const TemporaryFolder folder;
  const FakeModule module;
  save(module, folder / "m");
  EXPECT_THAT(SafeTensors::open(folder / "m").keys(), ElementsAre("w", "b"))
      << "the names are the module's own";
  auto other = std::make_shared<FakeModule>();
  other->state["w"] = full({2}, 7.0);
  load(other, folder / "m");
  EXPECT_THAT(values(other->state["w"]), ElementsAre(1.f, 1.f));
  save(full({1}, 1.0), folder / "t");
  EXPECT_EQ(error_of([&] { load(other, folder / "t"); }), "Missing key: w");

  FakeOptimizer optimizer, optimizer2;
  optimizer.state.tensors.insert("exp_avg", full({1}, 3.0));
  optimizer.state.numbers.insert("step", 4);
  FakeSchedule schedule, schedule2;
  schedule.state.insert("last_epoch", 5);
  Checkpoint().put("o", optimizer).put("s", schedule).save(folder / "c");
  const Checkpoint c = Checkpoint::load(folder / "c");
  c.get("o", optimizer2);
  c.get("s", schedule2);
  EXPECT_THAT(values(optimizer2.state.tensors["exp_avg"]), ElementsAre(3.f));
  EXPECT_EQ(optimizer2.state.numbers["step"], 4);
  EXPECT_EQ(schedule2.state["last_epoch"], 5);
}

TEST(Checkpoint, KeepsSectionsNumbersAndTexts) {
  const TemporaryFolder folder;
  const std::string path = folder / "c";
  Checkpoint c;
  c.put("a", full({1}, 1.0)).put("b", std::vector<Tensor>{full({1}, 2.0)});
  c.set("epoch", 3).set("lr", 0.1 + 0.2).set("device", "sim:0");
  c.save(path);
  const Checkpoint back = Checkpoint::load(path);
  Tensor a;
  back.get("a", a);
  EXPECT_THAT(values(a), ElementsAre(1.f));
  std::vector<Tensor> b;
  back.get("b", b);
  EXPECT_THAT(values(b.at(0)), ElementsAre(2.f));
  EXPECT_EQ(back.number("epoch"), 3);
  EXPECT_EQ(back.number("lr"), 0.1 + 0.2) << "to the last bit";
  EXPECT_EQ(back.text("device"), "sim:0");
  EXPECT_THAT(error_of([&] { back.number("none"); }), HasSubstr("no value named 'none'"));
  EXPECT_THAT(error_of([&] { back.number("device"); }),
              HasSubstr("'device' is no number: 'sim:0'"));
  EXPECT_EQ(folder.count(), 1u);
}

TEST(Checkpoint, AFullDiskLeavesTheLastOne) {
  const TemporaryFolder folder;
  const std::string path = folder / "c";
  Checkpoint().put("w", full({8}, 1.0)).set("epoch", 3).save(path);
  Checkpoint larger;
  larger.put("w", full({100000}, 2.0)).set("epoch", 4);
  {
    const FullDisk full(20000);
    EXPECT_THAT(error_of([&] { larger.save(path); }),
                HasSubstr("cannot write " + path + ": File too large"));
  }
  EXPECT_EQ(Checkpoint::load(path).number("epoch"), 3);
  EXPECT_EQ(folder.count(), 1u) << "nothing is left behind";
  larger.save(path);
  EXPECT_EQ(Checkpoint::load(path).number("epoch"), 4);
}

}  // namespace
}  // namespace taeda::io
