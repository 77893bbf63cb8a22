#include <gmock/gmock.h>

#include <cmath>

#include "tests/error_of.h"

#include "taeda/autograd/engine.h"
#include "taeda/models/gpt.h"
#include "taeda/models/lenet.h"
#include "taeda/models/lstm_lm.h"
#include "taeda/models/mobilenet.h"
#include "taeda/models/resnet.h"
#include "taeda/models/vgg.h"
#include "taeda/nn/init.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::models {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

int64_t count(const nn::Module& model) {
  int64_t out = 0;
  for (const Tensor& p : model.parameters()) out += p.numel();
  return out;
}

/// Makes a model without filling its parameters.
template <class F>
auto bare(F&& make) {
  const nn::init::SkipInitGuard values_do_not_matter;
  return make();
}

TEST(Models, NumbersOfParametersAreThePublishedOnes) {  // torchvision's tables of weights
  EXPECT_EQ(count(*bare([] { return resnet18(); })), 11689512);
  EXPECT_EQ(count(*bare([] { return resnet34(); })), 21797672);
  EXPECT_EQ(count(*bare([] { return resnet50(); })), 25557032);
  EXPECT_EQ(count(*bare([] { return resnet101(); })), 44549160);
  EXPECT_EQ(count(*bare([] { return resnet152(); })), 60192808);
  EXPECT_EQ(count(*bare([] { return vgg11(); })), 132863336);
  EXPECT_EQ(count(*bare([] { return vgg13(); })), 133047848);
  EXPECT_EQ(count(*bare([] { return vgg16(); })), 138357544);
  EXPECT_EQ(count(*bare([] { return vgg19(); })), 143667240);
  EXPECT_EQ(count(*bare([] { return vgg16_bn(); })), 138365992);
  EXPECT_EQ(count(*bare([] { return mobilenet_v2(); })), 3504872);
  EXPECT_EQ(count(*bare([] { return LeNet(); })), 61706);
  EXPECT_EQ(count(*bare([] { return GPT(GPTOptions{50257, 1024, 12, 12, 768}); })), 124439808);
}

TEST(Models, NamesAreTorchvisions) {
  const auto names = [](const nn::Module& model) { return model.state_dict().keys(); };
  const auto residual = names(*bare([] { return resnet18(); }));
  EXPECT_EQ(residual.size(), 122u);
  EXPECT_THAT(residual, IsSupersetOf({"conv1.weight", "bn1.running_mean", "bn1.num_batches_tracked",
                                      "layer1.0.conv1.weight", "layer2.0.downsample.0.weight",
                                      "layer2.0.downsample.1.running_var", "layer4.1.bn2.bias",
                                      "fc.weight", "fc.bias"}));
  EXPECT_THAT(residual, testing::Not(Contains("layer1.0.downsample.0.weight")));
  const auto wide = names(*bare([] { return resnet50(); }));
  EXPECT_EQ(wide.size(), 320u);
  EXPECT_THAT(wide, IsSupersetOf({"layer1.0.downsample.0.weight", "layer3.5.conv3.weight",
                                  "layer4.2.bn3.running_var"}));
  EXPECT_THAT(
      names(*bare([] { return vgg16(); })),
      ElementsAre(
          "features.0.weight", "features.0.bias", "features.2.weight", "features.2.bias",
          "features.5.weight", "features.5.bias", "features.7.weight", "features.7.bias",
          "features.10.weight", "features.10.bias", "features.12.weight", "features.12.bias",
          "features.14.weight", "features.14.bias", "features.17.weight", "features.17.bias",
          "features.19.weight", "features.19.bias", "features.21.weight", "features.21.bias",
          "features.24.weight", "features.24.bias", "features.26.weight", "features.26.bias",
          "features.28.weight", "features.28.bias", "classifier.0.weight", "classifier.0.bias",
          "classifier.3.weight", "classifier.3.bias", "classifier.6.weight", "classifier.6.bias"));
  const auto mobile = names(*bare([] { return mobilenet_v2(); }));
  EXPECT_EQ(mobile.size(), 314u);
  EXPECT_THAT(mobile, IsSupersetOf({"features.0.0.weight", "features.0.1.running_var",
                                    "features.1.conv.0.0.weight", "features.1.conv.1.weight",
                                    "features.1.conv.2.weight", "features.2.conv.1.0.weight",
                                    "features.2.conv.3.bias", "features.17.conv.2.weight",
                                    "features.18.0.weight", "classifier.1.weight"}));
}

template <class Model>
std::vector<int64_t> scores(Model&& model, IntArrayRef sizes) {
  const NoGradGuard no_grad;
  model->eval();
  const Tensor out = model(rand(sizes));
  EXPECT_TRUE(std::isfinite(out.sum().template item<double>()));
  return out.sizes().vec();
}

TEST(Models, GiveScores) {
  EXPECT_THAT(scores(LeNet(), {2, 1, 28, 28}), ElementsAre(2, 10));
  EXPECT_THAT(scores(LeNet(7, 3), {2, 3, 32, 32}), ElementsAre(2, 7));
  EXPECT_THAT(scores(resnet18(10), {2, 3, 64, 64}), ElementsAre(2, 10));
  EXPECT_THAT(
      scores(ResNet(ResNetOptions{.layers = {1, 1, 1, 1}, .bottleneck = true, .num_classes = 5}),
             {1, 3, 64, 64}),
      ElementsAre(1, 5));
  EXPECT_THAT(scores(VGG(VGGOptions{.layers = {8, 0, 16, 0}, .batch_norm = true, .num_classes = 3}),
                     {1, 3, 32, 32}),
              ElementsAre(1, 3));
  EXPECT_THAT(
      scores(MobileNetV2(MobileNetV2Options{.num_classes = 4, .width_mult = 0.35}), {1, 3, 64, 64}),
      ElementsAre(1, 4));
}

TEST(Models, SayWhatTheyExpect) {
  EXPECT_THAT(error_of([] {
                LeNet()(ones({1, 1, 30, 30}));
              }),
              HasSubstr("pictures of 28 x 28 or 32 x 32, got shape [1, 1, 30, 30]"));
  EXPECT_THAT(error_of([] { ResNet(ResNetOptions{.layers = {2}}); }), HasSubstr("got 1"));
  EXPECT_THAT(error_of([] { VGG(VGGOptions{}); }), HasSubstr("at least one layer"));
  EXPECT_THAT(error_of([] { GPT(GPTOptions{.n_head = 5}); }), HasSubstr("got 384 and 5"));
  EXPECT_THAT(
      error_of([] { LSTMLanguageModel(LSTMLanguageModelOptions{.nhid = 3, .tie_weights = true}); }),
      HasSubstr("nhid must be equal to emsize"));
}

TEST(Models, ResidualBlocksCanStartAsTheIdentity) {
  ResNet model(ResNetOptions{.layers = {1, 1, 1, 1}, .zero_init_residual = true});
  EXPECT_EQ(model->layer1->at<BasicBlock>(0).bn2->weight.abs().max().item<float>(), 0);
  const auto copy = model->clone();
  EXPECT_EQ(copy->as<ResNet>()->layer1->at<BasicBlock>(0).bn2->weight.abs().max().item<float>(), 0);
  EXPECT_NE(copy->parameters()[0].data_ptr(), model->parameters()[0].data_ptr());
}

GPTOptions tiny() {
  return {.vocab_size = 11, .block_size = 8, .n_layer = 2, .n_head = 2, .n_embd = 8};
}

TEST(Gpt, LooksBackOnly) {
  manual_seed(0);
  GPT model(tiny());
  model->eval();
  EXPECT_THAT(model->state_dict().keys(),
              IsSupersetOf({"transformer.wte.weight", "transformer.wpe.weight",
                            "transformer.h.0.ln_1.weight", "transformer.h.0.attn.c_attn.weight",
                            "transformer.h.1.mlp.c_fc.bias", "transformer.h.1.mlp.c_proj.weight",
                            "transformer.ln_f.bias"}));
  const Tensor text = randint(0, 11, {1, 8}), other = text.clone();
  other.select(1, 7).fill_((text[0][7].item<int64_t>() + 1) % 11);
  const Tensor a = model(text), b = model(other);
  EXPECT_THAT(a.sizes().vec(), ElementsAre(1, 8, 11));
  EXPECT_TRUE(a.narrow(1, 0, 7).equal(b.narrow(1, 0, 7)));
  EXPECT_FALSE(a.select(1, 7).equal(b.select(1, 7)));
  a.sum().backward();
  for (const auto& [name, p] : model->named_parameters()) EXPECT_TRUE(p.grad().defined()) << name;
  EXPECT_THAT(error_of([&] {
                model(randint(0, 11, {1, 9}));
              }),
              HasSubstr("Cannot forward sequence of length 9, block size is only 8"));
}

TEST(Gpt, GeneratesText) {
  manual_seed(0);
  GPT model(tiny());
  model->eval();
  const Tensor start = zeros({2, 1}, kLong);
  EXPECT_THAT(model->generate(start, 12).sizes().vec(), ElementsAre(2, 13));
  const Tensor best = model->generate(start, 5, 0);
  EXPECT_TRUE(best.equal(model->generate(start, 5, 1, 1))) << "the best one of one";
  const auto copy = std::dynamic_pointer_cast<GPTImpl>(model->clone());
  EXPECT_TRUE(copy->generate(start, 5, 0).equal(best));
}

TEST(LstmLanguageModel, CarriesItsStateOn) {
  manual_seed(0);
  LSTMLanguageModel model(LSTMLanguageModelOptions{.ntoken = 13, .ninp = 6, .nhid = 6});
  model->eval();
  EXPECT_THAT(model->state_dict().keys(),
              IsSupersetOf({"encoder.weight", "rnn.weight_ih_l0", "rnn.bias_hh_l1",
                            "decoder.weight", "decoder.bias"}));
  const Tensor text = randint(0, 13, {4, 3});
  const auto [all, end] = model(text);
  EXPECT_THAT(all.sizes().vec(), ElementsAre(12, 13));
  EXPECT_TRUE(all.exp().sum(1).allclose(ones({12})));
  const auto [first, state] = model(text.narrow(0, 0, 2), model->init_hidden(3));
  const auto [second, last] = model(text.narrow(0, 2, 2), state);
  EXPECT_TRUE(second.allclose(all.narrow(0, 6, 6), 1e-5, 1e-6));
  EXPECT_TRUE(std::get<1>(last).allclose(std::get<1>(end), 1e-5, 1e-6));
}

TEST(LstmLanguageModel, CanTieItsWeights) {
  LSTMLanguageModel model(
      LSTMLanguageModelOptions{.ntoken = 13, .ninp = 6, .nhid = 6, .tie_weights = true});
  EXPECT_THAT(model->state_dict().keys(), testing::Not(Contains("decoder.weight")));
  std::get<0>(model(zeros({2, 1}, kLong))).sum().backward();
  EXPECT_TRUE(model->encoder->weight.grad().defined());
}

}  // namespace
}  // namespace taeda::models
