// Every model of taeda/models, written and read again. With TAEDA_ONNX_FILES set to a folder, the
// files and what the models compute stay there, for check_with_onnxruntime.py.
#include <gmock/gmock.h>

#include "taeda/device/generator.h"
#include "taeda/models/gpt.h"
#include "taeda/models/lenet.h"
#include "taeda/models/lstm_lm.h"
#include "taeda/models/mobilenet.h"
#include "taeda/models/resnet.h"
#include "taeda/models/vgg.h"
#include "taeda/nn/modules/normalization.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/random/random.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/io/temporary_folder.h"
#include "tests/onnx/round_trip.h"

namespace taeda::onnx {
namespace {

using testing::ElementsAre;

/// Statistics as training leaves them, so that batch norms do something.
void fill_statistics(nn::Module& model) {
  for (auto& item : model.named_buffers()) {
    const NoGradGuard no_grad;
    if (item.key().ends_with("running_mean")) item.value().normal_(0, 0.1);
    if (item.key().ends_with("running_var")) item.value().uniform_(0.5, 1.5);
  }
}

/// What must hold of a model's file, for the example and for other batches.
template <class M>
void check(const std::string& name, M& model, const std::vector<std::vector<Tensor>>& batches,
           ExportOptions options, double tolerance = 1e-6) {
  const TemporaryFolder folder;
  fill_statistics(*model);
  model->eval();
  const NoGradGuard no_grad;
  export_model(model, batches[0], folder / "model.onnx", options);
  ImportedModel read = load(folder / "model.onnx");
  EXPECT_NO_THROW(check_graph(read->graph()));
  const Forward forward = detail::forward_of(*model);
  for (size_t b = 0; b < batches.size(); ++b) {
    const std::vector<Tensor> expected = forward(batches[b]), found = read->run(batches[b]);
    ASSERT_EQ(expected.size(), found.size());
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_LE(difference(expected[i], found[i]), tolerance)
          << name << ", batch " << b << ", output " << i;
    keep_files(name, read->graph(), b, batches[b], expected);
  }
  // Parameters are there under their names.
  const auto state = read->state_dict();
  for (const auto& item : model->named_parameters())
    ASSERT_TRUE(state.contains(item.key())) << name << ": " << item.key();
}

TEST(Models, LeNetKeepsItsNumbersForEveryBatch) {
  manual_seed(1);
  models::LeNet model;
  check("lenet", model, {{randn({2, 1, 28, 28})}, {randn({5, 1, 28, 28})}}, open_batch());
}

TEST(Models, ResNetsKeepTheirNumbers) {
  manual_seed(2);
  models::ResNet model = models::resnet18(10);
  check("resnet18", model, {{randn({2, 3, 64, 64})}, {randn({3, 3, 64, 64})}}, open_batch());
  models::ResNet bottleneck(
      models::ResNetOptions{.layers = {1, 1, 1, 1}, .bottleneck = true, .num_classes = 10});
  check("resnet_bottleneck", bottleneck, {{randn({1, 3, 64, 64})}, {randn({4, 3, 64, 64})}},
        open_batch());
}

TEST(Models, ResNetTakesPicturesOfAnySizeWhereItsAxesAreOpen) {
  manual_seed(3);
  models::ResNet model(models::ResNetOptions{.layers = {1, 1, 1, 1}, .num_classes = 5});
  ExportOptions options;
  options.dynamic_axes = {{"input", {{0, "batch"}, {2, "height"}, {3, "width"}}}};
  check("resnet_any_size", model, {{randn({1, 3, 64, 64})}, {randn({2, 3, 96, 80})}}, options);
}

TEST(Models, MobileNetKeepsItsNumbers) {
  manual_seed(4);
  models::MobileNetV2 model(models::MobileNetV2Options{.num_classes = 10, .width_mult = 0.35});
  check("mobilenet", model, {{randn({2, 3, 64, 64})}, {randn({3, 3, 64, 64})}}, open_batch());
}

TEST(Models, VGGKeepsItsNumbersForPicturesThatItsPoolDoesNotDivide) {
  manual_seed(5);
  models::VGG model(
      models::VGGOptions{.layers = {8, 0, 16, 0, 16, 0}, .batch_norm = true, .num_classes = 10});
  // 7 x 7 windows of 4 x 4, 9 x 9 and 14 x 14.
  check("vgg_small", model, {{randn({2, 3, 32, 32})}, {randn({3, 3, 32, 32})}}, open_batch());
  check("vgg_odd", model, {{randn({2, 3, 72, 72})}}, open_batch());
  check("vgg_even", model, {{randn({2, 3, 112, 112})}}, open_batch());
}

TEST(Models, GPTTakesTextsOfAnyNumberAndLength) {
  manual_seed(6);
  models::GPT model(models::GPTOptions{
      .vocab_size = 40, .block_size = 32, .n_layer = 2, .n_head = 2, .n_embd = 16});
  ExportOptions options;
  options.input_names = {"tokens"};
  options.output_names = {"scores"};
  options.dynamic_axes = {{"tokens", {{0, "batch"}, {1, "time"}}}};
  check("gpt", model, {{randint(40, {2, 6}, kLong)}, {randint(40, {3, 11}, kLong)}}, options);
  const Graph graph =
      to_graph(*model, detail::forward_of(*model), {randint(40, {2, 6}, kLong)}, options);
  EXPECT_EQ(graph.outputs[0].type(), "float32 [batch, time, 40]");
}

TEST(Models, LSTMLanguageModelGivesItsStatesToo) {
  manual_seed(7);
  models::LSTMLanguageModel model(
      models::LSTMLanguageModelOptions{.ntoken = 30, .ninp = 8, .nhid = 12, .nlayers = 2});
  ExportOptions options;
  options.input_names = {"tokens"};
  options.output_names = {"scores", "hidden", "cell"};
  options.dynamic_axes = {{"tokens", {{0, "time"}, {1, "batch"}}}};
  check("lstm_lm", model, {{randint(30, {4, 2}, kLong)}, {randint(30, {7, 5}, kLong)}}, options);
  const Graph graph =
      to_graph(*model, detail::forward_of(*model), {randint(30, {4, 2}, kLong)}, options);
  EXPECT_EQ(graph.outputs[0].type(), "float32 [time*batch, 30]");
  EXPECT_EQ(graph.outputs[1].type(), "float32 [2, batch, 12]");
}

TEST(Models, AForwardWithOtherArgumentsGoesThroughAFunction) {
  manual_seed(8);
  models::LSTMLanguageModel model(
      models::LSTMLanguageModelOptions{.ntoken = 30, .ninp = 8, .nhid = 12, .nlayers = 1});
  const Forward forward = [&](const std::vector<Tensor>& in) {
    const auto [scores, state] = model(in[0], models::LSTMLanguageModelImpl::Hidden(in[1], in[2]));
    return std::vector<Tensor>{scores, std::get<0>(state), std::get<1>(state)};
  };
  model->eval();
  ExportOptions options;
  options.dynamic_axes = {
      {"input_0", {{1, "batch"}}}, {"input_1", {{1, "batch"}}}, {"input_2", {{1, "batch"}}}};
  const Graph graph = to_graph(
      *model, forward, {randint(30, {4, 2}, kLong), randn({1, 2, 12}), randn({1, 2, 12})}, options);
  ImportedModel read{Graph(graph)};
  const std::vector<Tensor> inputs{randint(30, {4, 3}, kLong), randn({1, 3, 12}),
                                   randn({1, 3, 12})};
  const NoGradGuard no_grad;
  const std::vector<Tensor> expected = forward(inputs), found = read->run(inputs);
  for (size_t i = 0; i < 3; ++i) EXPECT_LE(difference(expected[i], found[i]), 1e-6);
}

TEST(Models, AnExportedModelCanBeExportedAgain) {
  manual_seed(9);
  const TemporaryFolder folder;
  models::LeNet model;
  export_model(model, {randn({2, 1, 28, 28})}, folder / "a.onnx", open_batch());
  ImportedModel once = load(folder / "a.onnx");
  export_model(once, {randn({2, 1, 28, 28})}, folder / "b.onnx", open_batch());
  ImportedModel twice = load(folder / "b.onnx");
  const Tensor x = randn({3, 1, 28, 28});
  model->eval();
  const NoGradGuard no_grad;
  EXPECT_LE(difference(model(x), twice(x)), 1e-6);
  EXPECT_EQ(once->state_dict().keys(), twice->state_dict().keys());
}

}  // namespace
}  // namespace taeda::onnx
