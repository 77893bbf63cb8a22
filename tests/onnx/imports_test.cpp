// Models that PyTorch exported (make_pytorch_models.py), and modules that graphs become.
#include <gmock/gmock.h>

#include <filesystem>

#include "taeda/autograd/engine.h"
#include "taeda/device/generator.h"
#include "taeda/device/sim.h"
#include "taeda/io/npy.h"
#include "taeda/nn/modules/conv.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/nn/modules/normalization.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"
#include "tests/onnx/round_trip.h"

namespace taeda::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

std::string data(const std::string& name) {
  return std::string(TAEDA_SOURCE_DIR) + "/tests/onnx/data/" + name;
}

class FromPyTorch : public testing::TestWithParam<const char*> {};

TEST_P(FromPyTorch, ComputesWhatPyTorchDoes) {
  const std::string name = GetParam();
  ImportedModel model = load(data(name + ".onnx"));
  const Tensor in = io::load_npy(data(name + ".in.npy")),
               out = io::load_npy(data(name + ".out.npy"));
  const NoGradGuard no_grad;
  EXPECT_LE(difference(out, model(in)), 1e-6);
}

TEST_P(FromPyTorch, CanBeExportedAgain) {
  const std::string name = GetParam();
  ImportedModel model = load(data(name + ".onnx"));
  const Tensor in = io::load_npy(data(name + ".in.npy"));
  const TemporaryFolder folder;
  export_model(model, {in}, folder / "again.onnx", open_batch());
  ImportedModel again = load(folder / "again.onnx");
  const NoGradGuard no_grad;
  EXPECT_LE(difference(io::load_npy(data(name + ".out.npy")), again(in)), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Imports, FromPyTorch,
                         testing::Values("convolutions", "perceptron", "attention", "recurrent"));

TEST(Imports, TensorsInOtherFilesAreReadWhereThatIsAskedFor) {
  EXPECT_THAT(error_of([] { load(data("beside.onnx")); }),
              HasSubstr("lies in another file, which is not opened unless "
                        "LoadOptions::external_data says so"));
  ImportedModel model = load(data("beside.onnx"), {.external_data = true});
  const NoGradGuard no_grad;
  EXPECT_LE(
      difference(io::load_npy(data("beside.out.npy")), model(io::load_npy(data("beside.in.npy")))),
      1e-6);
}

TEST(Imports, ParametersHaveTheirNamesAndLearn) {
  ImportedModel model = load(data("perceptron.onnx"));
  EXPECT_THAT(model->state_dict().keys(),
              IsSupersetOf({"1.weight", "1.bias", "4.weight", "4.bias"}));
  model(randn({2, 2, 3})).square().sum().backward();
  for (const auto& item : model->named_parameters())
    EXPECT_TRUE(item.value().grad().defined()) << item.key();
}

TEST(Imports, StatisticsAreBuffers) {
  manual_seed(1);
  nn::Sequential net(nn::Conv2d(1, 2, 3), nn::BatchNorm2d(2));
  const TemporaryFolder folder;
  export_model(net, {randn({1, 1, 4, 4})}, folder / "m.onnx");
  ImportedModel model = load(folder / "m.onnx");
  EXPECT_THAT(model->named_parameters().keys(),
              testing::UnorderedElementsAre("0.weight", "0.bias", "1.weight", "1.bias"));
  EXPECT_THAT(model->named_buffers().keys(), IsSupersetOf({"1.running_mean", "1.running_var"}));
  EXPECT_EQ(model->repr().substr(0, 13), "ImportedModel");
}

TEST(Imports, CopiesHaveTensorsOfTheirOwn) {
  ImportedModel model = load(data("perceptron.onnx"));
  const Tensor in = io::load_npy(data("perceptron.in.npy"));
  auto copy = std::dynamic_pointer_cast<ImportedModelImpl>(model->clone());
  const NoGradGuard no_grad;
  const Tensor before = model(in);
  for (auto& item : model->named_parameters()) item.value().zero_();
  EXPECT_EQ(difference(before, copy->forward(in)), 0);
  EXPECT_GT(difference(before, model(in)), 0);
}

TEST(Imports, RunOnAccelerators) {
  ImportedModel model = load(data("attention.onnx"));
  const Tensor in = io::load_npy(data("attention.in.npy"));
  const Device device("sim");
  model->to(device);
  const NoGradGuard no_grad;
  EXPECT_LE(difference(io::load_npy(data("attention.out.npy")), model(in.to(device)).cpu()), 1e-6);
}

TEST(Imports, ChecksWhatComesIn) {
  ImportedModel model = load(data("convolutions.onnx"));
  EXPECT_THAT(error_of([&] {
                model(randn({2, 3, 8, 8}));
              }),
              HasSubstr("' must be float32 [batch, 1, 8, 8], got float32 [2, 3, 8, 8]"));
  EXPECT_THAT(error_of([&] { model->run({}); }), HasSubstr("the model takes 1 input(s), got 0"));
  EXPECT_THAT(error_of([&] { model(randn({2, 1, 8, 8}, kDouble)); }), HasSubstr("got float64"));
}

Graph graph_with(Node node) {
  Graph graph;
  graph.inputs.push_back({"x", kFloat, true, {{2, ""}, {3, ""}}});
  graph.outputs.push_back({"y", kFloat, false, {}});
  graph.nodes.push_back(std::move(node));
  return graph;
}

TEST(Imports, ErrorsNameTheOperator) {
  const auto load_graph = [](Node node) {
    return error_of([&] { ImportedModel model(graph_with(std::move(node))); });
  };
  const auto run_graph = [](Node node) {
    return error_of([&] {
      ImportedModel model(graph_with(std::move(node)));
      model(randn({2, 3}));
    });
  };
  EXPECT_THAT(load_graph({"Loop", {"x"}, {"y"}, {}, "again", "", "net.block"}),
              HasSubstr("Taeda does not run the operator Loop 'again' (net.block)"));
  EXPECT_THAT(load_graph({"Gelu", {"x"}, {"y"}, {}, "g", "com.microsoft", ""}),
              HasSubstr("the operator com.microsoft.Gelu 'g'"));
  EXPECT_THAT(load_graph({"Relu", {"x"}, {"y"}, {{"body", Unsupported{"a graph"}}}, "r", "", ""}),
              HasSubstr("the attribute 'body' of Relu 'r' is a graph"));
  EXPECT_THAT(run_graph({"MatMul", {"x", "x"}, {"y"}, {}, "m", "", "net"}),
              testing::AllOf(HasSubstr("mat1 and mat2 shapes cannot be multiplied"),
                             HasSubstr("in operator MatMul 'm' (net)")));
  EXPECT_THAT(run_graph({"Softmax", {"x"}, {"y"}, {{"axis", 1.5}}, "s", "", ""}),
              HasSubstr("its attribute 'axis' is not a whole number"));
  EXPECT_THAT(run_graph({"Add", {"x"}, {"y"}, {}, "a", "", ""}),
              HasSubstr("its input #1 is missing"));
}

TEST(Imports, GraphsAreChecked) {
  const auto refused = [](const std::function<void(Graph&)>& change) {
    Graph graph = graph_with({"Relu", {"x"}, {"y"}, {}, "r", "", ""});
    change(graph);
    return error_of([&] { check_graph(graph); });
  };
  EXPECT_EQ(refused([](Graph&) {}), "no error");
  EXPECT_THAT(refused([](Graph& g) { g.nodes[0].inputs[0] = "z"; }),
              HasSubstr("Relu 'r': its input 'z' is not defined before it"));
  EXPECT_THAT(refused([](Graph& g) { g.nodes.push_back(g.nodes[0]); }),
              HasSubstr("the value 'y', which Relu 'r' defines, is defined already"));
  EXPECT_THAT(refused([](Graph& g) { g.outputs[0].name = "z"; }),
              HasSubstr("no operator gives the output 'z'"));
  EXPECT_THAT(refused([](Graph& g) { g.outputs.push_back(g.outputs[0]); }),
              HasSubstr("the output 'y' stands twice"));
  EXPECT_THAT(refused([](Graph& g) { g.inputs[0].sizes[0].size = -7; }),
              HasSubstr("input 'x' has the size -7"));
}

}  // namespace
}  // namespace taeda::onnx
