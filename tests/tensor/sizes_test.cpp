// Sizes, strides and extents that int64 cannot hold, and how a device is named: errors in PyTorch's
// words instead of numbers that wrapped around.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "taeda/base/error.h"
#include "taeda/device/sim.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/shape/shape.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kHuge = int64_t{1} << 62;

TEST(Sizes, ANumberHasNone) {
  const Tensor number = ones({});
  const std::string none = "Dimension specified as 0 but tensor has no dimensions";
  EXPECT_EQ(error_of([&] { number.size(0); }), none);
  EXPECT_EQ(error_of([&] { number.stride(0); }), none);
  EXPECT_EQ(ones({3}).size(-1), 3);
}

#ifdef __SANITIZE_ADDRESS__
TEST(ListsDeathTest, AnIndexBeyondTheEndEndsTheProgram) {
  const Tensor number = ones({});
  EXPECT_DEATH(static_cast<void>(number.sizes()[0]), "");
  EXPECT_DEATH(static_cast<void>(number.sizes().back()), "");
  EXPECT_DEATH(static_cast<void>(DimVector{2, 3}[2]), "");
}
#endif

TEST(Sizes, ProductsAreChecked) {
  EXPECT_EQ(representable_product({3, 0, 5}), 0);
  EXPECT_EQ(representable_product({kHuge, 1}), kHuge);
  EXPECT_EQ(representable_product({kHuge, 2}), std::nullopt);
  EXPECT_EQ(checked_numel({}), 1);
  EXPECT_EQ(error_of([] {
              checked_numel({kHuge + 1, 4});
            }),
            "numel: integer multiplication overflow");
  EXPECT_EQ(error_of([] {
              checked_numel({2, -1});
            }),
            "Trying to create tensor with negative dimension -1: [2, -1]");
  EXPECT_EQ(checked_nbytes({3, 4}, 8), 96);
  EXPECT_EQ(error_of([] {
              checked_nbytes({kHuge, 4}, 4);
            }),
            "Storage size calculation overflowed with sizes=[4611686018427387904, 4]");
  EXPECT_EQ((Layout{{3, 2}, {1, 10}, 5}).checked_storage_nbytes(4), 72);
  EXPECT_EQ((Layout{{3, 0}, {kLargest, kLargest}, 5}).checked_storage_nbytes(4), 0);
}

TEST(Sizes, AsStridedStaysInItsStorage) {
  const Tensor x = zeros({4});
  EXPECT_EQ(error_of([&] {
              x.as_strided({kHuge, 4}, {4, 1});
            }),
            "numel: integer multiplication overflow");
  EXPECT_EQ(error_of([&] { x.as_strided({2}, {kHuge}); }),
            "Storage size calculation overflowed with sizes=[2] and strides=[4611686018427387904]");
  EXPECT_THAT(error_of([&] { x.as_strided({2}, {1}, kLargest); }),
              HasSubstr("Storage size calculation overflowed"));
  EXPECT_EQ(error_of([&] { x.as_strided({3}, {2}); }),
            "setStorage: sizes [3], strides [2], storage offset 0, and itemsize 4 requiring a "
            "storage size of 20 are out of bounds for storage of size 16");
  EXPECT_EQ(error_of([&] { x.as_strided({-2}, {1}); }),
            "Trying to create tensor with negative dimension -2: [-2]");
  EXPECT_EQ(x.as_strided({0, 2}, {kLargest, kLargest}).numel(), 0);
}

TEST(Sizes, NarrowSliceAndUnfold) {
  const Tensor x = zeros({4});
  EXPECT_EQ(error_of([&] { x.narrow(0, 1, kLargest); }),
            "start (1) + length (9223372036854775807) exceeds dimension size (4).");
  EXPECT_EQ(x.slice(0, 0, kLargest, kLargest).sizes(), IntArrayRef({1}));
  EXPECT_EQ(x.slice(0, 1, 4, kLargest - 1).sizes(), IntArrayRef({1}));
  EXPECT_EQ(x.slice(0, std::numeric_limits<int64_t>::min(), 2, 1).sizes(), IntArrayRef({2}));
  EXPECT_EQ(error_of([&] { x.unfold(0, -1, 1); }), "size is -1 but must be >= 0");
  EXPECT_EQ(error_of([&] { zeros({}).unfold(0, -1, 1); }), "size is -1 but must be >= 0");
  EXPECT_EQ(error_of([&] { x.unfold(0, 2, -1); }), "step is -1 but must be > 0");
  EXPECT_EQ(error_of([&] { x.unfold(0, 5, 1); }),
            "maximum size for tensor at dimension 0 is 4 but size is 5");
  EXPECT_EQ(x.unfold(0, 2, kLargest).sizes(), IntArrayRef({1, 2}));
  EXPECT_EQ(error_of([&] { zeros({1}).expand({kHuge}).unfold(0, kHuge / 2, 1); }),
            "numel: integer multiplication overflow");
}

TEST(Sizes, ExpandAndView) {
  EXPECT_EQ(error_of([] { zeros({1}).expand({-5}); }),
            "Trying to create tensor with negative dimension -5: [-5]");
  EXPECT_EQ(error_of([] { zeros({}).expand({-5}); }),
            "The expanded size of the tensor (-5) isn't allowed in a leading, non-existing "
            "dimension 0");
  EXPECT_EQ(error_of([] {
              zeros({1}).expand({kHuge, 4});
            }),
            "numel: integer multiplication overflow");
  const Tensor x = zeros({4});
  EXPECT_EQ(error_of([&] {
              x.view({kHuge + 1, 4});
            }),
            "shape '[4611686018427387905, 4]' is invalid for input of size 4");
  EXPECT_EQ(error_of([&] {
              x.reshape({kHuge + 1, 4});
            }),
            "shape '[4611686018427387905, 4]' is invalid for input of size 4");
  EXPECT_EQ(error_of([&] {
              x.view({-1, kHuge, 4});
            }),
            "shape '[-1, 4611686018427387904, 4]' is invalid for input of size 4");
  EXPECT_EQ(error_of([&] { x.view({-1, 3}); }), "shape '[-1, 3]' is invalid for input of size 4");
  EXPECT_THAT(error_of([&] {
                x.unflatten(0, {kHuge + 1, 4});
              }),
              HasSubstr("don't multiply up to the size of dim 0 (4)"));
  EXPECT_EQ(x.unflatten(0, {2, -1}).sizes(), IntArrayRef({2, 2}));
  EXPECT_EQ(zeros({0}).view({0, kHuge, 4}).numel(), 0) << "as in PyTorch";
}

TEST(Sizes, Creation) {
  const auto overflow = HasSubstr("Storage size calculation overflowed");
  EXPECT_THAT(error_of([] { zeros({kHuge, 4}); }), overflow);
  EXPECT_THAT(error_of([] { empty_strided({kHuge, 4}, {4, 1}); }), HasSubstr("overflow"));
  EXPECT_EQ(error_of([] { empty_strided({2}, {kHuge}); }),
            "Storage size calculation overflowed with sizes=[2] and strides=[4611686018427387904]");
  EXPECT_EQ(error_of([] { empty_strided({-2}, {1}); }),
            "Trying to create tensor with negative dimension -2: [-2]");
  float number = 0;
  EXPECT_THAT(error_of([&] { from_blob(&number, IntArrayRef({2}), IntArrayRef({kHuge})); }),
              overflow);
  EXPECT_THAT(error_of([&] { from_blob(&number, {kHuge + 1, 4}); }), HasSubstr("overflow"));
  EXPECT_THAT(error_of([] { zeros({4}).repeat({kHuge, 4}); }), HasSubstr("overflow"));
  EXPECT_THAT(error_of([] { zeros({1}).expand({kHuge}).unsqueeze(1).add(zeros({8})); }),
              HasSubstr("overflow"));
}

TEST(DeviceOf, ANumberIsAnAccelerator) {
  EXPECT_EQ(Device(0), Device("cuda:0"));
  EXPECT_EQ(Device(int64_t{3}), Device(kCUDA, 3));
  EXPECT_EQ(TensorOptions().device(1).device(), Device("cuda:1"));
  EXPECT_EQ(error_of([] { Device(-1); }), "Device index must not be negative");
  static_assert(!std::is_convertible_v<bool, Device>);
  static_assert(!std::is_constructible_v<Device, std::nullptr_t>);
}

TEST(To, TakesWhateverMakesADevice) {
  if (sim::device_count() == 0) GTEST_SKIP() << "no simulated device";
  const Tensor x = ones({2});
  const std::string name = "sim:0";
  for (const Tensor& t : {x.to("sim", true), x.to("sim:0", true, true), x.to(name, true),
                          x.to(kSim, true), x.to(Device(kSim, 0), true), x.to(name.c_str())}) {
    EXPECT_EQ(t.device(), Device("sim:0"));
    EXPECT_EQ(t.dtype(), kFloat);
  }
  for (const Tensor& t : {x.to("sim", kDouble), x.to(name, kDouble, true), x.to(kSim, kDouble)}) {
    EXPECT_EQ(t.device(), Device("sim:0"));
    EXPECT_EQ(t.dtype(), kDouble);
  }
  EXPECT_TRUE(x.to(x.to("sim", kDouble), true).is_sim());
  EXPECT_EQ(x.to(kDouble).dtype(), kDouble);
  EXPECT_FALSE(x.to(x, false, /*copy=*/true).is_same(x));
  EXPECT_TRUE(x.to(x).is_same(x));
  EXPECT_EQ(error_of([&] { x.to(-1); }), "Device index must not be negative");
  EXPECT_EQ(error_of([&] { x.to(0, kDouble); }), error_of([&] { x.to("cuda:0"); }));
  EXPECT_EQ(error_of([&] { x.to(0); }), error_of([&] { x.to("cuda:0"); }));
}

}  // namespace
}  // namespace taeda
