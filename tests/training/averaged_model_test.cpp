// Averages of models: what Python's torch.optim.swa_utils gives.
#include "taeda/training/averaged_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "taeda/taeda.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using ::testing::HasSubstr;
namespace swa_utils = optim::swa_utils;

void set_all(nn::Sequential& net, double value) {
  const NoGradGuard guard;
  for (Tensor& p : net->parameters()) p.fill_(value);
  for (const char* name : {"1.running_mean", "1.running_var"})
    net->named_buffers()[name].fill_(value);
}
/// One with a batch norm whose parameters and statistics are all `value`.
nn::Sequential model_of(double value) {
  nn::Sequential net(nn::Linear(2, 3), nn::BatchNorm1d(3));
  set_all(net, value);
  return net;
}

TEST(AveragedModel, IsTheMeanOfAllThatItTook) {
  nn::Sequential net = model_of(1);
  swa_utils::AveragedModel averaged(net);
  set_all(net, 5);
  EXPECT_EQ(averaged->module->parameters()[0].max().item<double>(), 1);
  for (const double value : {2.0, 4.0, 9.0}) {
    set_all(net, value);
    averaged.update_parameters(net);
  }
  for (const Tensor& p : averaged->module->parameters())
    EXPECT_TRUE(p.allclose(full_like(p, 5))) << p;
  EXPECT_TRUE(averaged->module->named_buffers()["1.running_mean"].eq(9).all().item<bool>());
  EXPECT_EQ(averaged->num_averaged(), 3);
  EXPECT_TRUE(averaged->parameters()[0].requires_grad());
}

TEST(AveragedModel, ForgetsExponentiallyAndAveragesBuffersIfAsked) {
  nn::Sequential net = model_of(8);
  swa_utils::AveragedModel averaged(
      net, {.multi_avg_fn = swa_utils::get_ema_multi_avg_fn(0.75), .use_buffers = true});
  for (const double value : {4.0, 8.0, 1.0}) {
    set_all(net, value);
    averaged.update_parameters(net);
  }
  // (4 * 0.75 + 8 * 0.25) * 0.75 + 1 * 0.25
  for (const Tensor& p : averaged->module->parameters())
    EXPECT_TRUE(p.allclose(full_like(p, 4))) << p;
  EXPECT_TRUE(averaged->module->named_buffers()["1.running_var"].allclose(full({3}, 4.0)));
  EXPECT_THAT(error_of([&] { swa_utils::get_ema_multi_avg_fn(1.5); }),
              HasSubstr("Invalid decay value 1.5 provided"));
}

TEST(AveragedModel, HasTheStateOfPyTorchsAndComputesWithTheAverages) {
  nn::Sequential net(nn::Linear(2, 1));
  swa_utils::AveragedModel averaged(net);
  std::vector<std::string> names = averaged->state_dict().keys();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"module.0.bias", "module.0.weight", "n_averaged"}));
  const Tensor x = rand({4, 2});
  EXPECT_TRUE(averaged(x).equal(net(x)));
  averaged.update_parameters(net);
  swa_utils::AveragedModel other(nn::Sequential(nn::Linear(2, 1)));
  other->load_state_dict(averaged->state_dict());
  EXPECT_EQ(other->num_averaged(), 1);
  EXPECT_TRUE(other(x).equal(net(x)));
}

TEST(AveragedModel, RefusesOtherShapesAndModelsThatCannotBeCopied) {
  nn::Sequential net(nn::Linear(2, 1)), wider(nn::Linear(3, 1));
  swa_utils::AveragedModel averaged(net);
  EXPECT_THAT(error_of([&] { averaged.update_parameters(wider); }),
              HasSubstr("expected a model with the shapes of the averaged one"));
  EXPECT_EQ(averaged->num_averaged(), 0);
  struct Plain : nn::Module {
    Tensor forward(const Tensor& x) { return x; }
  };
  EXPECT_THAT(error_of([&] { swa_utils::AveragedModel(std::make_shared<Plain>()); }),
              HasSubstr("Cloneable"));
  EXPECT_THAT(error_of([&] { swa_utils::AveragedModel(std::shared_ptr<Plain>()); }),
              HasSubstr("got a null pointer"));
}

TEST(UpdateBn, TakesTheMeanOfAllBatches) {
  manual_seed(0);
  nn::Sequential net = model_of(7);
  net->eval();
  const std::vector<Tensor> batches{rand({8, 2}), rand({8, 2}).mul(3)};
  swa_utils::update_bn(batches, net);
  const auto seen = [&](size_t i) { return net[0]->as<nn::Linear>()->forward(batches[i]); };
  const Tensor mean = seen(0).mean({0}).add(seen(1).mean({0})).div(2);
  EXPECT_TRUE(net->named_buffers()["1.running_mean"].allclose(mean));
  EXPECT_EQ(net->named_buffers()["1.num_batches_tracked"].item<int64_t>(), 2);
  EXPECT_EQ(*net[1]->as<nn::BatchNorm1d>()->options.momentum(), 0.1);
  EXPECT_FALSE(net->is_training());
  const std::vector<data::Example<>> examples{{batches[1], zeros({8})}};
  swa_utils::update_bn(examples, net);
  EXPECT_TRUE(net->named_buffers()["1.running_mean"].allclose(seen(1).mean({0})));
}

}  // namespace
}  // namespace taeda
