// Pointwise operations whose operands have different dtypes: the same bits as of operands that are
// cast before, and no tensor of full size on the way.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "taeda/base/parallel_for.h"
#include "taeda/device/registry.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/out.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/promote.h"
#include "tests/error_of.h"
#include "tests/ops/copy_count.h"

namespace taeda {
namespace {

using testing::AllocationCount;
using testing::CopyCount;

constexpr ScalarType kDtypes[] = {kByte,  kChar,   kShort,    kInt,  kLong,         kHalf,
                                  kFloat, kDouble, kBFloat16, kBool, kComplexFloat, kComplexDouble};

using PairFunction = Tensor (*)(const Tensor&, const Tensor&);

struct PairOperation {
  const char* name;
  PairFunction run;
  bool of_complex;
  bool to_float;
};
const PairOperation kOperations[] = {
    {"add", [](const Tensor& a, const Tensor& b) { return add(a, b); }, true, false},
    {"mul", [](const Tensor& a, const Tensor& b) { return mul(a, b); }, true, false},
    {"div", [](const Tensor& a, const Tensor& b) { return div(a, b); }, true, true},
    {"lt", [](const Tensor& a, const Tensor& b) { return lt(a, b); }, false, false},
    {"where", [](const Tensor& a, const Tensor& b) { return where(b.ne(0), a, b); }, true, false},
};

void expect_same_bits(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.sizes(), want.sizes());
  ASSERT_EQ(got.dtype(), want.dtype());
  const Tensor a = got.cpu().contiguous(), b = want.cpu().contiguous();
  if (a.numel() == 0) return;
  EXPECT_EQ(std::memcmp(a.data_ptr(), b.data_ptr(), static_cast<size_t>(a.nbytes())), 0);
}

class MixedDtypes : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!device.is_cpu() && device_count(device.type()) == 0) GTEST_SKIP() << "no such device";
    manual_seed(5);
  }
  /// Numbers with fractions, signs and, where the dtype has them, sizes that a narrower one rounds.
  Tensor numbers(IntArrayRef sizes, ScalarType dtype) const {
    Tensor t = randn(sizes, TensorOptions(kDouble)).mul(50).clamp(-120, 120);
    if (dtype == kByte) t = t.abs();
    return t.to(dtype).to(device);
  }
  /// `op(a, b)` and `op` of both in the dtype that they have in common.
  void compare(const PairOperation& op, const Tensor& a, const Tensor& b) const {
    ScalarType common = result_type({a, b});
    if (op.to_float && is_integral(common, true)) common = kFloat;
    if (is_complex(common) && !op.of_complex) return;
    if (common == kComplexHalf) return;  // computed by complex64: numbers are not rounded first
    SCOPED_TRACE(std::string(op.name) + " " + to_string(a.dtype()) + " " + to_string(b.dtype()));
    expect_same_bits(op.run(a, b), op.run(a.to(common), b.to(common)));
  }
  void compare_all(const std::function<Tensor(ScalarType)>& a,
                   const std::function<Tensor(ScalarType)>& b) const {
    for (const ScalarType s : kDtypes)
      for (const ScalarType t : kDtypes)
        for (const PairOperation& op : kOperations) compare(op, a(s), b(t));
  }
  const Device device{GetParam()};
};

TEST_P(MixedDtypes, GiveTheBitsOfACastBefore) {
  const auto flat = [&](ScalarType t) { return numbers({777}, t); };
  compare_all(flat, flat);
}

TEST_P(MixedDtypes, WithStrides) {
  compare_all(
      [&](ScalarType t) {
        return numbers({37, 21}, t).t();
      },
      [&](ScalarType t) {
        return numbers({21, 74}, t).slice(1, 0, 74, 2);
      });
}

TEST_P(MixedDtypes, Broadcast) {
  compare_all(
      [&](ScalarType t) {
        return numbers({5, 1, 67}, t);
      },
      [&](ScalarType t) {
        return numbers({9, 1}, t);
      });
  compare_all([&](ScalarType t) { return numbers({300}, t); },
              [&](ScalarType t) { return numbers({1}, t); });
}

TEST_P(MixedDtypes, WithATensorWithoutDimensions) {
  compare_all([&](ScalarType t) { return numbers({70}, t); },
              [&](ScalarType t) { return numbers({}, t); });
  compare_all([&](ScalarType t) { return numbers({70}, t); },
              [&](ScalarType t) { return numbers({}, t).cpu(); });
}

TEST_P(MixedDtypes, WithoutElements) {
  compare_all(
      [&](ScalarType t) {
        return numbers({0, 3}, t);
      },
      [&](ScalarType t) { return numbers({3}, t); });
}

TEST_P(MixedDtypes, FromSeveralThreads) {
  const int64_t n = 5 * kParallelGrain + 17;
  for (const ScalarType t : {kDouble, kLong, kHalf, kBool})
    compare(kOperations[0], numbers({n}, kFloat), numbers({n}, t));
}

TEST_P(MixedDtypes, ResultOfAnotherDtype) {
  const Tensor a = numbers({33, 20}, kFloat), b = numbers({33, 20}, kLong);
  for (const ScalarType t : kDtypes) {
    if (!can_cast(kFloat, t)) continue;
    SCOPED_TRACE(to_string(t));
    const Tensor want = a.add(b).to(t), wide = zeros({20, 66}, TensorOptions(t).device(device));
    Tensor out = zeros({33, 20}, TensorOptions(t).device(device));
    add_out(out, a, b);
    expect_same_bits(out, want);
    Tensor strided = wide.t().slice(0, 0, 66, 2);
    add_out(strided, a, b);
    expect_same_bits(strided, want);
    EXPECT_TRUE(wide.t().slice(0, 1, 66, 2).eq(0).all().item<bool>());
  }
}

TEST_P(MixedDtypes, InPlace) {
  for (const ScalarType s : kDtypes)
    for (const ScalarType t : kDtypes) {
      const Tensor a = numbers({40, 30}, s), b = numbers({30}, t);
      if (!can_cast(result_type({a, b}), s)) continue;
      SCOPED_TRACE(std::string(to_string(s)) + " " + to_string(t));
      const Tensor want = a.mul(b).to(s);
      expect_same_bits(a.clone().mul_(b), want);
      const Tensor turned = a.t().clone().t();
      turned.mul_(b);
      expect_same_bits(turned, want);
    }
}

TEST_P(MixedDtypes, MaskOfNumbers) {
  const Tensor a = numbers({90}, kFloat), b = numbers({90}, kDouble);
  const Tensor mask = numbers({90}, kLong).remainder(2).to(kBool);
  expect_same_bits(where(mask, a, b), where(mask, a.to(kDouble), b));
}

TEST_P(MixedDtypes, AllocateOnlyTheResult) {
  const Tensor f = numbers({100, 100}, kFloat);
  for (const ScalarType t : {kDouble, kLong, kHalf, kBool, kComplexFloat}) {
    SCOPED_TRACE(to_string(t));
    const Tensor other = numbers({100, 100}, t);
    const AllocationCount allocations(device);
    const CopyCount copies(device.type());
    const Tensor sum = f + other;
    EXPECT_EQ(allocations.get(), 1);
    const Tensor turned = f.t() * other;
    EXPECT_EQ(allocations.get(), 2);
    if (!is_complex(t)) f.add_(other);
    Tensor out = sum;
    mul_out(out, f, other);
    EXPECT_EQ(allocations.get(), 2);
    EXPECT_EQ(copies.get(), 0);
  }
}

TEST_P(MixedDtypes, PartsOfAnInputAreRefused) {
  const Tensor a = numbers({10}, kFloat);
  EXPECT_NE(error_of([&] {
              a.slice(0, 0, 5).add_(a.view(kInt).slice(0, 1, 6));
            }).find("refer to a single memory location"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(OnDevices, MixedDtypes, ::testing::Values("cpu", "sim:0"),
                         [](const auto& info) { return std::string(info.param).substr(0, 3); });

}  // namespace
}  // namespace taeda
