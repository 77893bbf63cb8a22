// Operands on the host and on a device: what is a number, what is an error, and that an error
// changes nothing.
#include <gmock/gmock.h>

#include <functional>
#include <utility>

#include "common.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/reduce/reduce.h"

namespace taeda {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MixedDevices : public OnDevice<> {
 protected:
  /// PyTorch's words, with the accelerator first.
  auto two_devices() const {
    return HasSubstr(detail::concat(
        "Expected all tensors to be on the same device, but found at least two devices, ", device_,
        " and cpu!"));
  }
};

TEST_F(MixedDevices, AHostTotalDoesNotTakeADevicesLoss) {
  for (const ScalarType dtype : {kFloat, kDouble}) {
    const Tensor loss = full({}, 2.5, TensorOptions(dtype).device(device_));
    Tensor total = zeros({});
    EXPECT_THAT(error_of([&] { total += loss; }), two_devices());
    EXPECT_EQ(total.item<float>(), 0);
    EXPECT_EQ(total._version(), 0);
    const Tensor learned = loss.clone().requires_grad_();
    EXPECT_THAT(error_of([&] { total += learned; }), two_devices());
    EXPECT_THAT(error_of([&] { total.remainder_(learned); }), two_devices());
    EXPECT_EQ(total.item<float>(), 0);
    EXPECT_FALSE(total.requires_grad());
    EXPECT_EQ((total + loss).device(), device_) << "as an input it is a number";
    EXPECT_EQ((total + loss).item<double>(), 2.5);
    total += loss.cpu();
    EXPECT_EQ(total.item<float>(), 2.5);
  }
}

TEST_F(MixedDevices, NoInPlaceFormWritesFromADeviceToTheHost) {
  const Tensor d = full({}, 3., device_), i = full({}, int64_t{3}, device_);
  const Tensor mask = full({}, true, TensorOptions(kBool).device(device_));
  using Change = std::function<void(const Tensor&)>;
  const std::vector<std::pair<const char*, Change>> changes = {
      {"add_", [&](const Tensor& t) { t.add_(d); }},
      {"sub_", [&](const Tensor& t) { t.sub_(d, 2); }},
      {"mul_", [&](const Tensor& t) { t.mul_(d); }},
      {"div_", [&](const Tensor& t) { t.div_(d); }},
      {"div_ floor", [&](const Tensor& t) { t.div_(d, "floor"); }},
      {"pow_", [&](const Tensor& t) { t.pow_(d); }},
      {"fmod_", [&](const Tensor& t) { t.fmod_(d); }},
      {"floor_divide_", [&](const Tensor& t) { t.floor_divide_(d); }},
      {"atan2_", [&](const Tensor& t) { t.atan2_(d); }},
      {"lerp_", [&](const Tensor& t) { t.lerp_(d, 0.5); }},
      {"addcmul_", [&](const Tensor& t) { t.addcmul_(d, d); }},
      {"addcdiv_", [&](const Tensor& t) { t.addcdiv_(d, d); }},
      {"copysign_", [&](const Tensor& t) { t.copysign_(d); }},
      {"eq_", [&](const Tensor& t) { t.eq_(d); }},
      {"logical_and_", [&](const Tensor& t) { t.logical_and_(d); }},
      {"index_add_", [&](const Tensor& t) { t.index_add_(0, i.sub(3).reshape({1}), d); }},
  };
  for (const auto& [name, change] : changes) {
    const Tensor t = full({}, 7.);
    EXPECT_THAT(error_of([&, change = change] { change(t); }), HasSubstr("on the same device"))
        << name;
    EXPECT_EQ(t.item<float>(), 7) << name;
  }
  const Tensor t = full({}, 7.);
  EXPECT_THAT(error_of([&] { t.masked_fill_(mask, 1); }), HasSubstr("on the same device"));
  EXPECT_EQ(t.item<float>(), 7);
}

TEST_F(MixedDevices, NumbersOnTheHostStandBesideDeviceTensors) {
  const Tensor x = tensor({1.f, 2.f, 3.f}).to(device_), two = full({}, 2.);
  EXPECT_THAT(values(x * two), ElementsAre(2, 4, 6));
  EXPECT_THAT(values(two - x), ElementsAre(1, 0, -1));
  EXPECT_THAT(values(x.clone().mul_(two)), ElementsAre(2, 4, 6));
  EXPECT_THAT(values(x.clone().div_(full({}, 2., kDouble))), ElementsAre(0.5, 1, 1.5));
  EXPECT_THAT(values(where(x.gt(two), x, two)), ElementsAre(2, 2, 3));
  EXPECT_THAT(values(x.addcmul(two, x)), ElementsAre(3, 6, 9));
  EXPECT_THAT(values(x.lt(two)), ElementsAre(1, 0, 0));
  Tensor y = x.clone();
  y.index_put_({tensor({0, 2}).to(device_)}, two);
  EXPECT_THAT(values(y), ElementsAre(2, 2, 2));
  y.fill_(full({}, 5.));
  EXPECT_THAT(values(y), ElementsAre(5, 5, 5));
  y.masked_fill_(x.gt(1), two);
  EXPECT_THAT(values(y), ElementsAre(5, 2, 2));
  const Tensor host = zeros({});
  host.fill_(x.select(0, 2));
  EXPECT_EQ(host.item<float>(), 3) << "copies may cross devices";
  EXPECT_THAT(error_of([&] { x + tensor({2.f}); }), two_devices()) << "one element is no number";
}

TEST_F(MixedDevices, KernelsNameATensorThatIsElsewhere) {
  const Tensor x = ones({4}, device_), host = ones({4});
  EXPECT_THAT(error_of([&] { where(host.gt(0), x, x); }), HasSubstr("on the same device"));
  EXPECT_THAT(error_of([&] { x.index_select(0, tensor({1})); }), HasSubstr("on the same device"));
  EXPECT_THAT(error_of([&] { x.gather(0, tensor({1})); }), HasSubstr("on the same device"));
  EXPECT_THAT(error_of([&] { x.dot(host); }), HasSubstr("on the same device"));
  EXPECT_THAT(error_of([&] { x.masked_fill(host.gt(0), 1); }), HasSubstr("on the same device"));
  EXPECT_THAT(error_of([&] { x.index_put_({tensor({1}).to(device_)}, ones({1})); }),
              HasSubstr("on the same device"));
  EXPECT_THAT(values(x), ElementsAre(1, 1, 1, 1));
}

}  // namespace
}  // namespace taeda
