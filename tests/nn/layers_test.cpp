// Layers: what they print, what they compute, what they refuse.
#include "common.h"
#include "taeda/device/generator.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/random/random.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/kept_warnings.h"

namespace taeda::nn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using namespace testing_helpers;
namespace F = functional;

TEST(LayerPrinting, LinearAndShapes) {
  expect_print("linear", Linear({.in_features = 3, .out_features = 4, .bias = false}));
  expect_print("bilinear", Bilinear(2, 3, 4));
  expect_print("flatten", Flatten());
  expect_print("unflatten", Unflatten(1, std::vector<int64_t>{2, 3}));
  expect_print("identity", Identity());
  expect_print("embedding",
               Embedding({.num_embeddings = 10, .embedding_dim = 3, .padding_idx = -1}));
  expect_print("dropout", Dropout());
  expect_print("dropout2d", Dropout2d({.p = 0.1, .inplace = true}));
  expect_print("alpha_dropout", AlphaDropout(0.2));
}

TEST(LayerPrinting, Convolutions) {
  expect_print("conv1d", Conv1d({.in_channels = 4,
                                 .out_channels = 8,
                                 .kernel_size = 3,
                                 .stride = 2,
                                 .padding = 1,
                                 .dilation = 2,
                                 .groups = 4,
                                 .bias = false}));
  expect_print("conv2d", Conv2d({.in_channels = 3,
                                 .out_channels = 16,
                                 .kernel_size = {3, 5},
                                 .stride = {1, 2},
                                 .padding = {1, 0},
                                 .padding_mode = kReflect}));
  expect_print("conv2d_same",
               Conv2d({.in_channels = 3, .out_channels = 16, .kernel_size = 3, .padding = kSame}));
  expect_print("conv3d", Conv3d(1, 2, 3));
  expect_print("conv_transpose2d", ConvTranspose2d({.in_channels = 4,
                                                    .out_channels = 2,
                                                    .kernel_size = 3,
                                                    .stride = 2,
                                                    .padding = 1,
                                                    .output_padding = 1}));
}

TEST(LayerPrinting, Pooling) {
  expect_print("max_pool1d", MaxPool1d(3));
  expect_print("max_pool2d", MaxPool2d(2));
  expect_print(
      "max_pool2d_pairs",
      MaxPool2d({.kernel_size = {3, 2}, .stride = {2, 1}, .padding = {0, 1}, .ceil_mode = true}));
  expect_print("avg_pool1d", AvgPool1d(2));
  expect_print("avg_pool2d", AvgPool2d({.kernel_size = 3, .stride = 2, .padding = 1}));
  expect_print("adaptive_avg_pool1d", AdaptiveAvgPool1d(5));
  expect_print("adaptive_avg_pool2d", AdaptiveAvgPool2d({.output_size = {5, 7}}));
  expect_print("adaptive_max_pool2d", AdaptiveMaxPool2d(1));
}

TEST(LayerPrinting, Activations) {
  expect_print("relu", ReLU());
  expect_print("relu_inplace", ReLU(true));
  expect_print("relu6", ReLU6());
  expect_print("leaky_relu", LeakyReLU({.negative_slope = 0.2}));
  expect_print("elu", ELU());
  expect_print("selu", SELU());
  expect_print("celu", CELU({.alpha = 0.5}));
  expect_print("gelu", GELU());
  expect_print("gelu_tanh", GELU("tanh"));
  expect_print("hardtanh", Hardtanh({.min_val = -2, .max_val = 2}));
  expect_print("sigmoid", Sigmoid());
  expect_print("tanh", Tanh());
  expect_print("softplus", Softplus());
  expect_print("softsign", Softsign());
  expect_print("silu", SiLU());
  expect_print("mish", Mish());
  expect_print("hardswish", Hardswish());
  expect_print("hardsigmoid", Hardsigmoid());
  expect_print("hardshrink", Hardshrink());
  expect_print("softshrink", Softshrink());
  expect_print("tanhshrink", Tanhshrink());
  expect_print("threshold", Threshold(0.1, 20));
  expect_print("prelu", PReLU());
  expect_print("glu", GLU());
  expect_print("log_sigmoid", LogSigmoid());
  expect_print("softmax", Softmax(1));
  expect_print("log_softmax", LogSoftmax(-1));
  expect_print("softmin", Softmin(0));
}

TEST(LayerPrinting, LossesAndRecurrentNetworks) {
  expect_print("cross_entropy", CrossEntropyLoss());
  expect_print("mse", MSELoss());
  expect_print("rnn",
               RNN({.input_size = 3, .hidden_size = 4, .num_layers = 2, .nonlinearity = kReLU}));
  expect_print("lstm", LSTM({.input_size = 3,
                             .hidden_size = 4,
                             .num_layers = 2,
                             .batch_first = true,
                             .dropout = 0.5,
                             .bidirectional = true}));
  expect_print("gru", GRU(3, 4));
  expect_print("lstm_cell", LSTMCell(3, 4));
  expect_print("gru_cell", GRUCell({.input_size = 3, .hidden_size = 4, .bias = false}));
  expect_print("rnn_cell", RNNCell(3, 4));
}

TEST(Options, ListsHaveTheRightLength) {
  EXPECT_THAT(
      [] {
        ExpandingArray<2>({1, 2, 3});
      },
      ThrowsMessage<ValueError>("Expected 2 values, but instead got 3"));
  const ExpandingArray<3> one(7);
  EXPECT_TRUE(one.all(7));
  EXPECT_EQ(one.text(), "7");
  EXPECT_EQ(ExpandingArray<1>({4}).text(), "(4,)");
  EXPECT_EQ(float_text(1e-5), "1e-05");
  EXPECT_EQ(float_text(0.001), "0.001");
  EXPECT_EQ(float_text(2), "2.0");
}

TEST(Conv, RejectsBadOptions) {
  EXPECT_THAT([] { Conv2d({.in_channels = 3, .out_channels = 4, .kernel_size = 3, .groups = 2}); },
              ThrowsMessage<ValueError>("in_channels must be divisible by groups"));
  EXPECT_THAT([] { Conv2d({.in_channels = 4, .out_channels = 3, .kernel_size = 3, .groups = 2}); },
              ThrowsMessage<ValueError>("out_channels must be divisible by groups"));
  EXPECT_THAT([] { Conv2d({.in_channels = 4, .out_channels = 4, .kernel_size = 3, .groups = 0}); },
              ThrowsMessage<ValueError>("groups must be a positive integer"));
  EXPECT_THAT(
      [] {
        Conv2d(
            {.in_channels = 4, .out_channels = 4, .kernel_size = 3, .stride = 2, .padding = kSame});
      },
      ThrowsMessage<ValueError>("padding='same' is not supported for strided convolutions"));
  ConvTranspose2d up({.in_channels = 1, .out_channels = 1, .kernel_size = 3, .stride = 2});
  EXPECT_EQ(up(ones({1, 1, 4, 4}), std::vector<int64_t>{10, 9}).size(2), 10);
  EXPECT_THAT(
      [&] {
        up(ones({1, 1, 4, 4}), std::vector<int64_t>{11, 9});
      },
      ThrowsMessage<ValueError>(HasSubstr("dimension 0 can be from 9 to 10 only")));
  EXPECT_THAT(
      [&] {
        up(ones({1, 1, 4, 4}), std::vector<int64_t>{11});
      },
      ThrowsMessage<ValueError>(HasSubstr("output_size must have 2 or 4 elements (got 1)")));
}

TEST(Conv, PaddingModesFillTheBorders) {
  Conv1d conv({.in_channels = 1,
               .out_channels = 1,
               .kernel_size = 3,
               .padding = 1,
               .bias = false,
               .padding_mode = kCircular});
  {
    NoGradGuard no_grad;
    init::dirac_(conv->weight);
    conv->weight.fill_(1);
  }
  // 4 + 1 + 2, 1 + 2 + 3, 2 + 3 + 4, 3 + 4 + 1
  EXPECT_THAT(to_doubles(conv(arange(1, 5, kFloat).view({1, 1, 4}))), ElementsAre(7, 6, 9, 8));
}

TEST(Pad, AllModes) {
  const Tensor x = arange(1, 5, kFloat), row = x.unsqueeze(0);
  EXPECT_THAT(to_doubles(F::pad(x, {1, 2})), ElementsAre(0, 1, 2, 3, 4, 0, 0));
  EXPECT_THAT(to_doubles(F::pad(x, {-1, 1}, kConstant, 9)), ElementsAre(2, 3, 4, 9));
  EXPECT_THAT(to_doubles(F::pad(row, {2, 1}, kReflect)), ElementsAre(3, 2, 1, 2, 3, 4, 3));
  EXPECT_THAT(to_doubles(F::pad(row, {2, 1}, kReplicate)), ElementsAre(1, 1, 1, 2, 3, 4, 4));
  EXPECT_THAT(to_doubles(F::pad(row, {.pad = {2, 1}, .mode = kCircular})),
              ElementsAre(3, 4, 1, 2, 3, 4, 1));
  EXPECT_THAT(to_doubles(F::pad(row, {-1, 2}, kReflect)), ElementsAre(2, 3, 4, 3, 2));
  EXPECT_THAT(to_doubles(F::pad(row, {-1, -2}, kReplicate)), ElementsAre(2));
  EXPECT_EQ(F::pad(ones({2, 3}), {1, 1, 2, 0}).sizes().vec(), (std::vector<int64_t>{4, 5}));
  EXPECT_THAT([&] { F::pad(x, {1}); },
              ThrowsMessage<Error>("Padding length must be divisible by 2"));
  EXPECT_THAT(
      [&] {
        F::pad(x, {1, 1, 1, 1});
      },
      ThrowsMessage<Error>("Padding length should be less than or equal to two times the input "
                           "dimension but got padding length 4 and input of dimension 1"));
  EXPECT_THAT(
      [&] {
        F::pad(x, {-3, -2});
      },
      ThrowsMessage<Error>(HasSubstr("resulted in a negative output size")));
  EXPECT_THAT(
      [&] {
        F::pad(row, {4, 0}, kReflect);
      },
      ThrowsMessage<Error>(HasSubstr("less than the corresponding input")));
  EXPECT_THAT(
      [&] {
        F::pad(row, {5, 0}, kCircular);
      },
      ThrowsMessage<Error>(HasSubstr("wrapping around more than once")));
  EXPECT_THAT(
      [&] {
        F::pad(row, {-3, -1}, kReplicate);
      },
      ThrowsMessage<Error>(HasSubstr("leaves nothing of dimension 1")));
  EXPECT_THAT(
      [&] {
        F::pad(empty({1, 0}), {1, 0}, kReplicate);
      },
      ThrowsMessage<Error>(HasSubstr("Expected a non-empty input")));
  EXPECT_THAT(
      [&] {
        F::pad(x, {2, 1}, kReflect);
      },
      ThrowsMessage<NotImplementedError>(
          HasSubstr("Padding size 2 is not supported for 1D input tensor")));
}

TEST(Bilinear, ComputesTheForm) {
  Bilinear layer(2, 2, 1);
  {
    NoGradGuard no_grad;
    layer->weight.copy_(arange(1, 5, kFloat).view({1, 2, 2}));
    layer->bias.fill_(10);
  }
  // (1, 2) [[1, 2], [3, 4]] (3, 4)^T = (7, 10) . (3, 4) = 61
  EXPECT_THAT(
      to_doubles(layer(arange(1, 3, kFloat).view({1, 2}), arange(3, 5, kFloat).view({1, 2}))),
      ElementsAre(71));
  EXPECT_THAT(
      [&] {
        layer(ones({1, 3}), ones({1, 2}));
      },
      ThrowsMessage<Error>(HasSubstr("input1 size does not match")));
  EXPECT_THAT(
      [&] {
        layer(ones({1, 2}), ones({1, 3}));
      },
      ThrowsMessage<Error>(HasSubstr("input2 size does not match")));
  EXPECT_THAT(
      [&] {
        layer(ones({1, 2}), ones({2, 2}));
      },
      ThrowsMessage<Error>(HasSubstr("do not match at dim 0")));
  EXPECT_THAT(
      [&] {
        layer(ones({2}), ones({1, 2}));
      },
      ThrowsMessage<Error>(HasSubstr("input dimensions do not match")));
  EXPECT_THAT([] { Bilinear(0, 2, 1); },
              ThrowsMessage<ValueError>("in1_features must be > 0, but got 0"));
}

TEST(Dropout, ActsInTrainingOnly) {
  Dropout layer(0.5);
  const Tensor x = ones({1000});
  const std::vector<double> y = to_doubles(layer(x));
  EXPECT_THAT(y, testing::Each(testing::AnyOf(0.0, 2.0)));
  EXPECT_NEAR(static_cast<double>(std::count(y.begin(), y.end(), 0.0)), 500, 100);
  layer->eval();
  EXPECT_TRUE(layer(x).is_same(x));
  const Tensor changed = ones({4});
  EXPECT_TRUE(F::dropout(changed, 1.0, true, /*inplace=*/true).is_same(changed));
  EXPECT_THAT(to_doubles(changed), testing::Each(0));
  const std::vector<double> planes = to_doubles(F::dropout2d(ones({2, 3, 2, 2}), 0.5));
  for (size_t plane = 0; plane < 6; ++plane)
    for (size_t i = 1; i < 4; ++i) EXPECT_EQ(planes[plane * 4 + i], planes[plane * 4]);
  EXPECT_THAT(
      [] { Dropout(1.5); },
      ThrowsMessage<ValueError>("dropout probability has to be between 0 and 1, but got 1.5"));
  EXPECT_THAT([&] { F::dropout(x, -0.5); }, ThrowsMessage<ValueError>(HasSubstr("but got -0.5")));
}

TEST(Embedding, LooksUpRows) {
  Embedding layer = Embedding::from_pretrained(arange(6, kFloat).view({3, 2}));
  EXPECT_FALSE(layer->weight.requires_grad());
  Tensor index = zeros({2}, kLong);
  index.data_ptr<int64_t>()[0] = 2;
  EXPECT_THAT(to_doubles(layer(index)), ElementsAre(4, 5, 0, 1));
  Embedding padded({.num_embeddings = 3, .embedding_dim = 2, .padding_idx = 0});
  padded(index).sum().backward();
  EXPECT_THAT(to_doubles(padded->weight.grad()), ElementsAre(0, 0, 0, 0, 1, 1));
  EXPECT_THAT([] { Embedding({.num_embeddings = 3, .embedding_dim = 2, .padding_idx = 3}); },
              ThrowsMessage<Error>("Padding_idx must be within num_embeddings"));
  Embedding none({.num_embeddings = 0, .embedding_dim = 3});
  EXPECT_EQ(none(zeros({0}, kLong)).sizes(), IntArrayRef({0, 3}));
  EXPECT_THAT([] { Embedding({.num_embeddings = 0, .embedding_dim = 3, .padding_idx = -1}); },
              ThrowsMessage<Error>("Padding_idx must be within num_embeddings"));
  EXPECT_THROW(Embedding({.num_embeddings = 0, .embedding_dim = 3, .padding_idx = 0}), IndexError)
      << "there is no row";
  EXPECT_THAT(
      [] {
        Embedding({.num_embeddings = 3, .embedding_dim = 2, ._weight = ones({2, 2})});
      },
      ThrowsMessage<Error>("Shape of weight does not match num_embeddings and embedding_dim"));
  EXPECT_THAT([] { Embedding::from_pretrained(ones({2})); },
              ThrowsMessage<ValueError>("Embeddings parameter is expected to be 2-dimensional"));
}

TEST(Losses, WeightsMoveWithTheModule) {
  CrossEntropyLoss loss({.weight = ones({3}), .reduction = kSum});
  loss->to(kDouble);
  EXPECT_EQ(loss->options.weight().dtype(), kDouble);
  EXPECT_THAT(loss->state_dict().keys(), ElementsAre("weight"));
  const Tensor x = zeros({2, 3}, kDouble), target = zeros({2}, kLong);
  EXPECT_NEAR(loss(x, target).item<double>(), 2 * std::log(3.0), 1e-9);
  const auto copy = std::dynamic_pointer_cast<CrossEntropyLossImpl>(loss->clone());
  EXPECT_FALSE(copy->options.weight().is_same(loss->options.weight()));
  EXPECT_TRUE(copy->options.weight().is_same(copy->named_buffers()["weight"]));
  EXPECT_NEAR(F::mse_loss(ones({2}), zeros({2}), {.reduction = kSum}).item<double>(), 2, 0);
  EXPECT_NEAR(KLDivLoss(kBatchMean)(zeros({2, 2}), ones({2, 2})).item<double>(), 0, 1e-6);
}

TEST(Losses, ADivergenceDividedByAllElementsIsWarnedOf) {
  const Tensor x = zeros({2, 2}), target = ones({2, 2});
  KeptWarnings warnings;
  KLDivLoss()->forward(x, target);
  F::kl_div(x, target, F::KLDivFuncOptions(kMean));
  EXPECT_THAT(
      warnings.take(),
      testing::AllOf(testing::SizeIs(2),
                     testing::Each(HasSubstr(
                         "reduction: 'mean' divides the total loss by both the batch size and"))));
  KLDivLoss(kBatchMean)->forward(x, target);
  KLDivLoss(kSum)->forward(x, target);
  EXPECT_THAT(warnings.take(), testing::IsEmpty());
}

TEST(Activations, InplaceChangesTheInput) {
  const Tensor x = arange(-2, 2, kFloat);
  EXPECT_TRUE(ReLU(true)(x).is_same(x));
  EXPECT_THAT(to_doubles(x), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(to_doubles(PReLU()(arange(-2, 2, kFloat))), ElementsAre(-0.5, -0.25, 0, 1));
  EXPECT_THAT(to_doubles(F::softmax(zeros({4}), {.dim = 0})), testing::Each(0.25));
}

TEST(Attention, LooksWhereTheMaskAllows) {
  const Tensor q = ones({2, 4}), k = ones({2, 4}), v = arange(4, kFloat).view({2, 2});
  EXPECT_THAT(to_doubles(F::scaled_dot_product_attention(q, k, v)), near({1, 2, 1, 2}, 1e-6));
  EXPECT_THAT(to_doubles(F::scaled_dot_product_attention(q, k, v, {}, 0, /*is_causal=*/true)),
              near({0, 1, 1, 2}, 1e-6));
  Tensor mask = ones({2, 2}, kBool);
  mask.data_ptr<bool>()[0] = false;
  EXPECT_THAT(to_doubles(F::scaled_dot_product_attention(q, k, v, mask)), near({2, 3, 1, 2}, 1e-6));
  EXPECT_THAT([&] { F::scaled_dot_product_attention(q, k, v, mask, 0, true); },
              ThrowsMessage<Error>(HasSubstr("attn_mask should not be set when is_causal=True")));
  EXPECT_THAT([&] { F::scaled_dot_product_attention(ones({2}), k, v); },
              ThrowsMessage<Error>(HasSubstr("to all be  at least 2 dimensional")));
}

}  // namespace
}  // namespace taeda::nn
