// A channels-last network stays channels-last from end to end: every operation gives the layout
// that it got, and nothing is reordered on the way.
#include <gmock/gmock.h>

#include "taeda/autograd/engine.h"
#include "taeda/device/registry.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/nn/conv.h"
#include "taeda/ops/nn/norm.h"
#include "taeda/ops/nn/pool.h"
#include "taeda/ops/random/random.h"
#include "tests/ops/copy_count.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using testing::CopyCount;

class ChannelsLast : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const DeviceType type = Device(GetParam()).type();
    if (type != kCPU && device_count(type) == 0) GTEST_SKIP() << "no simulated device";
    manual_seed(1);
  }
  static Tensor last(IntArrayRef sizes) {
    return randn(sizes).to(Device(GetParam())).contiguous(MemoryFormat::ChannelsLast);
  }
};

/// The operations of a ResNet, in a network with one block.
struct Network {
  Tensor stem, first, second, weight, bias;

  std::vector<Tensor> run(const Tensor& x) const {
    const auto normed = [this](const Tensor& t) {
      return batch_norm(t, weight, bias, {}, {}, true);
    };
    std::vector<Tensor> t{x};
    t.push_back(conv2d(t.back(), stem, {}, 2, 1));
    t.push_back(normed(t.back()));
    t.push_back(relu(t.back()));
    t.push_back(max_pool2d(t.back(), 3, 2, 1));
    const Tensor shortcut = t.back();
    t.push_back(conv2d(t.back(), first, {}, 1, 1));
    t.push_back(normed(t.back()));
    t.push_back(conv2d(t.back(), second, {}, 1, 1));
    t.push_back(t.back().add(shortcut));
    t.push_back(avg_pool2d(t.back(), 2));
    t.push_back(adaptive_avg_pool2d(t.back(), 2));
    return t;
  }
};

TEST_P(ChannelsLast, GoesFromEndToEndWithoutACopy) {
  const Device device(GetParam());
  const Network net{last({8, 3, 3, 3}), last({8, 8, 3, 3}), last({8, 8, 3, 3}),
                    ones({8}, TensorOptions().device(device)),
                    zeros({8}, TensorOptions().device(device))};
  for (const Tensor& t : {net.stem, net.first, net.second, net.weight, net.bias})
    t.requires_grad_();
  const Tensor x = last({2, 3, 30, 30}).requires_grad_(), g = last({2, 8, 2, 2});
  const CopyCount count(device.type());
  const std::vector<Tensor> steps = net.run(x);
  for (size_t i = 0; i < steps.size(); ++i)
    EXPECT_TRUE(steps[i].is_contiguous(MemoryFormat::ChannelsLast)) << "after operation " << i;
  EXPECT_EQ(count.get(), 0) << "forward";
  const std::vector<Tensor> inputs{x, net.stem, net.first, net.second};
  const std::vector<Tensor> grads = autograd::grad({steps.back()}, inputs, {g});
  for (size_t i = 0; i < grads.size(); ++i)
    EXPECT_TRUE(grads[i].is_contiguous(MemoryFormat::ChannelsLast)) << "gradient " << i;
  EXPECT_EQ(count.get(), 0) << "backward";
}

/// Every kind of pooling, forward and backward to the second order, against contiguous memory.
TEST_P(ChannelsLast, PoolingAgreesWithContiguous) {
  using Pool = Tensor (*)(const Tensor&);
  const Pool pools[] = {
      [](const Tensor& t) { return max_pool2d(t, 3, 2, 1); },
      [](const Tensor& t) { return max_pool2d(t, 2); },
      [](const Tensor& t) { return max_pool2d(t, 17, 1, 8); },  // winners beyond a byte
      [](const Tensor& t) { return std::get<1>(max_pool2d_with_indices(t, 2)); },
      [](const Tensor& t) { return avg_pool2d(t, 3, 2, 1); },
      [](const Tensor& t) {
        return adaptive_avg_pool2d(t, {3, 2});
      },
      [](const Tensor& t) {
        return std::get<0>(adaptive_max_pool2d(t, {3, 2}));
      }};
  const Tensor y = last({2, 37, 10, 11}).requires_grad_(),
               x = y.detach().contiguous().requires_grad_();
  for (size_t i = 0; i < std::size(pools); ++i) {
    SCOPED_TRACE(i);
    const Tensor want = pools[i](x), got = pools[i](y);
    testing::expect_same(got.cpu(), want.cpu(), 1e-6);
    if (!want.requires_grad()) continue;
    const Tensor g = randn(want.sizes()).to(x.device()).requires_grad_();
    const Tensor dx = autograd::grad({want}, {x}, {g}, true, true)[0],
                 dy = autograd::grad({got}, {y}, {g}, true, true)[0];
    testing::expect_same(dy.cpu(), dx.cpu(), 1e-5);
    const Tensor v = randn(x.sizes()).to(x.device());
    testing::expect_same(autograd::grad({dy}, {g}, {v})[0].cpu(),
                         autograd::grad({dx}, {g}, {v})[0].cpu(), 1e-5);
  }
}

/// Enough channels for pixels as one dimension, and too few.
TEST_P(ChannelsLast, NearestInterpolationAgreesWithContiguous) {
  namespace F = nn::functional;
  for (const int64_t channels : {3, 40})
    for (const auto& size : {std::vector<int64_t>{5, 4}, {20, 33}, {10, 4}, {10, 11}})
      for (const bool exact : {false, true}) {
        SCOPED_TRACE(::testing::Message() << channels << " channels to " << size[0]);
        const auto options = exact ? F::InterpolateFuncOptions{.size = size, .mode = kNearestExact}
                                   : F::InterpolateFuncOptions{.size = size, .mode = kNearest};
        const Tensor y = last({2, channels, 10, 11}).requires_grad_(),
                     x = y.detach().contiguous().requires_grad_();
        const Tensor want = F::interpolate(x, options), got = F::interpolate(y, options);
        EXPECT_TRUE(got.is_contiguous(MemoryFormat::ChannelsLast));
        testing::expect_same(got.cpu(), want.cpu());
        const Tensor g = randn(want.sizes()).to(x.device());
        testing::expect_same(autograd::grad({got}, {y}, {g})[0].cpu(),
                             autograd::grad({want}, {x}, {g})[0].cpu(), 1e-5);
      }
}

/// A weight decides, too, as PyTorch does.
TEST_P(ChannelsLast, WeightsAloneMakeAConvolutionChannelsLast) {
  const Tensor x = last({2, 4, 6, 6}).contiguous(), w = last({5, 4, 3, 3});
  const Tensor y = conv2d(x, w);
  EXPECT_TRUE(y.is_contiguous(MemoryFormat::ChannelsLast));
  testing::expect_same(y.cpu(), conv2d(x, w.contiguous()).cpu(), 1e-4);
  EXPECT_TRUE(conv_transpose2d(x, last({4, 5, 3, 3})).is_contiguous(MemoryFormat::ChannelsLast));
}

/// A network of volumes keeps channels_last_3d, and gives what it gives of contiguous memory.
TEST_P(ChannelsLast, VolumesAgreeWithContiguous) {
  constexpr auto kLast = MemoryFormat::ChannelsLast3d;
  const auto run = [](const Tensor& x, const Tensor& w, const Tensor& up) {
    std::vector<Tensor> t{x};
    t.push_back(conv3d(t.back(), w, {}, 1, 1));
    t.push_back(batch_norm(t.back(), {}, {}, {}, {}, true));
    t.push_back(relu(t.back()));
    t.push_back(max_pool3d(t.back(), 2));
    t.push_back(conv_transpose3d(t.back(), up, {}, 2));
    t.push_back(avg_pool3d(t.back(), 2));
    return t;
  };
  const Device device(GetParam());
  for (const int64_t channels : {5, 16}) {
    SCOPED_TRACE(channels);
    const Tensor x = randn({2, channels, 6, 5, 8}).to(device).requires_grad_(),
                 w = randn({4, channels, 3, 3, 3}).to(device),
                 up = randn({4, channels, 2, 2, 2}).to(device);
    const Tensor y = x.detach().contiguous(kLast).requires_grad_();
    const std::vector<Tensor> want = run(x, w, up), got = run(y, w, up);
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(got[i].is_contiguous(kLast)) << "after operation " << i;
      testing::expect_same(got[i].cpu(), want[i].cpu(), 2e-3);
    }
    const Tensor g = randn(want.back().sizes()).to(device);
    const Tensor dx = autograd::grad({want.back()}, {x}, {g})[0],
                 dy = autograd::grad({got.back()}, {y}, {g})[0];
    EXPECT_TRUE(dy.is_contiguous(kLast));
    testing::expect_same(dy.cpu(), dx.cpu(), 2e-2);
    EXPECT_TRUE(conv3d(x, w.contiguous(kLast)).is_contiguous(kLast));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ChannelsLast, ::testing::Values("cpu", "sim:0"),
                         [](const auto& info) { return std::string(info.param).substr(0, 3); });

}  // namespace
}  // namespace taeda
