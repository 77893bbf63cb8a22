// Modules, autograd and mixed precision: what the device computes is what the CPU computes.
#include <gmock/gmock.h>

#include "common.h"
#include "taeda/amp/autocast.h"
#include "taeda/amp/grad_scaler.h"
#include "taeda/autograd/engine.h"
#include "taeda/device/backends.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/optim/optim.h"

namespace taeda {
namespace {

using ::testing::HasSubstr;

/// A module and how to call it.
struct Instance {
  std::shared_ptr<nn::Module> module;
  std::function<Tensor(const Tensor&)> forward;
};

struct ModuleCase {
  const char* name;
  std::function<Instance()> make;
  std::vector<int64_t> input;
  bool indices = false;  ///< the input is of indices below 10
};

template <class Holder>
Instance instance(Holder holder) {
  return {holder.ptr(), [holder](const Tensor& x) mutable -> Tensor {
            if constexpr (requires { std::get<0>(holder->forward(x)); })
              return std::get<0>(holder->forward(x));
            else
              return holder->forward(x);
          }};
}

const std::vector<ModuleCase>& cases() {
  static const std::vector<ModuleCase> all = {
      {"Linear", [] { return instance(nn::Linear(6, 4)); }, {5, 6}},
      {"Conv1d", [] { return instance(nn::Conv1d(3, 4, 3)); }, {2, 3, 9}},
      {"Conv2d", [] { return instance(nn::Conv2d(3, 4, 3)); }, {2, 3, 8, 8}},
      {"Conv3d", [] { return instance(nn::Conv3d(2, 3, 2)); }, {2, 2, 4, 4, 4}},
      {"ConvTranspose1d", [] { return instance(nn::ConvTranspose1d(3, 4, 3)); }, {2, 3, 5}},
      {"ConvTranspose2d", [] { return instance(nn::ConvTranspose2d(3, 4, 3)); }, {2, 3, 5, 5}},
      {"BatchNorm1d", [] { return instance(nn::BatchNorm1d(4)); }, {6, 4}},
      {"BatchNorm2d", [] { return instance(nn::BatchNorm2d(3)); }, {2, 3, 5, 5}},
      {"InstanceNorm2d", [] { return instance(nn::InstanceNorm2d(3)); }, {2, 3, 5, 5}},
      {"LayerNorm", [] { return instance(nn::LayerNorm({.normalized_shape = {6}})); }, {4, 6}},
      {"GroupNorm", [] { return instance(nn::GroupNorm(2, 4)); }, {2, 4, 5}},
      {"Embedding", [] { return instance(nn::Embedding(10, 4)); }, {3, 5}, true},
      {"MaxPool2d", [] { return instance(nn::MaxPool2d(2)); }, {2, 3, 6, 6}},
      {"AvgPool2d", [] { return instance(nn::AvgPool2d(2)); }, {2, 3, 6, 6}},
      {"AdaptiveAvgPool2d", [] { return instance(nn::AdaptiveAvgPool2d(3)); }, {2, 3, 7, 7}},
      {"AdaptiveMaxPool2d", [] { return instance(nn::AdaptiveMaxPool2d(3)); }, {2, 3, 7, 7}},
      {"ReLU", [] { return instance(nn::ReLU()); }, {7, 9}},
      {"GELU", [] { return instance(nn::GELU()); }, {7, 9}},
      {"SiLU", [] { return instance(nn::SiLU()); }, {7, 9}},
      {"PReLU", [] { return instance(nn::PReLU()); }, {7, 9}},
      {"Softmax", [] { return instance(nn::Softmax(1)); }, {7, 9}},
      {"LogSoftmax", [] { return instance(nn::LogSoftmax(1)); }, {7, 9}},
      {"RNN", [] { return instance(nn::RNN(4, 5)); }, {6, 3, 4}},
      {"LSTM", [] { return instance(nn::LSTM(4, 5)); }, {6, 3, 4}},
      {"GRU", [] { return instance(nn::GRU(4, 5)); }, {6, 3, 4}},
      {"TransformerEncoderLayer",
       [] {
         return instance(nn::TransformerEncoderLayer(
             {.d_model = 8, .nhead = 2, .dim_feedforward = 12, .dropout = 0}));
       },
       {5, 2, 8}},
  };
  return all;
}

class Modules : public OnDevice<>, public ::testing::WithParamInterface<ModuleCase> {};

TEST_P(Modules, ForwardAndBackwardEqualTheCpus) {
  const ModuleCase& c = GetParam();
  backends::cudnn::allow_tf32 = false;
  const auto run = [&](const Device& device) {
    manual_seed(2);
    Instance i = c.make();
    i.module->to(device);
    const Tensor x = (c.indices ? randint(0, 10, c.input, kLong) : randn(c.input)).to(device);
    if (!c.indices) x.requires_grad_();
    const Tensor y = i.forward(x);
    (y * taeda::arange(y.numel(), kFloat).reshape(y.sizes()).sin().to(device)).sum().backward();
    std::vector<Tensor> out{y};
    if (!c.indices) out.push_back(x.grad());
    for (const Tensor& p : i.module->parameters()) out.push_back(p.grad());
    for (const Tensor& b : i.module->buffers()) out.push_back(b);
    return out;
  };
  const std::vector<Tensor> want = run(kCPU), got = run(device_);
  backends::cudnn::allow_tf32 = true;
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(got[i].device().type(), device_.type());
    expect_close(got[i], want[i], 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Modules, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return std::string(info.param.name); });

class Autograd : public OnDevice<> {};

TEST_F(Autograd, SecondDerivatives) {
  const auto second = [](const Tensor& x) {
    const Tensor y = (x.sin() * x.exp()).sum();
    const Tensor g = autograd::grad({y}, {x}, {}, true, true)[0];
    return autograd::grad({(g * g).sum()}, {x})[0];
  };
  const Tensor x = randn({12});
  expect_close(second(x.to(device_).requires_grad_()), second(x.clone().requires_grad_()), 1e-5);
}

TEST_F(Autograd, GradientsCrossDevices) {
  const Tensor x = randn({4, 4}).requires_grad_(), w = randn({4, 4}).to(device_).requires_grad_();
  x.to(device_).matmul(w).tanh().cpu().sum().backward();
  EXPECT_TRUE(x.grad().device().is_cpu());
  EXPECT_EQ(w.grad().device(), device_);
  const Tensor a = x.detach().clone().requires_grad_(), b = w.detach().cpu().requires_grad_();
  a.matmul(b).tanh().sum().backward();
  expect_close(x.grad(), a.grad(), 1e-5);
  expect_close(w.grad(), b.grad(), 1e-5);
}

TEST_F(Autograd, ErrorsLeaveTheDeviceUsable) {
  const Tensor x = ones({2}, device_), y = ones({3}, device_);
  EXPECT_THROW(x + y, Error);
  EXPECT_THROW(x + ones({2}), Error) << "tensors on different devices";
  EXPECT_THAT(error_of([&] { Tensor t = ones({1}, Device(device_.type(), 99)); }),
              HasSubstr("invalid device ordinal"));
  expect_close(x + x, full({2}, 2.0), 0);
}

class Amp : public OnDevice<>, public ::testing::WithParamInterface<ScalarType> {};

TEST_P(Amp, TrainingReachesWhatFloatReaches) {
  manual_seed(4);
  nn::Sequential model{nn::Linear(8, 32), nn::ReLU(), nn::Linear(32, 2)};
  model->to(device_);
  optim::SGD optimizer(model->parameters(), optim::SGDOptions(0.2));
  amp::GradScaler scaler(device_, 1024, 2, 0.5, 2000, GetParam() == kHalf);
  const Tensor x = randn({64, 8}).to(device_);
  const Tensor y = x.select(1, 0).gt(0).to(kLong);
  double first = 0, last = 0;
  for (int i = 0; i < 30; ++i) {
    optimizer.zero_grad();
    Tensor loss;
    {
      const amp::autocast scope(Device(device_.type()), GetParam());
      const Tensor out = model->forward(x);
      EXPECT_EQ(out.dtype(), GetParam());
      loss = nn::functional::cross_entropy(out, y);
    }
    scaler.scale(loss).backward();
    EXPECT_TRUE(scaler.step(optimizer));
    scaler.update();
    last = loss.item<double>();
    if (i == 0) first = last;
  }
  EXPECT_LT(last, 0.5 * first);
}

TEST_F(Amp, AnOverflowSkipsTheStep) {
  const Tensor w = ones({2}, device_).requires_grad_();
  optim::SGD optimizer({w}, optim::SGDOptions(0.1));
  amp::GradScaler scaler(device_, 8);
  scaler.scale((w * INFINITY).sum()).backward();
  EXPECT_FALSE(scaler.step(optimizer));
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 4);
  expect_close(w, ones({2}), 0);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Amp, ::testing::Values(kHalf, kBFloat16), [](const auto& info) {
  return info.param == kHalf ? "Half" : "BFloat16";
});

}  // namespace
}  // namespace taeda
