// Normalisation and transformer layers.
#include "common.h"
#include "taeda/device/generator.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/random/random.h"
#include "taeda/optim/adam.h"

namespace taeda::nn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using namespace testing_helpers;

TEST(LayerPrinting, Normalisations) {
  expect_print("batch_norm1d",
               BatchNorm1d({.num_features = 7, .momentum = std::nullopt, .affine = false}));
  expect_print("batch_norm2d",
               BatchNorm2d({.num_features = 7, .eps = 0.001, .track_running_stats = false}));
  expect_print("instance_norm1d", InstanceNorm1d(3));
  expect_print("instance_norm2d",
               InstanceNorm2d({.num_features = 3, .affine = true, .track_running_stats = true}));
  expect_print("layer_norm", LayerNorm(8));
  expect_print("layer_norm2", LayerNorm({.normalized_shape = {4, 8}, .elementwise_affine = false}));
  expect_print("group_norm", GroupNorm(2, 6));
}

TEST(BatchNorm, TracksStatistics) {
  BatchNorm1d layer(2);
  EXPECT_THAT(layer->state_dict().keys(),
              ElementsAre("weight", "bias", "running_mean", "running_var", "num_batches_tracked"));
  const Tensor x = arange(4, kFloat).view({2, 2});
  EXPECT_THAT(to_doubles(layer(x)), near({-1, -1, 1, 1}, 1e-4));
  EXPECT_THAT(to_doubles(layer->running_mean), near({0.1, 0.2}, 1e-6));
  EXPECT_THAT(to_doubles(layer->running_var), near({1.1, 1.1}, 1e-6));  // 0.9 + 0.1 * 2
  EXPECT_EQ(layer->num_batches_tracked.item<int64_t>(), 1);
  layer->eval();
  layer(x);
  EXPECT_EQ(layer->num_batches_tracked.item<int64_t>(), 1);
  layer->reset_running_stats();
  EXPECT_THAT(to_doubles(layer->running_var), ElementsAre(1, 1));

  BatchNorm1d average({.num_features = 2, .momentum = std::nullopt});
  average(x);
  average(x.add(2));
  EXPECT_THAT(to_doubles(average->running_mean), near({2, 3}, 1e-6));
}

TEST(BatchNorm, Errors) {
  EXPECT_THAT(
      [] {
        BatchNorm1d(2)(ones({2, 2, 2, 2}));
      },
      ThrowsMessage<ValueError>(HasSubstr("expected 2D or 3D input (got 4D input)")));
  EXPECT_THAT(
      [] {
        BatchNorm2d(2)(ones({2, 2}));
      },
      ThrowsMessage<ValueError>(HasSubstr("expected 4D input (got 2D input)")));
  EXPECT_THAT(
      [] {
        BatchNorm3d(2)(ones({2, 2}));
      },
      ThrowsMessage<ValueError>(HasSubstr("expected 5D input (got 2D input)")));
  EXPECT_THAT(
      [] {
        BatchNorm1d(2)(ones({1, 2}));
      },
      ThrowsMessage<ValueError>(HasSubstr("Expected more than 1 value per channel when training")));
  EXPECT_THAT(
      [] {
        InstanceNorm2d(2)(ones({2, 2}));
      },
      ThrowsMessage<ValueError>(HasSubstr("expected 3D or 4D input (got 2D input)")));
  EXPECT_THAT([] { GroupNorm(4, 6); },
              ThrowsMessage<ValueError>("num_channels must be divisible by num_groups"));
}

TEST(InstanceNorm, TakesBatchesAndSingleSamples) {
  InstanceNorm1d layer(2);
  const Tensor x = arange(4, kFloat).view({2, 2});
  EXPECT_THAT(to_doubles(layer(x)), near({-1, 1, -1, 1}, 1e-3));
  EXPECT_THAT(to_doubles(layer(x.unsqueeze(0))), near({-1, 1, -1, 1}, 1e-3));
}

TEST(Transformer, DrawsAndPrintsAsPyTorch) {
  manual_seed(0);
  MultiheadAttention attention(4, 2);
  EXPECT_THAT(state_values(*attention), near(golden_values.at("attention"), 1e-6));
  EXPECT_THAT(attention->named_parameters().keys(),
              ElementsAre("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"));
  EXPECT_THAT([] { MultiheadAttention(5, 2); },
              ThrowsMessage<ValueError>("embed_dim must be divisible by num_heads"));
  EXPECT_THAT(
      [&] {
        attention(ones({2, 4}), ones({2, 4}), ones({2, 4}));
      },
      ThrowsMessage<Error>(HasSubstr("batched 3-D")));
  EXPECT_THAT(
      [&] {
        attention(ones({2, 1, 3}), ones({2, 1, 4}), ones({2, 1, 4}));
      },
      ThrowsMessage<Error>(HasSubstr("was expecting embedding dimension of 4, but got 3")));
  EXPECT_THAT(
      [&] {
        attention(ones({2, 1, 4}), ones({3, 1, 4}), ones({3, 1, 4}), ones({1, 2}, kBool));
      },
      ThrowsMessage<Error>(
          HasSubstr("expecting key_padding_mask shape of [1, 3], but got [1, 2]")));
  EXPECT_THAT([] { TransformerEncoderLayer({.d_model = 4, .nhead = 2, .activation = kTanh}); },
              ThrowsMessage<ValueError>("activation should be relu/gelu"));
}

TEST(Transformer, MatchesPyTorch) {
  manual_seed(11);
  TransformerEncoderLayer layer(TransformerEncoderLayerOptions{
      .d_model = 8, .nhead = 2, .dim_feedforward = 16, .dropout = 0});
  const Tensor x = randn({3, 2, 8});
  EXPECT_THAT(to_doubles(layer(x)), near(golden_values.at("encoder_layer_output"), 2e-5));
  const auto [output, weights] = layer->self_attn(x, x, x);
  EXPECT_EQ(weights.sizes().vec(), (std::vector<int64_t>{2, 3, 3}));
}

/// Without weights the fused operation takes the masks; with them, the layer itself.
TEST(Transformer, GivesTheSameWithAndWithoutWeights) {
  manual_seed(12);
  MultiheadAttention layer({.embed_dim = 8, .num_heads = 2, .dropout = 0.2, .batch_first = true});
  const Tensor x = randn({3, 4, 8}), source = randn({3, 5, 8});
  const Tensor hidden = tensor({0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0}, kBool).view({3, 5}),
               later = ones({4, 5}, kBool).triu(2), bias = randn({6, 4, 5});
  for (const Tensor& padding : {Tensor(), hidden, hidden.to(kFloat)})
    for (const Tensor& mask : {Tensor(), later, bias}) {
      std::vector<Tensor> outputs;
      for (const bool need_weights : {true, false}) {
        manual_seed(13);
        const auto [output, weights] = layer(x, source, source, padding, need_weights, mask);
        EXPECT_EQ(weights.defined(), need_weights);
        outputs.push_back(output);
      }
      EXPECT_LE((outputs[0] - outputs[1]).abs().max().item<double>(), 1e-6);
    }
}

template <class M>
Tensor first_output(M& layer, const Tensor& x) {
  return std::get<0>(layer(x));
}

TEST(Recurrent, OutputsMatchPyTorch) {
  const auto check = [](const char* name, auto make) {
    manual_seed(5);
    auto layer = make();
    const Tensor x = randn({4, 2, 3});
    EXPECT_THAT(to_doubles(first_output(layer, x)), near(golden_values.at(name), 1e-5)) << name;
  };
  check("rnn_output", [] { return RNN({.input_size = 3, .hidden_size = 4, .num_layers = 2}); });
  check("lstm_output", [] {
    return LSTM({.input_size = 3, .hidden_size = 4, .num_layers = 2, .bidirectional = true});
  });
  check("gru_output", [] { return GRU(3, 4); });
  manual_seed(5);
  LSTMCell cell(3, 4);
  const Tensor x = randn({2, 3});
  EXPECT_THAT(to_doubles(std::get<1>(cell(x))), near(golden_values.at("lstm_cell_output"), 1e-5));
}

TEST(Recurrent, ShapesAndErrors) {
  LSTM layer({.input_size = 3, .hidden_size = 4, .batch_first = true});
  const auto [y, state] = layer(ones({2, 5, 3}));
  EXPECT_EQ(y.sizes().vec(), (std::vector<int64_t>{2, 5, 4}));
  EXPECT_EQ(std::get<0>(state).sizes().vec(), (std::vector<int64_t>{1, 2, 4}));
  EXPECT_EQ(std::get<0>(GRU(3, 4)(ones({5, 3}))).sizes().vec(), (std::vector<int64_t>{5, 4}));
  EXPECT_THAT(
      [] {
        GRU(3, 4)
        (ones({3}));
      },
      ThrowsMessage<Error>(HasSubstr("2-D or 3-D but received 1-D tensor")));
  EXPECT_THAT(
      [] {
        GRU(3, 4)(ones({5, 2, 2}));
      },
      ThrowsMessage<Error>(HasSubstr("Expected 3, got 2")));
  EXPECT_THAT(
      [] {
        GRU(3, 4)(ones({5, 2, 3}), ones({1, 2, 3}));
      },
      ThrowsMessage<Error>(HasSubstr("Expected hidden size [1, 2, 4], got [1, 2, 3]")));
  EXPECT_THAT(
      [] {
        GRUCell(3, 4)(ones({2, 2}));
      },
      ThrowsMessage<Error>(HasSubstr("inconsistent input_size: got 2, expected 3")));
  EXPECT_THAT(
      [] {
        GRUCell(3, 4)(ones({2, 3}), ones({2, 3}));
      },
      ThrowsMessage<Error>(HasSubstr("hidden has inconsistent size")));
  EXPECT_THAT(
      [] {
        GRUCell(3, 4)(ones({2, 2, 3}));
      },
      ThrowsMessage<Error>(HasSubstr("1-D or 2-D but received 3-D tensor")));
  EXPECT_THAT([] { GRU({.input_size = 3, .hidden_size = 4, .dropout = 2}); },
              ThrowsMessage<ValueError>(HasSubstr("dropout should be a number")));
  EXPECT_THAT([] { GRU({.input_size = 3, .hidden_size = 4, .num_layers = 0}); },
              ThrowsMessage<ValueError>(HasSubstr("num_layers must be greater")));
  EXPECT_THAT([] { RNN({.input_size = 3, .hidden_size = 4, .nonlinearity = kGELU}); },
              ThrowsMessage<ValueError>(HasSubstr("Unknown nonlinearity")));
}

TEST(Training, NormalisedNetworkLossesEqualPyTorchs) {
  manual_seed(3);
  Sequential model{
      Conv2d({.in_channels = 3, .out_channels = 8, .kernel_size = 3, .padding = 1, .bias = false}),
      BatchNorm2d(8),
      ReLU(),
      MaxPool2d(2),
      Conv2d({.in_channels = 8, .out_channels = 8, .kernel_size = 3, .padding = 1}),
      GroupNorm(2, 8),
      GELU(),
      AdaptiveAvgPool2d(1),
      Flatten(),
      LayerNorm(8),
      Linear(8, 4)};
  optim::AdamW optimizer(model->parameters(), optim::AdamWOptions(0.01));
  CrossEntropyLoss loss_function({.label_smoothing = 0.1});
  const Tensor x = randn({8, 3, 8, 8});
  Tensor target = empty({8}, kLong);
  for (int64_t i = 0; i < 8; ++i) target.data_ptr<int64_t>()[i] = i % 4;
  std::vector<double> losses;
  for (int step = 0; step < 10; ++step) {
    optimizer.zero_grad();
    const Tensor loss = loss_function(model(x), target);
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item<double>());
  }
  EXPECT_THAT(losses, near(golden_losses.at("normed_adamw"), 2e-3));
}

}  // namespace
}  // namespace taeda::nn
