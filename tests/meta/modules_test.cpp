// Modules without memory: made, moved, filled, trained; and the models of the library.
#include <gmock/gmock.h>

#include "taeda/models/gpt.h"
#include "taeda/models/lenet.h"
#include "taeda/models/lstm_lm.h"
#include "taeda/models/mobilenet.h"
#include "taeda/models/resnet.h"
#include "taeda/models/vgg.h"
#include "taeda/taeda.h"
#include "tests/error_of.h"
#include "tests/meta/memory.h"

namespace taeda {
namespace {

using meta_tests::allocations;
using ::testing::HasSubstr;

/// A module whose tensors are on meta from the beginning.
template <class F>
auto bare(F&& make) {
  const MetaGuard guard;
  return make();
}

TEST(MetaModules, MoveToMetaAndGetMemoryAgain) {
  nn::Linear linear(3, 2);
  const Tensor weight = linear->weight;
  linear->to(kMeta);
  EXPECT_TRUE(weight.is_meta() && weight.requires_grad());
  EXPECT_EQ(linear(ones({4, 3}, kMeta)).sizes(), IntArrayRef({4, 2}));
  EXPECT_THROW(linear->to(kCPU), NotImplementedError);
  EXPECT_EQ(error_of([&] { linear->to(kCPU); }),
            "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() "
            "instead of torch.nn.Module.to() when moving module from meta to a different device.");
  linear->to_empty(kCPU);
  EXPECT_TRUE(weight.is_cpu() && weight.requires_grad() && weight.is_leaf());
  linear->load_state_dict(nn::Linear(3, 2)->state_dict());
  EXPECT_EQ(linear(ones({4, 3})).sizes(), IntArrayRef({4, 2}));
}

TEST(MetaModules, ToEmptyKeepsStridesAndCanLeaveChildrenOut) {
  nn::Sequential net(nn::Conv2d(3, 4, 3), nn::BatchNorm2d(4));
  net->to(kMeta);
  net->to_empty(kCPU, /*recurse=*/false);
  EXPECT_TRUE(net->parameters()[0].is_meta());
  net->to_empty(kCPU);
  for (const Tensor& t : net->parameters()) EXPECT_TRUE(t.is_cpu());
  for (const Tensor& t : net->buffers()) EXPECT_TRUE(t.is_cpu());
}

TEST(MetaModules, LoadValuesByAssigningThem) {
  nn::Linear linear = bare([] { return nn::Linear(3, 2); });
  nn::Linear source(3, 2);
  const Tensor weight = linear->weight;
  linear->load_state_dict(source->state_dict());
  EXPECT_TRUE(weight.is_meta()) << "values that are copied to meta are forgotten";
  linear->weight.mutable_grad() = empty({2, 3}, kMeta);
  linear->load_state_dict(source->state_dict(), /*strict=*/true, /*assign=*/true);
  EXPECT_TRUE(weight.is_cpu() && weight.requires_grad());
  EXPECT_TRUE(weight.is_alias_of(source->weight));
  EXPECT_FALSE(weight.grad().defined());
  EXPECT_TRUE(equal(linear(ones({3})), nn::Linear(source)(ones({3}))));

  source->to(kDouble);
  auto state = source->state_dict();
  linear->load_state_dict(state, true, true);
  EXPECT_EQ(weight.dtype(), kDouble);
  state["weight"] = state["weight"].to(kLong);
  EXPECT_THAT(error_of([&] { linear->load_state_dict(state, true, true); }),
              HasSubstr("While assigning weight: only Tensors of floating point"));
  EXPECT_EQ(weight.dtype(), kDouble);
}

TEST(MetaModules, InitialisationsDrawNothing) {
  manual_seed(3);
  const Tensor want = rand({2});
  manual_seed(3);
  const Tensor t = empty({4, 4}, kMeta);
  nn::init::xavier_uniform_(t), nn::init::kaiming_normal_(t), nn::init::trunc_normal_(t);
  nn::init::orthogonal_(t), nn::init::eye_(t);
  bare([] { return nn::LSTM({.input_size = 4, .hidden_size = 8, .num_layers = 2}); });
  EXPECT_TRUE(equal(rand({2}), want));
}

template <class Optimizer, class Options>
void train_on_meta(const Options& options) {
  nn::Sequential net = bare([] {
    return nn::Sequential(nn::Linear(8, 16), nn::LayerNorm({.normalized_shape = {16}}), nn::ReLU(),
                          nn::Dropout(0.5), nn::Linear(16, 4));
  });
  Optimizer optimizer(net->parameters(), options);
  for (int step = 0; step < 2; ++step) {
    optimizer.zero_grad();
    const Tensor loss = nn::functional::cross_entropy(
        net->forward(empty({5, 8}, kMeta)), empty({5}, TensorOptions(kLong).device(kMeta)));
    loss.backward();
    optimizer.step();
  }
  for (const Tensor& p : net->parameters()) EXPECT_TRUE(p.is_meta() && p.grad().is_meta());
}

TEST(MetaModules, OptimizersStep) {
  train_on_meta<optim::SGD>(optim::SGDOptions(0.1).momentum(0.9));
  train_on_meta<optim::Adam>(optim::AdamOptions(0.1).amsgrad(true));
  train_on_meta<optim::AdamW>(optim::AdamWOptions(0.1));
  train_on_meta<optim::RMSprop>(optim::RMSpropOptions(0.1).centered(true));
  train_on_meta<optim::Adagrad>(optim::AdagradOptions(0.1));
}

/// `make()` on meta and on the CPU: outputs and gradients of one form, and no memory on meta.
template <class F, class Call>
void expect_same_forms(F&& make, Call&& call) {
  const nn::init::SkipInitGuard values_do_not_matter;
  const int64_t before = allocations();
  auto meta = bare(make);
  const Tensor got = call(*meta, Device(kMeta));
  got.sum().backward();
  EXPECT_EQ(allocations(), before);
  auto model = make();
  const Tensor want = call(*model, Device(kCPU));
  EXPECT_TRUE(got.is_meta());
  EXPECT_EQ(got.sizes(), want.sizes());
  EXPECT_EQ(got.strides(), want.strides());
  EXPECT_EQ(got.dtype(), want.dtype());
  const auto theirs = model->state_dict();
  for (const auto& [name, t] : meta->state_dict()) {
    EXPECT_TRUE(t.is_meta()) << name;
    EXPECT_EQ(t.sizes(), theirs[name].sizes()) << name;
  }
  for (const auto& [name, p] : meta->named_parameters()) EXPECT_EQ(p.grad().sizes(), p.sizes());
}

const auto on_pictures = [](auto& model, Device device) {
  return model.forward(zeros({2, 3, 64, 64}, device));
};
const auto on_tokens = [](auto& model, Device device) {
  return model.forward(zeros({2, 16}, TensorOptions(kLong).device(device)));
};

TEST(MetaModels, ResNet) {
  expect_same_forms([] { return models::resnet18(10); }, on_pictures);
  expect_same_forms([] { return models::resnet50(10); }, on_pictures);
}

TEST(MetaModels, Vgg) {
  expect_same_forms([] { return models::vgg11_bn(10); },
                    [](auto& model, Device device) {
                      return model.forward(zeros({1, 3, 32, 32}, device));
                    });
}

TEST(MetaModels, MobileNet) {
  expect_same_forms([] { return models::mobilenet_v2(10); }, on_pictures);
}

TEST(MetaModels, LeNet) {
  expect_same_forms([] { return models::LeNet(); },
                    [](auto& model, Device device) {
                      return model.forward(zeros({2, 1, 28, 28}, device));
                    });
}

TEST(MetaModels, Gpt) {
  expect_same_forms([] { return models::GPT(models::GPTOptions{100, 32, 2, 2, 32}); }, on_tokens);
}

TEST(MetaModels, LstmLanguageModel) {
  const models::LSTMLanguageModelOptions options{.ntoken = 50, .ninp = 16, .nhid = 16};
  expect_same_forms([&] { return models::LSTMLanguageModel(options); },
                    [](auto& model, Device device) {
                      const Tensor words = zeros({7, 2}, TensorOptions(kLong).device(device));
                      return std::get<0>(model.forward(words));
                    });
}

TEST(MetaModels, OfAnySizeTakeNoTime) {
  const int64_t before = allocations();
  auto large = bare([] { return models::GPT(models::GPTOptions{50257, 2048, 96, 96, 12288}); });
  int64_t numbers = 0;
  for (const Tensor& p : large->parameters()) numbers += p.numel();
  EXPECT_GT(numbers, int64_t{174'000'000'000});
  EXPECT_EQ(large->forward(empty({1, 2048}, TensorOptions(kLong).device(kMeta))).size(-1), 50257);
  EXPECT_EQ(allocations(), before);
}

}  // namespace
}  // namespace taeda
