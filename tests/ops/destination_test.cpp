// Forms in place and with `out` write where the result belongs: what they allocate and copy, and
// that gradients, versions and overlapping memory come out as if they had not.
#include <gmock/gmock.h>

#include <functional>

#include "taeda/autograd/engine.h"
#include "taeda/device/registry.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/out.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/error_of.h"
#include "tests/ops/copy_count.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using testing::AllocationCount;
using testing::CopyCount;
using ::testing::HasSubstr;

void expect_values(const Tensor& got, const Tensor& want, double tolerance = 0) {
  testing::expect_same(got.detach().cpu(), want.detach().cpu(), tolerance);
}

class Destinations : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!device.is_cpu() && device_count(device.type()) == 0) GTEST_SKIP() << "no such device";
    manual_seed(2);
  }
  Tensor numbers(IntArrayRef sizes = {40, 40}) const {
    return rand(sizes).mul(0.6).add(0.2).to(device);
  }
  const Device device{GetParam()};
};

using OutForm = std::function<void(Tensor& out, const Tensor& a, const Tensor& b)>;

TEST_P(Destinations, FormsWithOutAllocateAndCopyNothing) {
  const std::pair<const char*, OutForm> forms[] = {
      {"add", [](Tensor& out, const Tensor& a, const Tensor& b) { add_out(out, a, b, 2); }},
      {"rsub", [](Tensor& out, const Tensor& a, const Tensor&) { rsub_out(out, a, 2); }},
      {"mul", [](Tensor& out, const Tensor& a, const Tensor& b) { mul_out(out, a, b); }},
      {"log", [](Tensor& out, const Tensor& a, const Tensor&) { log_out(out, a); }},
      {"tanh", [](Tensor& out, const Tensor& a, const Tensor&) { tanh_out(out, a); }},
      {"gelu", [](Tensor& out, const Tensor& a, const Tensor&) { gelu_out(out, a); }},
      {"pow", [](Tensor& out, const Tensor& a, const Tensor&) { pow_out(out, a, 2); }},
      {"selu", [](Tensor& out, const Tensor& a, const Tensor&) { selu_out(out, a); }},
      {"floor_divide",
       [](Tensor& out, const Tensor& a, const Tensor& b) { floor_divide_out(out, a, b); }},
      {"lt", [](Tensor& out, const Tensor& a, const Tensor& b) { lt_out(out, a, b); }},
      {"mm", [](Tensor& out, const Tensor& a, const Tensor& b) { mm_out(out, a, b); }},
      {"addmm", [](Tensor& out, const Tensor& a, const Tensor& b) { addmm_out(out, a, b, a); }},
      {"softmax", [](Tensor& out, const Tensor& a, const Tensor&) { softmax_out(out, a, 1); }},
      {"cumsum", [](Tensor& out, const Tensor& a, const Tensor&) { cumsum_out(out, a, 1); }},
      {"cat",
       [](Tensor& out, const Tensor& a, const Tensor& b) {
         cat_out(out, {a.narrow(0, 0, 20), b.narrow(0, 0, 20)}, 0);
       }},
      {"sum",
       [](Tensor& out, const Tensor& a, const Tensor& b) {
         Tensor row = out[0];
         sum_out(row, a.mul_(b), 0);
       }},
  };
  const Tensor a = numbers(), b = numbers(), out = numbers();
  for (const auto& [name, form] : forms) {
    SCOPED_TRACE(name);
    Tensor to = out;
    const AllocationCount allocations(device);
    const CopyCount copies(device.type());
    const auto version = out._version();
    form(to, a, b);
    EXPECT_EQ(allocations.get(), 0);
    EXPECT_EQ(copies.get(), 0);
    EXPECT_GT(out._version(), version);
  }
}

TEST_P(Destinations, UnrecordedChangesInPlaceAllocateAndCopyNothing) {
  const Tensor a = numbers(), b = numbers(), whole = numbers().mul(20).add(1).to(kLong);
  const AllocationCount allocations(device);
  const CopyCount copies(device.type());
  a.fmod_(b).acosh_().asinh_().copysign_(b).nan_to_num_(0.5).lgamma_().remainder_(b);
  whole.gcd_(whole).bitwise_left_shift_(1);
  EXPECT_EQ(allocations.get(), 0);
  EXPECT_EQ(copies.get(), 0);
}

TEST_P(Destinations, RecordedChangesInPlaceCopyOnlyWhatTheDerivativeNeeds) {
  const Tensor leaf = numbers().requires_grad_(), factor = numbers();
  const Tensor x = leaf.mul(2);
  const CopyCount copies(device.type());
  const AllocationCount allocations(device);
  x.log_();
  x.mul_(factor);
  x.sin_();
  EXPECT_EQ(allocations.get(), 3);
  EXPECT_EQ(copies.get(), 3);
  const Tensor y = leaf.detach().mul(2).requires_grad_();
  const Tensor want = y.log().mul(factor).sin();
  expect_values(x, want);
  const Tensor g = numbers();
  expect_values(autograd::grad({x}, {leaf}, {g})[0], autograd::grad({want}, {y}, {g})[0].mul(2),
                1e-5);
}

TEST_P(Destinations, ChangesOfAViewReachTheBase) {
  const Tensor leaf = numbers({4, 6}).requires_grad_();
  const Tensor base = leaf.mul(1), column = base.select(1, 2);
  const auto version = base._version();
  column.log_();
  EXPECT_GT(base._version(), version);
  const Tensor g = numbers({4, 6});
  const Tensor grad = autograd::grad({base}, {leaf}, {g})[0];
  const Tensor want = g.clone();
  want.select(1, 2).div_(leaf.detach().select(1, 2));
  expect_values(grad, want, 1e-6);
}

TEST_P(Destinations, InputsInTheSameMemoryAreReadBeforeTheyAreWritten) {
  const Tensor a = numbers(), before = a.clone();
  Tensor out = a;
  mm_out(out, a, a);
  expect_values(a, before.mm(before));
  a.copy_(before);
  Tensor turned = a.t();
  const std::string refused = "some elements of the input tensor and the written-to tensor refer";
  EXPECT_THAT(error_of([&] { add_out(turned, a, a.select(0, 1)); }), HasSubstr(refused));
  softmax_out(out, a.t(), 1);
  expect_values(a, before.t().softmax(1));
  const Tensor line = numbers({50}), old = line.clone();
  Tensor later = line.narrow(0, 1, 49);
  EXPECT_THAT(error_of([&] { exp_out(later, line.narrow(0, 0, 49)); }), HasSubstr(refused));
  EXPECT_TRUE(line.equal(old));
  Tensor even = line.slice(0, 0, std::nullopt, 2);
  exp_out(even, line.narrow(0, 0, 25));
  expect_values(even, old.narrow(0, 0, 25).exp());
}

TEST_P(Destinations, OtherSizesDtypesAndLayouts) {
  const Tensor a = numbers({30}), b = numbers({30});
  Tensor none = zeros({0}, a.options()), wide = zeros({30}, a.options().dtype(kDouble));
  mul_out(none, a, b);
  expect_values(none, a.mul(b));
  mul_out(wide, a, b);
  expect_values(wide, a.mul(b).to(kDouble));
  const Tensor base = zeros({30, 2}, a.options());
  Tensor column = base.select(1, 1);
  mul_out(column, a, b);
  expect_values(column, a.mul(b));
  EXPECT_TRUE(base.select(1, 0).eq(0).all().item<bool>());
  Tensor repeated = zeros({1}, a.options()).expand({30});
  EXPECT_THAT(error_of([&] { mul_out(repeated, a, b); }),
              HasSubstr("more than one element of the written-to tensor"));
}

TEST_P(Destinations, WhatANodeSavedIsChecked) {
  const Tensor leaf = numbers({5}).requires_grad_();
  const Tensor other = leaf.mul(3);
  other.mul_(other);  // saved what it was multiplied with, and overwrote it
  EXPECT_THAT(error_of([&] { other.sum().backward(); }), HasSubstr("modified by an inplace"));
  const Tensor result = leaf.mul(3);
  result.tan_();  // saved its result
  result.add_(1);
  EXPECT_THAT(error_of([&] { result.sum().backward(); }), HasSubstr("modified by an inplace"));
}

TEST_P(Destinations, FailureLeavesTheTensorAsItWas) {
  const Tensor leaf = numbers({5}).requires_grad_(), x = leaf.mul(1), before = x.detach().clone();
  Tensor inference;
  {
    InferenceMode mode;
    inference = numbers({5});
  }
  EXPECT_THAT(error_of([&] { x.mul_(inference); }), HasSubstr("Inference tensors cannot be saved"));
  expect_values(x.detach(), before);
  EXPECT_THAT(error_of([&] { inference.fmod_(2); }), HasSubstr("outside InferenceMode"));
  EXPECT_THAT(error_of([&] { log_out(inference, before); }), HasSubstr("outside InferenceMode"));
}

INSTANTIATE_TEST_SUITE_P(OnDevices, Destinations, ::testing::Values("cpu", "sim:0"),
                         [](const auto& info) { return std::string(info.param).substr(0, 3); });

}  // namespace
}  // namespace taeda
