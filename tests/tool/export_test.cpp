// `taeda export`, and `taeda inspect` of what it writes.
#include "taeda/onnx/file.h"
#include "taeda/onnx/onnx.h"
#include "taeda/ops/create/create.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/tool/common.h"

namespace taeda {
namespace {

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
  EXPECT_THAT(written(folder / "csv"), HasSubstr("rows float32 [batch, 2] to scores float32 "));
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

TEST_F(Export, MistakesAreNamed) {
  expect_bad_input("export resnet9 -o " + file,
                   "there is no run 'resnet9', nor a network of that name; networks are cnn, ");
  expect_bad_input("export lenet -o " + (folder / "m.pt"), "give it the ending .onnx");
  expect_bad_input("export no/such/run -o " + file, "there is no run or checkpoint no/such/run");
  expect_bad_input("export lenet --opset 3 -o " + file, "opset_version must be from 17 to 21");
  expect_bad_input("export lenet -o " + (folder / "none/m.onnx"), "cannot write");
  EXPECT_EQ(folder.count(), 0u);
}

}  // namespace
}  // namespace taeda
