// What is written besides numbers: names, open axes, metadata; and what is refused.
#include <gmock/gmock.h>

#include "taeda/device/generator.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/nn/functional/upsampling.h"
#include "taeda/nn/modules/activation.h"
#include "taeda/nn/modules/dropout.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/nn/modules/transformer.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/nn/dropout.h"
#include "taeda/ops/nn/pool.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/ops/spectral/fft.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"
#include "tests/onnx/round_trip.h"

namespace taeda::onnx {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

using List = std::vector<Tensor>;

std::string refusal(Tensor (*f)(const Tensor&), const ExportOptions& options = {}) {
  return error_of([&] {
    graph_of([f](const List& in) { return List{f(in[0])}; }, {randn({2, 4})}, options);
  });
}

TEST(Exports, NamesAndMetadataAreThoseOfTheOptions) {
  nn::Sequential net(nn::Linear(4, 3), nn::ReLU(), nn::Dropout(0.5));
  ExportOptions options;
  options.input_names = {"picture"};
  options.output_names = {"scores"};
  options.dynamic_axes = {{"picture", {{0, "batch"}}}};
  options.metadata = {{"classes", "cat,dog,bird"}};
  options.opset_version = 18;
  const TemporaryFolder folder;
  net->train();
  export_model(net, {randn({2, 4})}, folder / "net.onnx", options);
  EXPECT_TRUE(net->is_training());
  const Graph graph = read(folder / "net.onnx");
  EXPECT_EQ(graph.inputs[0].name + " " + graph.inputs[0].type(), "picture float32 [batch, 4]");
  EXPECT_EQ(graph.outputs[0].name + " " + graph.outputs[0].type(), "scores float32 [batch, 3]");
  EXPECT_EQ(graph.metadata.at("classes"), "cat,dog,bird");
  EXPECT_EQ(graph.opset, 18);
  EXPECT_EQ(graph.producer, "taeda");
  ASSERT_EQ(graph.nodes.size(), 2u);  // dropout does nothing
  EXPECT_EQ(graph.nodes[0].title(), "Gemm '0.Gemm'");
  EXPECT_EQ(graph.nodes[0].place, "0");
  EXPECT_EQ(graph.nodes[1].op, "Relu");
  std::vector<std::string> names;
  for (const auto& [name, tensor] : graph.initializers) names.push_back(name);
  EXPECT_THAT(names, UnorderedElementsAre("0.weight", "0.bias"));
}

TEST(Exports, WhatComesBeforeAndBehindIsAPartOfTheGraph) {
  nn::Sequential net(nn::Linear(4, 3));
  const ExportOptions options{
      .input_names = {"pixels"},
      .output_names = {"kind"},
      .dynamic_axes = {{"pixels", {{0, "batch"}}}},
      .preprocess = [](const List& in) { return List{in[0].to(kFloat).div(255)}; },
      .postprocess = [](const List& out) { return List{out[0].softmax(1)}; },
      .descriptions = {{"pixels", "from 0 to 255"}, {"kind", "probabilities of a, b, c"}}};
  const TemporaryFolder folder;
  const Tensor bytes = arange(8).mul(30).to(kByte).view({2, 4});
  export_model(net, {bytes}, folder / "net.onnx", options);
  ImportedModel read_again = load(folder / "net.onnx");
  const NoGradGuard no_grad;
  EXPECT_TRUE(read_again(bytes).allclose(net(bytes.to(kFloat).div(255)).softmax(1)));
  const Graph graph = read(folder / "net.onnx");
  EXPECT_EQ(graph.inputs[0].type() + ", " + graph.inputs[0].text,
            "uint8 [batch, 4], from 0 to 255");
  EXPECT_EQ(graph.outputs[0].text, "probabilities of a, b, c");
  EXPECT_EQ(error_of([&] {
              export_model(net, {randn({1, 4})}, folder / "x", {.descriptions = {{"pixel", ""}}});
            }),
            "descriptions names 'pixel', which is no input or output");
}

TEST(Exports, AnAxisAtWhoseOtherSizesForwardFailsIsNamed) {
  const auto f = [](const Tensor& x) { return x.view({2, 2, 2}).sum(); };
  EXPECT_EQ(refusal(f, open_batch()),
            "the module cannot be exported with an open axis 'batch': forward fails (shape '[2, 2, "
            "2]' is invalid for input of size 12) when it is 3 instead of 2. Leave the axis out of "
            "dynamic_axes, or make forward do the same for every size.");
}

TEST(Exports, SizesWithoutAnAxisAreFixed) {
  const Forward f = [](const List& in) { return List{in[0].reshape({in[0].size(0), -1})}; };
  EXPECT_EQ(graph_of(f, {randn({2, 4})}).inputs[0].type(), "float32 [2, 4]");
  EXPECT_EQ(graph_of(f, {randn({2, 4, 3})}, open_batch()).outputs[0].type(), "float32 [batch, 12]");
}

TEST(Exports, CopiesThatDependOnTheBatchAreNoDifference) {
  // A transposed batch of one is contiguous.
  const Forward f = [](const List& in) { return List{in[0].t().contiguous().view({-1}).exp()}; };
  EXPECT_EQ(graph_of(f, {randn({1, 4})}, open_batch()).outputs[0].type(), "float32 [4*batch]");
}

TEST(Exports, WhatDependsOnNoInputIsComputedOnce) {
  const Forward f = [](const List& in) {
    return List{in[0] + arange(4, kFloat).mul(2).add(1).exp()};
  };
  const Graph graph = graph_of(f, {randn({2, 4})}, open_batch());
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.initializers.size(), 1u);
}

TEST(Exports, SizesOfSeveralAxesAreFollowed) {
  ExportOptions options;
  options.dynamic_axes = {{"input", {{0, "batch"}, {1, "time"}}}};
  const Forward f = [](const List& in) {
    const int64_t n = in[0].size(0), t = in[0].size(1);
    const Tensor places = arange(t, kFloat).reshape({1, t, 1}).expand({n, t, 1});
    return List{cat({in[0], places}, 2).reshape({n * t, -1}).narrow(0, 1, n * t - 1)};
  };
  const Graph graph = graph_of(f, {randn({2, 3, 4})}, options);
  EXPECT_EQ(graph.outputs[0].type(), "float32 [batch*time-1, 5]");
  const NoGradGuard no_grad;
  ImportedModel model{Graph(graph)};
  const Tensor x = randn({5, 7, 4});
  EXPECT_EQ(difference(f({x})[0], model(x)), 0);
}

TEST(Exports, ADependenceThatNobodyCanFollowIsRefused) {
  EXPECT_THAT(
      refusal([](const Tensor& x) { return x.narrow(0, 0, (x.size(0) + 1) / 2); }, open_batch()),
      HasSubstr("depends on 'batch' in a way that"));
  EXPECT_THAT(
      refusal([](const Tensor& x) { return x.size(0) > 2 ? x.exp() : x.sin(); }, open_batch()),
      AllOf(HasSubstr("cannot be exported with an open axis 'batch'"),
            HasSubstr("forward calls 'exp' in place of 'sin' when it is 3 instead of 2")));
  EXPECT_THAT(refusal([](const Tensor& x) { return x.mul(1. / static_cast<double>(x.size(0))); },
                      open_batch()),
              HasSubstr("argument #1 of 'mul' is another one"));
  EXPECT_EQ(refusal([](const Tensor& x) { return x.narrow(0, 0, (x.size(0) + 1) / 2); }),
            "no error");
}

TEST(Exports, WhatCannotBeWrittenIsRefusedByName) {
  EXPECT_THAT(refusal([](const Tensor& x) { return fft::fft(x).abs(); }),
              AllOf(HasSubstr("cannot be exported to ONNX"), HasSubstr("docs/onnx.md")));
  EXPECT_THAT(refusal([](const Tensor& x) { return x + randn({4}); }),
              HasSubstr("forward draws random numbers"));
  EXPECT_THAT(refusal([](const Tensor& x) { return x.mul(x.sum().item()); }),
              HasSubstr("the program reads a value that depends on its inputs"));
  EXPECT_THAT(refusal([](const Tensor& x) { return dropout(x, 0.5, true); }),
              HasSubstr("it drops elements by chance"));
  EXPECT_THAT(refusal([](const Tensor& x) {
                Tensor y = x.clone();
                y.select(1, 0).fill_(0);
                return y.exp();
              }),
              HasSubstr("was changed in place through another tensor"));
  EXPECT_THAT(refusal([](const Tensor& x) {
                const auto [values, places] = adaptive_max_pool1d(x, 1);
                return places;
              }),
              HasSubstr("is used that ONNX's operator does not give"));
  EXPECT_THAT(refusal([](const Tensor& x) {
                return nn::functional::interpolate(
                    x.reshape({1, 1, 2, 4}),
                    {.size = {{1, 2}}, .mode = kBilinear, .antialias = true});
              }),
              HasSubstr("with antialias=true its filter"));
  EXPECT_THAT(refusal([](const Tensor& x) { return x.masked_select(x.gt(0)); }),
              HasSubstr("the operation 'masked_select' cannot be exported"));
}

TEST(Exports, TakeOneTensorWithoutBraces) {
  nn::Sequential net(nn::Linear(4, 2));
  const TemporaryFolder folder;
  export_model(net, randn({3, 4}), folder / "net.onnx");
  EXPECT_EQ(read(folder / "net.onnx").inputs[0].type(), "float32 [3, 4]");
}

TEST(Exports, ErrorsNameTheModule) {
  struct LayerImpl : nn::Cloneable<LayerImpl> {
    void reset() override {}
    Tensor forward(const Tensor& x) { return x.cumprod(0); }
  };
  nn::Sequential net(nn::Linear(4, 4), std::make_shared<LayerImpl>());
  const TemporaryFolder folder;
  EXPECT_THAT(error_of([&] {
                export_model(net, {randn({2, 4})}, folder / "m.onnx");
              }),
              HasSubstr("in module 1 cannot be exported"));
  EXPECT_EQ(folder.count(), 0u);
}

TEST(Exports, MemoryReadBehindItsBackIsFoundByVerification) {
  const Forward f = [](const List& in) {
    const Tensor y = zeros({2, 4});
    for (int64_t i = 0; i < 8; ++i) y.data_ptr<float>()[i] = in[0].data_ptr<float>()[i] * 2;
    return List{y + in[0]};
  };
  EXPECT_THAT(error_of([&] {
                graph_of(f, {randn({2, 4})});
              }),
              HasSubstr("the exported model computes another 'output' than the module"));
}

TEST(Exports, OptionsAreChecked) {
  const auto refused = [](const ExportOptions& options) {
    return refusal([](const Tensor& x) { return x.exp(); }, options);
  };
  EXPECT_THAT(refused({.input_names = {"a", "b"}}), HasSubstr("there are 1 inputs, and 2 names"));
  EXPECT_THAT(refused({.output_names = {""}}), HasSubstr("cannot be the name of an output"));
  for (const char* misspelled : {"x", "outputs", "output_", "output_a"})
    EXPECT_THAT(refused({.dynamic_axes = {{misspelled, {{0, "n"}}}}}),
                HasSubstr(std::string("dynamic_axes names '") + misspelled +
                          "', which is no input or output"));
  EXPECT_THAT(refused({.dynamic_axes = {{"input", {{0, "n"}}}, {"output", {{0, "n"}}}}}),
              "no error");
  EXPECT_THAT(refused({.output_names = {"y"}, .dynamic_axes = {{"x", {{0, "n"}}}}}),
              HasSubstr("dynamic_axes names 'x', which is no input or output"));
  EXPECT_THAT(refused({.dynamic_axes = {{"input", {{2, "n"}}}}}),
              HasSubstr("Dimension out of range"));
  EXPECT_THAT(refused({.dynamic_axes = {{"input", {{0, "n"}, {1, "n"}}}}}),
              HasSubstr("'n' is 2 and 4 in the examples"));
  EXPECT_THAT(refused({.input_names = {"x"}, .output_names = {"x"}}),
              HasSubstr("'x' is that of an output and of an input or parameter"));
  EXPECT_THAT(refused({.opset_version = 9}), HasSubstr("opset_version must be from 17 to 21"));
  nn::Linear layer(4, 2);
  EXPECT_THAT(error_of([&] {
                export_model(layer, {randn({2, 4})}, "never.onnx", {.input_names = {"weight"}});
              }),
              HasSubstr("'weight' is that of an input and of a parameter"));
  // What is made gets out of the way.
  EXPECT_EQ(
      to_graph(*layer, detail::forward_of(*layer), {randn({2, 4})}, {.output_names = {"Gemm"}})
          .outputs[0]
          .name,
      "Gemm");
  EXPECT_THAT(error_of([&] {
                export_model(layer, {randn({2, 4}), randn({2, 4})}, "never.onnx");
              }),
              HasSubstr("does not take 2 tensor(s)"));
}

TEST(Exports, ATransformerOfLibraryModulesIsWritten) {
  manual_seed(3);
  nn::TransformerEncoderLayer layer({.d_model = 8, .nhead = 2, .dim_feedforward = 16});
  layer->eval();
  const TemporaryFolder folder;
  ExportOptions options;
  options.dynamic_axes = {{"input", {{0, "time"}, {1, "batch"}}}};
  export_model(layer, {randn({5, 2, 8})}, folder / "layer.onnx", options);
  ImportedModel model = load(folder / "layer.onnx");
  const Tensor x = randn({7, 3, 8});
  const NoGradGuard no_grad;
  EXPECT_LE(difference(layer(x), model(x)), 1e-6);
}

}  // namespace
}  // namespace taeda::onnx
