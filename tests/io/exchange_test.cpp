// Files under the names that people expect: written by their ending, read by their content.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "taeda/io/npy.h"
#include "taeda/io/pt_reader.h"
#include "taeda/io/serialize.h"
#include "taeda/io/sharded.h"
#include "taeda/io/zip_archive.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/shape/shape.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"

namespace taeda::io {
namespace {

using testing::HasSubstr;

const std::string kGolden = TAEDA_SOURCE_DIR "/tests/io/data/";

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_content(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

const Tensor& named(const NamedTensors& list, const std::string& name) {
  for (const auto& [key, tensor] : list)
    if (key == name) return tensor;
  throw std::out_of_range(name);
}

TEST(Exchange, ModulesGoThroughEveryFormat) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  const TemporaryFolder folder;
  const nn::Linear net(3, 2);
  for (const char* name : {"m.pt", "m.pth", "m.npz", "m.safetensors", "m.safetensors.index.json"}) {
    const std::string path = folder / name;
    save(net, path);
    nn::Linear other(3, 2);
    load(other, path);
    EXPECT_TRUE(other->weight.equal(net->weight)) << name;
    // What is inside decides, not the name.
    if (std::string(name).ends_with(".json")) continue;
    const std::string renamed = folder / "renamed";
    std::filesystem::copy_file(path, renamed, std::filesystem::copy_options::overwrite_existing);
    nn::Linear third(3, 2);
    load(third, renamed);
    EXPECT_TRUE(third->bias.equal(net->bias)) << name;
  }
  EXPECT_TRUE(content_of(folder / "m.pt").starts_with("PK"));
}

TEST(Exchange, TensorsAlone) {
  const TemporaryFolder folder;
  const Tensor t = arange(6).view({2, 3}).t();
  for (const char* name : {"t.pt", "t.npy"}) {
    if (!has_zip() && std::string(name) == "t.pt") continue;
    save(t, folder / name);
    Tensor back;
    load(back, folder / name);
    EXPECT_TRUE(back.equal(t)) << name;
  }
  std::istringstream stream(content_of(folder / "t.npy"));
  EXPECT_TRUE(load_archive(stream).only().equal(t));
  if (!has_zip()) return;
  EXPECT_EQ(load_pt(folder / "t.pt").tensors.at(0).first, "tensor");
}

TEST(Exchange, SaysWhatAFormatHasNoPlaceFor) {
  const TemporaryFolder folder;
  Archive archive;
  archive.add("a", ones({1}));
  archive.add("b", ones({1}));
  EXPECT_THAT(error_of([&] { save_archive(archive, folder / "x.npy"); }),
              HasSubstr("holds one tensor, not 2"));
  archive.metadata["epoch"] = "3";
  EXPECT_THAT(error_of([&] { save_archive(archive, folder / "x.npz"); }),
              HasSubstr("no place for values that are no tensors, such as 'epoch'"));
  if (!has_zip()) return;
  save_archive(archive, folder / "x.pt");
  EXPECT_EQ(load_archive(folder / "x.pt").metadata.at("epoch"), "3");
}

TEST(Bfloat16, IsWhatMlDtypesWrites) {
  const Tensor t = arange(4).to(kBFloat16);
  const std::string bytes = serialize_npy(t);
  EXPECT_THAT(bytes, HasSubstr("'descr': '<V2'"));
  const Tensor back = parse_npy(bytes);
  EXPECT_EQ(back.dtype(), kBFloat16);
  EXPECT_TRUE(back.equal(t));
}

// Before PyTorch 1.6.

TEST(Legacy, StateDictsAreRead) {
  const PtFile file = load_pt(kGolden + "legacy.pt");
  const Tensor weight = arange(6).to(kFloat).view({2, 3});
  EXPECT_TRUE(named(file.tensors, "weight").equal(weight));
  EXPECT_TRUE(named(file.tensors, "row").equal(weight[1]));
  EXPECT_EQ(named(file.tensors, "row").storage().get(),
            named(file.tensors, "weight").storage().get());
  EXPECT_TRUE(named(file.tensors, "half").equal(ones({2}, kHalf)));
  EXPECT_EQ(file.values.at("epoch"), "3");
  // By its content, and from a stream.
  EXPECT_TRUE(load_archive(kGolden + "legacy.pt").at("weight").equal(weight));
  std::istringstream stream(content_of(kGolden + "legacy.pt"));
  EXPECT_TRUE(load_archive(stream).at("weight").equal(weight));
}

TEST(Legacy, CutOffOrDamagedIsAnError) {
  const std::string whole = content_of(kGolden + "legacy.pt");
  for (size_t size = 15; size < whole.size(); size += 7)
    EXPECT_THAT(error_of([&] { parse_pt(whole.substr(0, size), "x.pt"); }),
                HasSubstr("x.pt is no checkpoint that can be read: "))
        << size;
  std::string big = whole;
  const size_t at = big.find("little_endian");
  ASSERT_NE(at, std::string::npos);
  big[big.find('\x88', at)] = '\x89';
  EXPECT_THAT(error_of([&] { parse_pt(big, "x.pt"); }), HasSubstr("not little-endian"));
  // More elements than the file has bytes.
  std::string huge = whole;
  const uint64_t elements = UINT64_MAX / 2;
  const size_t count = huge.rfind(std::string("\x06\0\0\0\0\0\0\0", 8));
  ASSERT_NE(count, std::string::npos);
  std::memcpy(huge.data() + count, &elements, sizeof elements);
  EXPECT_THAT(error_of([&] { parse_pt(huge, "x.pt"); }), HasSubstr("are cut off"));
}

TEST(Exchange, SaysWhatIsNoFileOfTensors) {
  const TemporaryFolder folder;
  const std::string text = folder / "train.py", damaged = folder / "m.safetensors";
  write_content(text, "import taeda\nprint(taeda.ones(2))\n");
  write_content(damaged, "import taeda\n");
  nn::Linear net(3, 2);
  EXPECT_THAT(error_of([&] { load(net, text); }),
              testing::StartsWith(text + " is no file of tensors: it begins neither as"));
  EXPECT_THAT(error_of([&] { load(net, damaged); }), HasSubstr("is no valid safetensors file"));
}

TEST(WholeModules, AreRefusedWithWhatToDo) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  for (const char* name : {"whole_module.pt", "whole_module_legacy.pt"})
    EXPECT_THAT(error_of([&] { load_pt(kGolden + name); }),
                testing::AllOf(HasSubstr("names torch.nn.modules.linear.Linear"),
                               HasSubstr("torch.save(model.state_dict(), path)")))
        << name;
}

// Shards.

TEST(Shards, AreDividedAndPutTogether) {
  const TemporaryFolder folder;
  Archive archive;
  for (int i = 0; i < 5; ++i) archive.add("t" + std::to_string(i), full({10}, double(i)));
  archive.metadata["k"] = "v";
  const std::string path = folder / "m.safetensors.index.json";
  save_sharded(archive, path, 80);  // two tensors of 40 bytes
  for (const char* shard : {"m-00001-of-00003.safetensors", "m-00003-of-00003.safetensors"})
    EXPECT_TRUE(std::filesystem::exists(folder / shard)) << shard;
  EXPECT_THAT(content_of(path), HasSubstr("\"total_size\": 200"));
  const Archive back = load_archive(path);
  EXPECT_EQ(back.tensors.size(), 5u);
  EXPECT_TRUE(back.at("t3").equal(full({10}, 3.0)));
  EXPECT_EQ(back.metadata.at("k"), "v");
  EXPECT_THAT(error_of([&] { save_sharded(archive, folder / "m.json"); }),
              HasSubstr("is named *.index.json"));
  EXPECT_THAT(error_of([&] { save_sharded({}, path); }), HasSubstr("needs a tensor"));
}

TEST(Shards, AnIndexLeadsNowhereElse) {
  const TemporaryFolder folder;
  const std::string path = folder / "m.index.json";
  save_safetensors({{"a", ones({1})}}, folder / "a.safetensors");
  const auto error = [&](const std::string& index) {
    write_content(path, index);
    return error_of([&] { load_archive(path); });
  };
  EXPECT_EQ(error(R"({"weight_map": {"a": "a.safetensors"}})"), "no error");
  EXPECT_THAT(error(R"({"weight_map": {"a": "../a.safetensors"}})"), HasSubstr("is no name of"));
  EXPECT_THAT(error(R"({"weight_map": {"a": "/etc/passwd"}})"), HasSubstr("is no name of"));
  EXPECT_THAT(error(R"({"weight_map": {"a": "m.index.json"}})"), HasSubstr("is no name of"));
  EXPECT_THAT(error(R"({"weight_map": {"b": "a.safetensors"}})"),
              HasSubstr("'b' is not in a.safetensors"));
  EXPECT_THAT(error(R"({"weight_map": {"a": 3}})"), HasSubstr("is no text"));
  EXPECT_EQ(
      error(R"({"metadata": {"n": [1]}, "weight_map": {"a": "a.safetensors"}, "x": "y"})"),
      "no error");
  EXPECT_THAT(error(R"({"weight_map": {"a": "a.safetensors", "a": "b.safetensors"}})"),
              HasSubstr("the name 'a' occurs twice"));
  EXPECT_THAT(error(R"({"weight_map": {"a": ["x"]}})"),
              HasSubstr("the shard of 'a' is no text but a list"));
  for (const char* index :
       {R"({"weight": {"a": "x"}})", R"({"weight_map": ["a"]})", R"({"weight_map": "a"})",
        R"({"x": {"weight_map": {"a": "x"}}})"})
    EXPECT_THAT(error(index), HasSubstr("it has no weight_map")) << index;
  EXPECT_THAT(error(R"({"weight_map": )"), HasSubstr("is not valid JSON"));
  EXPECT_THAT(error("{\"a\": " + std::string(100'000, '[')), HasSubstr("nested more deeply"));
}

}  // namespace
}  // namespace taeda::io
