// torch::serialize: archives with keys, and values of every kind in them.
#include <gtest/gtest.h>
#include <torch/serialize.h>
#include <torch/torch.h>

#include <sstream>

#include "tests/error_of.h"

namespace {

using taeda::error_of;

torch::serialize::InputArchive reread(const torch::serialize::OutputArchive& archive) {
  std::stringstream stream;
  archive.save_to(stream);
  torch::serialize::InputArchive read;
  read.load_from(stream);
  return read;
}

TEST(Archive, KeepsValuesOfEveryKind) {
  torch::serialize::OutputArchive out;
  out.write("weight", torch::arange(3), /*is_buffer=*/true);
  out.write("rate", c10::IValue(0.1));
  out.write("steps", c10::IValue(7));
  out.write("nesterov", c10::IValue(true));
  out.write("name", c10::IValue("a b"));
  out.write("nothing", c10::IValue());
  out.write("milestones", c10::IValue(std::vector<int64_t>{3, 5}));
  out.write("parts", c10::IValue(std::vector<torch::Tensor>{torch::ones(2), torch::zeros(1)}));

  auto in = reread(out);
  torch::Tensor weight;
  in.read("weight", weight, true);
  EXPECT_TRUE(weight.equal(torch::arange(3)));
  const auto value = [&](const char* key) {
    c10::IValue v;
    in.read(key, v);
    return v;
  };
  EXPECT_EQ(value("rate").toDouble(), 0.1);
  EXPECT_EQ(value("steps").toInt(), 7);
  EXPECT_TRUE(value("nesterov").toBool());
  EXPECT_EQ(value("name").toStringRef(), "a b");
  EXPECT_TRUE(value("nothing").isNone());
  EXPECT_EQ(value("milestones").toIntVector(), (std::vector<int64_t>{3, 5}));
  EXPECT_TRUE(value("parts").toTensorVector()[0].equal(torch::ones(2)));
  EXPECT_TRUE(value("weight").isTensor());
}

TEST(Archive, HoldsArchives) {
  torch::serialize::OutputArchive inner, out;
  inner.write("bias", torch::ones(2));
  inner.write("epoch", c10::IValue(4));
  out.write("layer", inner);
  out.write("loss", c10::IValue(0.5));

  auto in = reread(out);
  EXPECT_EQ(in.keys(), (std::vector<std::string>{"layer", "loss"}));
  torch::serialize::InputArchive layer;
  in.read("layer", layer);
  torch::Tensor bias;
  c10::IValue epoch;
  layer.read("bias", bias);
  layer.read("epoch", epoch);
  EXPECT_TRUE(bias.equal(torch::ones(2)));
  EXPECT_EQ(epoch.toInt(), 4);
  EXPECT_FALSE(in.try_read("other", layer));
}

TEST(Archive, TakesModulesAndCallbacks) {
  torch::nn::Linear saved(2, 3), loaded(2, 3);
  torch::serialize::OutputArchive out;
  out << saved;
  std::string bytes;
  out.save_to([&](const void* data, size_t n) {
    bytes.assign(static_cast<const char*>(data), n);
    return n;
  });
  torch::serialize::InputArchive in;
  in.load_from(bytes.data(), bytes.size(), torch::kCPU);
  in >> loaded;
  EXPECT_TRUE(loaded->weight.equal(saved->weight));
  EXPECT_EQ(error_of([&] { out.save_to([](const void*, size_t n) { return n - 1; }); }),
            "save_to: the writer took " + std::to_string(bytes.size() - 1) + " of " +
                std::to_string(bytes.size()) + " bytes");
}

TEST(Archive, SaysWhatIsMissing) {
  torch::serialize::OutputArchive out;
  out.write("a", c10::IValue(1));
  EXPECT_EQ(error_of([&] { out.write("a", c10::IValue(2)); }),
            "write: the archive has 'a' already");
  auto in = reread(out);
  torch::Tensor t;
  EXPECT_EQ(error_of([&] { in.read("b", t); }), "No such serialized value 'b'");
  c10::IValue v;
  in.read("a", v);
  EXPECT_EQ(error_of([&] { v.toTensor(); }), "Expected Tensor but got Int");
  in.content().metadata["a"] = "i7x";
  EXPECT_EQ(error_of([&] { in.read("a", v); }), "load: the value of 'a' is no whole number: '7x'");
}

TEST(Archive, LoadsOntoADevice) {
  std::stringstream stream;
  torch::save(torch::ones(2), stream);
  torch::Tensor t;
  torch::load(t, stream, torch::Device(torch::kCPU));
  EXPECT_TRUE(t.equal(torch::ones(2)));
}

}  // namespace
