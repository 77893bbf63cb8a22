// Layers and losses on meta: outputs and gradients have the form of the CPU's.
#include <gmock/gmock.h>

#include <functional>
#include <string>

#include "taeda/taeda.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

namespace F = nn::functional;

struct Case {
  const char* name;
  std::vector<int64_t> input;
  /// The first argument takes a gradient and is on the device.
  std::function<Tensor(const Tensor&, Device)> call;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

/// What the module gives for x, or the first of several results.
template <class Holder>
auto layer(Holder (*make)()) {
  return [make](const Tensor& x, Device device) -> Tensor {
    Holder m = make();
    m->to(device);
    if constexpr (requires { std::get<0>(m->forward(x)); })
      return std::get<0>(m->forward(x));
    else
      return m->forward(x);
  };
}

Tensor classes(IntArrayRef sizes, Device device) {
  return zeros(sizes, TensorOptions(kLong).device(device));
}

const auto upsampled = [](auto mode) {
  return [mode](const Tensor& x, Device) {
    return F::interpolate(x, {.size = std::vector<int64_t>{7, 5}, .mode = mode});
  };
};

const auto padded = [](auto mode) {
  return [mode](const Tensor& x, Device) { return F::pad(x, {.pad = {1, 2, 0, 1}, .mode = mode}); };
};

std::vector<Case> modules() {
  return {
      {"Linear", {5, 6}, layer(+[] { return nn::Linear(6, 4); })},
      {"Conv1d", {2, 3, 9}, layer(+[] { return nn::Conv1d(3, 4, 3); })},
      {"Conv2d", {2, 3, 8, 8}, layer(+[] { return nn::Conv2d(3, 4, 3); })},
      {"Conv2dCircular", {2, 3, 8, 8}, layer(+[] {
         return nn::Conv2d({.in_channels = 3,
                            .out_channels = 4,
                            .kernel_size = 3,
                            .padding = 1,
                            .padding_mode = kCircular});
       })},
      {"Conv3d", {2, 2, 4, 4, 4}, layer(+[] { return nn::Conv3d(2, 3, 2); })},
      {"ConvTranspose2d", {2, 3, 5, 5}, layer(+[] { return nn::ConvTranspose2d(3, 4, 3); })},
      {"BatchNorm1d", {6, 4}, layer(+[] { return nn::BatchNorm1d(4); })},
      {"BatchNorm2dWithoutMomentum", {2, 3, 5, 5}, layer(+[] {
         return nn::BatchNorm2d({.num_features = 3, .momentum = std::nullopt});
       })},
      {"InstanceNorm2d", {2, 3, 5, 5}, layer(+[] { return nn::InstanceNorm2d(3); })},
      {"LayerNorm", {4, 6}, layer(+[] { return nn::LayerNorm({.normalized_shape = {6}}); })},
      {"GroupNorm", {2, 4, 5}, layer(+[] { return nn::GroupNorm(2, 4); })},
      {"MaxPool2d", {2, 3, 6, 6}, layer(+[] { return nn::MaxPool2d(2); })},
      {"AvgPool2d", {2, 3, 6, 6}, layer(+[] { return nn::AvgPool2d(2); })},
      {"LPPool2d", {2, 3, 6, 6}, layer(+[] { return nn::LPPool2d(2, 3); })},
      {"AdaptiveMaxPool2d", {2, 3, 7, 7}, layer(+[] { return nn::AdaptiveMaxPool2d(3); })},
      {"MaxUnpool2d",
       {2, 3, 6, 6},
       [](const Tensor& x, Device) {
         const auto [y, at] = F::max_pool2d_with_indices(x, {.kernel_size = 2});
         return F::max_unpool2d(y, at, {.kernel_size = 2});
       }},
      {"PReLU", {7, 9}, layer(+[] { return nn::PReLU(); })},
      {"RReLU", {7, 9}, layer(+[] { return nn::RReLU(); })},
      {"Dropout", {7, 9}, layer(+[] { return nn::Dropout(0.3); })},
      {"AlphaDropout", {7, 9}, layer(+[] { return nn::AlphaDropout(0.3); })},
      {"RNN", {6, 3, 4}, layer(+[] { return nn::RNN(4, 5); })},
      {"LSTM", {6, 3, 4}, layer(+[] {
         return nn::LSTM({.input_size = 4,
                          .hidden_size = 5,
                          .num_layers = 2,
                          .dropout = 0.5,
                          .bidirectional = true});
       })},
      {"LSTMProjected", {6, 3, 4}, layer(+[] {
         return nn::LSTM({.input_size = 4, .hidden_size = 5, .batch_first = true, .proj_size = 3});
       })},
      {"GRU", {6, 3, 4}, layer(+[] { return nn::GRU(4, 5); })},
      {"LSTMCell", {3, 4}, layer(+[] { return nn::LSTMCell(4, 5); })},
      {"TransformerEncoderLayer", {5, 2, 8}, layer(+[] {
         return nn::TransformerEncoderLayer({.d_model = 8, .nhead = 2, .dim_feedforward = 12});
       })},
      {"MultiheadAttention",
       {5, 2, 8},
       [](const Tensor& x, Device device) {
         nn::MultiheadAttention m(8, 2);
         m->to(device);
         return std::get<0>(m->forward(x, x, x));
       }},
      {"Bilinear",
       {5, 6},
       [](const Tensor& x, Device device) {
         nn::Bilinear m(6, 6, 4);
         m->to(device);
         return m->forward(x, x);
       }},
      {"Embedding",
       {10, 4},
       [](const Tensor& x, Device device) {
         return F::embedding(classes({3, 5}, device), x, {.max_norm = 1.0});
       }},
      {"EmbeddingBag",
       {10, 4},
       [](const Tensor& x, Device device) {
         return F::embedding_bag(classes({6}, device), x,
                                 {.offsets = classes({3}, device), .mode = kMean});
       }},
  };
}

std::vector<Case> functions() {
  return {
      {"PixelShuffle", {2, 8, 3, 3}, layer(+[] { return nn::PixelShuffle(2); })},
      {"Unfold", {2, 3, 5, 5}, layer(+[] { return nn::Unfold({.kernel_size = 3}); })},
      {"Fold", {2, 27, 9}, layer(+[] {
         return nn::Fold({.output_size = {5, 5}, .kernel_size = 3});
       })},
      {"UpsampledNearest", {2, 3, 4, 4}, upsampled(kNearest)},
      {"UpsampledBilinear", {2, 3, 4, 4}, upsampled(kBilinear)},
      {"UpsampledBicubic", {2, 3, 4, 4}, upsampled(kBicubic)},
      {"PaddedByConstants", {2, 3, 4, 4}, padded(kConstant)},
      {"PaddedByReflection", {2, 3, 4, 4}, padded(kReflect)},
      {"PaddedByReplication", {2, 3, 4, 4}, padded(kReplicate)},
      {"GridSample",
       {2, 3, 4, 4},
       [](const Tensor& x, Device device) {
         return F::grid_sample(x, zeros({2, 5, 6, 2}, device), {});
       }},
      {"CrossEntropy",
       {4, 5},
       [](const Tensor& x, Device device) { return F::cross_entropy(x, classes({4}, device)); }},
      {"MultiMarginLoss",
       {4, 5},
       [](const Tensor& x, Device device) {
         return F::multi_margin_loss(x, classes({4}, device));
       }},
      {"BinaryCrossEntropy",
       {4, 5},
       [](const Tensor& x, Device device) {
         return F::binary_cross_entropy(x.sigmoid(), zeros({4, 5}, device));
       }},
      {"KlDiv",
       {4, 5},
       [](const Tensor& x, Device device) {
         return F::kl_div(x, zeros({4, 5}, device));
       }},
      {"GaussianNll",
       {4, 5},
       [](const Tensor& x, Device device) {
         return gaussian_nll_loss(x, zeros({4, 5}, device), ones({4, 5}, device));
       }},
      {"CtcLoss",
       {6, 2, 5},
       [](const Tensor& x, Device device) {
         return ctc_loss(x.log_softmax(-1), ones({2, 3}, TensorOptions(kLong).device(device)),
                         {6, 6}, {3, 2});
       }},
      {"Attention",
       {2, 2, 5, 8},
       [](const Tensor& x, Device) {
         return F::scaled_dot_product_attention(x, x, x, {}, 0.5, true);
       }},
      {"Fft", {4, 6}, [](const Tensor& x, Device) { return fft::rfft(x).abs(); }},
      {"Stft",
       {2, 64},
       [](const Tensor& x, Device device) {
         return stft(x, 16, 4, 16, hann_window(16, device), true, "reflect", false, true, true)
             .abs();
       }},
  };
}

class MetaLayers : public ::testing::TestWithParam<Case> {};

TEST_P(MetaLayers, HaveTheFormOfTheCpus) {
  const Case& c = GetParam();
  const auto run = [&](Device device) {
    const Tensor x = rand(c.input, device).requires_grad_();
    const Tensor y = c.call(x, device);
    y.sum().backward();
    return std::vector<Tensor>{y, x.grad()};
  };
  const auto got = run(kMeta), want = run(kCPU);
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(got[i].is_meta());
    EXPECT_EQ(got[i].sizes(), want[i].sizes());
    EXPECT_EQ(got[i].strides(), want[i].strides());
    EXPECT_EQ(got[i].dtype(), want[i].dtype());
  }
}

const auto name_of = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Modules, MetaLayers, ::testing::ValuesIn(modules()), name_of);
INSTANTIATE_TEST_SUITE_P(Functions, MetaLayers, ::testing::ValuesIn(functions()), name_of);

}  // namespace
}  // namespace taeda
