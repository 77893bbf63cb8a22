// Values as pickles: what Python's torch.load reads, and what libtorch's torch::save writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "taeda/io/keyed_archive.h"
#include "taeda/io/pickle_writer.h"
#include "taeda/io/pt_reader.h"
#include "taeda/io/zip_archive.h"
#include "taeda/nn/module.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/nn/modules/normalization.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/tensor/dict.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"

namespace taeda::io {
namespace {

using testing::HasSubstr;

const std::string kFiles = TAEDA_SOURCE_DIR "/tests/io/data/";

std::vector<char> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

IValue all_kinds() {
  const Tensor base = arange(6).to(kFloat).reshape({2, 3});
  IValue::Entries dtypes;
  const std::pair<const char*, ScalarType> names[] = {{"float32", kFloat},
                                                      {"float64", kDouble},
                                                      {"float16", kHalf},
                                                      {"int64", kLong},
                                                      {"int32", kInt},
                                                      {"int16", kShort},
                                                      {"int8", kChar},
                                                      {"uint8", kByte},
                                                      {"bool", kBool},
                                                      {"bfloat16", kBFloat16},
                                                      {"complex64", kComplexFloat},
                                                      {"complex128", kComplexDouble}};
  for (const auto& [name, dtype] : names) dtypes.emplace_back(name, tensor({0, 1, 3}).to(dtype));
  return IValue::dict({{"matrix", base},
                       {"views", std::vector<Tensor>{base[1], base.t()}},
                       {"int", -3},
                       {"large", int64_t{1} << 40},
                       {"real", 0.25},
                       {"text", "Ä"},
                       {"yes", true},
                       {"nothing", IValue()},
                       {"pair", IValue::tuple({1, "two"})},
                       {"dtypes", IValue::dict(std::move(dtypes))},
                       {"weight", full({1}, 5.0).requires_grad_()},
                       {7, IValue(IValue::List())}});
}

TEST(Pickle, WritesWhatPythonReads) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  const std::vector<char> bytes = pickle_save(all_kinds());
  const char* const folder = std::getenv("TAEDA_KEEP_PICKLES");  // for tests/golden/pickles.py
  if (folder)
    std::ofstream(std::string(folder) + "/values.pt", std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  ZipReader made(std::string(bytes.begin(), bytes.end()), "made"), kept(kFiles + "values.pt");
  ASSERT_EQ(made.entries().size(), kept.entries().size());
  for (const ZipReader::Entry& entry : kept.entries())
    EXPECT_EQ(made.read(entry.name), kept.read(entry.name)) << entry.name;
}

TEST(Pickle, ReadsWhatItWrites) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  const IValue read = pickle_load(pickle_save(all_kinds()));
  const auto dict = read.to<Dict<std::string, IValue>>();
  EXPECT_TRUE(dict.at("matrix").toTensor().equal(arange(6).to(kFloat).reshape({2, 3})));
  const std::vector<Tensor> views = dict.at("views").toTensorVector();
  EXPECT_EQ(views[0].storage().get(), views[1].storage().get());
  EXPECT_TRUE(views[1].equal(dict.at("matrix").toTensor().t()));
  EXPECT_EQ(dict.at("int").toInt(), -3);
  EXPECT_EQ(dict.at("large").toInt(), int64_t{1} << 40);
  EXPECT_EQ(dict.at("real").toDouble(), 0.25);
  EXPECT_EQ(dict.at("text").toStringRef(), "Ä");
  EXPECT_TRUE(dict.at("yes").toBool());
  EXPECT_TRUE(dict.at("nothing").isNone());
  EXPECT_EQ(dict.at("pair").toTupleRef()[1].toStringRef(), "two");
  EXPECT_EQ(dict.at("dtypes").toGenericDict().size(), 12u);
  EXPECT_TRUE(dict.at("weight").toTensor().requires_grad());
}

/// Python names no storage after them: their files have bytes, and the dtype beside them.
TEST(Pickle, KeepsDtypesThatAreOnlyStored) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  for (const ScalarType dtype : kStoredDtypes) {
    const Tensor t = arange(6, kFloat).to(dtype).view({2, 3});
    const Tensor read = pickle_load(pickle_save(t.t())).toTensor();
    EXPECT_EQ(read.dtype(), dtype);
    EXPECT_TRUE(read.equal(t.t())) << dtype;
    EXPECT_EQ(read.strides(), t.t().strides());
  }
}

TEST(Pickle, ReadsPythonsValues) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  const auto dict = pickle_load(bytes_of(kFiles + "checkpoint.pt")).to<Dict<IValue, IValue>>();
  EXPECT_EQ(dict.at("epoch").toInt(), 3);
  EXPECT_EQ(dict.at("shape").toTupleRef()[1].toInt(), 3);
  EXPECT_EQ(dict.at(7).toInt(), -1);
  EXPECT_EQ(dict.at("model").toGenericDict().size(), 9u);
}

TEST(Pickle, SaysWhatHasNoPlace) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  EXPECT_THAT(error_of([] { pickle_save(IValue(Device(kCPU))); }),
              HasSubstr("pickle_save: Python's files have no place for a Device"));
  EXPECT_THAT(error_of([] { pickle_save(IValue(Tensor())); }), HasSubstr("undefined"));
  EXPECT_THAT(error_of([] { pickle_load({'P', 'K'}); }), HasSubstr("pickle_load"));
}

// ---- libtorch's files (tests/golden/libtorch_files.cpp) ----

struct NetImpl : nn::Module {
  NetImpl() {
    register_module("fc", fc);
    register_module("bn", bn);
    scale = register_parameter("scale", zeros({2}));
    count = register_buffer("count", zeros({4}, kLong));
  }
  nn::Linear fc{3, 2};
  nn::BatchNorm1d bn{2};
  Tensor scale, count;
};

TEST(LibtorchFiles, HoldModules) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  auto net = std::make_shared<NetImpl>();
  load(net, kFiles + "libtorch_module.pt");
  int k = 0;
  for (const Tensor& p : net->parameters())
    EXPECT_TRUE(p.equal(arange(p.numel()).reshape(p.sizes()).to(kFloat).add(10 * k++)));
  EXPECT_TRUE(net->count.equal(arange(4)));
  EXPECT_EQ(net->bn->num_batches_tracked.item<int64_t>(), 0);
  std::ifstream stream(kFiles + "libtorch_module.pt", std::ios::binary);
  auto other = std::make_shared<NetImpl>();
  load(other, stream, Device(kCPU));
  EXPECT_TRUE(other->fc->weight.equal(net->fc->weight));
}

TEST(LibtorchFiles, HoldTensors) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  Tensor one;
  load(one, kFiles + "libtorch_tensor.pt");
  EXPECT_TRUE(one.equal(arange(6).reshape({2, 3}).to(kFloat)));
  std::vector<Tensor> list;
  load(list, kFiles + "libtorch_tensors.pt");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_TRUE(list[1].equal(arange(3)));
  const std::vector<Tensor> pickled =
      pickle_load(bytes_of(kFiles + "libtorch_pickle.pt")).toTensorVector();
  ASSERT_EQ(pickled.size(), 2u);
  EXPECT_TRUE(pickled[0].equal(ones({2})));
}

TEST(LibtorchFiles, AndPythonsAreReadByLoad) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  Tensor one;
  load(one, kFiles + "tensor.pt");
  EXPECT_TRUE(one.equal(tensor({1.f, 2.f})));
  std::map<std::string, Tensor> state;
  load(state, kFiles + "state_dict.pt");
  EXPECT_EQ(state.size(), 9u);
}

}  // namespace
}  // namespace taeda::io
