// `taeda export`, and `taeda inspect` of what it writes.
#include <nlohmann/json.hpp>

#include "taeda/onnx/file.h"
#include "taeda/onnx/onnx.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/vision/image_io.h"
#include "tests/tool/common.h"

namespace taeda {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class Export : public testing::Test {
 protected:
  void SetUp() override {
    if (!onnx::is_supported()) GTEST_SKIP() << "built without Protocol Buffers";
  }
  std::string written(const std::string& arguments) {
    const Outcome o = taeda_tool("export " + arguments + " -o " + file);
    EXPECT_EQ(o.code, 0) << o.err;
    return o.out;
  }

  TemporaryFolder folder;
  std::string file = folder / "model.onnx";
};

TEST_F(Export, ANetworkByItsName) {
  EXPECT_THAT(written("lenet --classes 7"),
              HasSubstr("model.onnx: pictures float32 [batch, 1, 28, 28] to scores float32 "
                        "[batch, 7], 13 operators, "));
  const Outcome o = taeda_tool("inspect " + file);
  EXPECT_THAT(o.out, AllOf(HasSubstr("Gemm"), HasSubstr("float32 [batch, 7]"),
                           HasSubstr("onnx: opset 17, 13 operators, 13 tensors of 61,")));
  EXPECT_THAT(taeda_tool("inspect --json " + file).out,
              AllOf(HasSubstr("\"format\": \"onnx\""), HasSubstr("\"MaxPool\": 2")));
}

TEST_F(Export, RunsOfEveryTask) {
  const std::string table = folder / "a.csv", text = folder / "a.txt";
  std::ofstream rows(table);
  rows << "a,b,y\n";
  for (int i = 0; i < 40; ++i) rows << i % 7 << "," << i % 5 << "," << i % 2 << "\n";
  rows.close();
  std::ofstream words(text);
  for (int i = 0; i < 60; ++i) words << "hello world, this is a text. ";
  words.close();
  const std::string small = " --epochs 1 --batch-size 10 --context 16 --width 32 --out ";
  ASSERT_EQ(taeda_tool("train csv --epochs 1 --batch-size 10 --data " + table + " --out " +
                       (folder / "csv"))
                .code,
            0);
  EXPECT_THAT(written(folder / "csv"),
              HasSubstr("rows float32 [batch, 2] to y float32 [batch, 2], "));
  EXPECT_THAT(written("--network-only " + (folder / "csv")),
              HasSubstr("rows float32 [batch, 2] to scores float32 [batch, 2], "));
  for (const std::string model : {"gpt", "lstm"}) {
    ASSERT_EQ(
        taeda_tool("train text --model " + model + " --data " + text + small + (folder / model))
            .code,
        0);
    EXPECT_THAT(written(folder / model),
                HasSubstr("tokens int64 [batch, time] to scores float32 [batch, time, "));
    onnx::ImportedModel read = onnx::load(file);
    const NoGradGuard no_grad;
    EXPECT_EQ(read(zeros({3, 9}, kLong)).sizes().slice(0, 2), IntArrayRef({3, 9}));
  }
}

/// What `predict` says, by input.
std::vector<Json> predicted(const std::string& arguments) {
  const Outcome o = taeda_tool("predict --json " + arguments);
  EXPECT_EQ(o.code, 0) << o.err;
  return Json::parse(o.out)["predictions"].get<std::vector<Json>>();
}

TEST_F(Export, AModelOfATableTakesItsRowsAndTellsItsTarget) {
  const std::string table = folder / "t.csv", run = folder / "run";
  std::string text = "area,city,price\n";
  for (int i = 0; i < 60; ++i)
    text += (i % 9 ? std::to_string(50 + i) : "") + (i % 2 ? ",Ulm," : ",Bonn,") +
            std::to_string(3000 * i + 100000) + ".5\n";
  write_bytes(table, text);
  ASSERT_EQ(
      taeda_tool("train csv --device cpu --epochs 2 --categories city --missing mean --data " +
                 table + " --out " + run)
          .code,
      0);
  EXPECT_THAT(written(run), HasSubstr("rows float32 [batch, 2] to price float32 [batch], "));
  write_bytes(table, "city,area\nUlm,70\nBonn,\nBonn,90\n");
  onnx::ImportedModel model = onnx::load(file);
  const Tensor told = model(tensor({70.0, 1.0, NAN, 0.0, 90.0, 0.0}, kFloat).view({3, 2}));
  const std::vector<Json> expected = predicted(run + " " + table);
  for (int64_t i = 0; i < 3; ++i) {
    const double value = expected[static_cast<size_t>(i)]["value"].get<double>();
    EXPECT_GT(std::abs(value), 1000);
    EXPECT_NEAR(told[i].item<double>(), value, 1e-5 * std::abs(value));
  }
  const onnx::Graph graph = onnx::read(file);
  EXPECT_EQ(graph.metadata.at("columns"), "[\"area\",\"city\"]");
  EXPECT_EQ(graph.metadata.at("categories"), "{\"city\":[\"Bonn\",\"Ulm\"]}");
  EXPECT_EQ(graph.inputs[0].text,
            "`columns` of the table, as numbers in the table's own units; a "
            "word is its place in `categories`, from 0; NaN where there is "
            "no value");
  EXPECT_EQ(graph.outputs[0].text, "price, in the table's own unit");
  EXPECT_THAT(taeda_tool("inspect " + file).out, HasSubstr("price, in the table's own unit"));
  EXPECT_THAT(written("--network-only " + run),
              HasSubstr("rows float32 [batch, 3] to scores float32 [batch, 1], "));
  EXPECT_THAT(onnx::read(file).outputs[0].text, HasSubstr("plus `target_mean`: price"));
  // Weights alone say as much.
  for (const char* name : {"w.pt", "w.safetensors"}) {
    EXPECT_EQ(taeda_tool("export " + run + " -o " + (folder / name)).code, 0);
    EXPECT_EQ(predicted((folder / name) + " " + table), expected);
  }
}

class ExportPictures : public Train {};

TEST_F(ExportPictures, AModelTakesBytesAndGivesProbabilities) {
  if (!onnx::is_supported()) GTEST_SKIP() << "built without Protocol Buffers";
  const std::string file = folder / "m.onnx";
  ASSERT_EQ(taeda_tool(arguments("--device cpu --model mlp --workers 0", out)).code, 0);
  const Outcome o = taeda_tool("export " + out + " -o " + file);
  EXPECT_THAT(o.out, HasSubstr("pictures uint8 [batch, 1, 28, 28] to class float32 [batch, 10], "));
  const Tensor picture = arange(784).remainder(251).to(kByte).view({1, 28, 28});
  vision::write_png(picture, folder / "p.png");
  onnx::ImportedModel model = onnx::load(file);
  const Tensor told = model(picture.unsqueeze(0));
  const Json expected = predicted(out + " " + (folder / "p.png"))[0]["probabilities"];
  const Json classes = Json::parse(onnx::read(file).metadata.at("classes"));
  ASSERT_EQ(classes.size(), 10u);
  for (int64_t c = 0; c < 10; ++c)
    EXPECT_NEAR(told[0][c].item<double>(),
                expected[classes[static_cast<size_t>(c)].get<std::string>()].get<double>(), 1e-6);
}

TEST_F(Export, MistakesAreNamed) {
  expect_bad_input("export resnet9 -o " + file,
                   "there is no run 'resnet9', nor a network of that name; networks are cnn, ");
  expect_bad_input("export lenet -o " + (folder / "m.npz"),
                   "give it the ending .onnx, .safetensors or .pt");
  expect_bad_input("export lenet -o " + (folder / "m.pt"),
                   "of a network's name there are .onnx files alone");
  expect_bad_input("export no/such/run -o " + file, "there is no run or checkpoint no/such/run");
  expect_bad_input("export lenet --opset 3 -o " + file, "opset_version must be from 17 to 21");
  expect_bad_input("export lenet -o " + (folder / "none/m.onnx"), "cannot write");
  EXPECT_EQ(folder.count(), 0u);
}

}  // namespace
}  // namespace taeda
