// What a tensor is asked beside its operations: elements by brackets, assignment through indexing,
// other memory for the same tensor, and what options may leave open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "taeda/device/storage.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/shape/shape.h"
#include "tests/error_of.h"
#include "tests/values.h"

namespace taeda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Members, AssignmentThroughAnIndexWrites) {
  Tensor x = zeros({2, 2});
  x[0] = 1.5;
  x[1][0] = tensor(2.0);
  x.index({1, 1}) = full({}, 3.0);
  EXPECT_THAT(values<float>(x), ElementsAre(1.5f, 1.5f, 2.0f, 3.0f));
  const Tensor y = tensor({7.0, 8.0});
  x[0] = y;
  EXPECT_THAT(values<float>(x[0]), ElementsAre(7.0f, 8.0f));
  x[0] = std::move(x[1]);
  EXPECT_THAT(values<float>(x), ElementsAre(2.0f, 3.0f, 2.0f, 3.0f));
}

TEST(Members, AssignmentToANameBindsIt) {
  const Tensor x = zeros({2});
  Tensor row = x[0];
  row = ones({3});
  EXPECT_EQ(row.sizes(), IntArrayRef({3}));
  EXPECT_THAT(values<float>(x), ElementsAre(0.0f, 0.0f));
  Tensor moved;
  moved = std::move(row);
  EXPECT_FALSE(row.defined());  // NOLINT: what moving leaves
  EXPECT_EQ(moved.numel(), 3);
}

TEST(Members, AssignmentThroughAnIndexIsRecorded) {
  Tensor x = ones({2}, TensorOptions().requires_grad(true));
  Tensor y = x.mul(3);
  y[0] = 5.0;
  y.sum().backward();
  EXPECT_THAT(values<float>(x.grad()), ElementsAre(0.0f, 3.0f));
}

TEST(Members, AccessorsReadAndWrite) {
  const Tensor x = arange(6, kDouble).reshape({2, 3});
  auto a = x.accessor<double, 2>();
  EXPECT_EQ(a[1][2], 5);
  EXPECT_EQ(a.size(0), 2);
  EXPECT_EQ(a[1].size(0), 3);
  EXPECT_EQ(a.sizes(), IntArrayRef({2, 3}));
  a[0][1] = 9;
  EXPECT_EQ(x[0][1].item<double>(), 9);
  const Tensor columns = x.t();  // not contiguous
  auto t = columns.packed_accessor32<double, 2>();
  EXPECT_EQ(t[2][1], 5);
  EXPECT_EQ(t.stride(0), 1);
  EXPECT_EQ((columns.packed_accessor64<double, 2>()[1][0]), 9);
}

TEST(Members, AccessorsCheckWhatTheyAre) {
  const Tensor x = zeros({2, 3});
  EXPECT_EQ(error_of([&] { x.accessor<float, 1>(); }),
            "TensorAccessor expected 1 dims but tensor has 2");
  EXPECT_THAT(error_of([&] { x.accessor<double, 2>(); }), HasSubstr("Double"));
  const Tensor many = zeros({1}).expand({int64_t{1} << 31});
  EXPECT_THAT(error_of([&] { many.packed_accessor32<float, 1>(); }),
              HasSubstr("numel needs to be smaller than int32_t max"));
  EXPECT_EQ((many.packed_accessor64<float, 1>().size(0)), int64_t{1} << 31);
}

TEST(Members, ResizeKeepsElements) {
  const Tensor x = arange(4);
  const Tensor alias = x;
  x.resize_({2});
  EXPECT_THAT(values<int64_t>(x), ElementsAre(0, 1));
  x.resize_({2, 4});
  EXPECT_EQ(x.sizes(), IntArrayRef({2, 4}));
  EXPECT_THAT(values<int64_t>(x[0]), ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(alias.is_same(x));
  x.resize_as_(zeros({3}));
  EXPECT_EQ(x.sizes(), IntArrayRef({3}));
  const Tensor image = zeros({0});
  image.resize_({1, 2, 3, 3}, MemoryFormat::ChannelsLast);
  EXPECT_TRUE(image.is_contiguous(MemoryFormat::ChannelsLast));
}

TEST(Members, ResizeGivesAllThatShareMemoryTheNewOne) {
  for (const char* device : {"cpu", "sim"}) {
    const Tensor x = arange(6.0, TensorOptions().device(device)), view = x.narrow(0, 2, 2);
    x.resize_({1000});
    EXPECT_TRUE(view.is_alias_of(x));
    EXPECT_THAT(values<float>(view.cpu()), ElementsAre(2, 3));
    x[3].fill_(7);
    EXPECT_THAT(values<float>(view.cpu()), ElementsAre(2, 7));
    x.storage().resize(16);
    EXPECT_EQ(view.storage().nbytes(), 16u);
    EXPECT_THAT(values<float>(view.cpu()), ElementsAre(2, 7));
    x.storage().resize(0);
    EXPECT_THAT(error_of([&] { view.add(1); }), HasSubstr("beyond its storage of 0 bytes"));
    x.storage().resize(8);
    x.resize_({2}).fill_(3);
    EXPECT_THAT(values<float>(x.cpu()), ElementsAre(3, 3));
  }
  const Tensor lent = arange(3);
  lent.storage()->begin_loan();
  EXPECT_EQ(error_of([&] { lent.storage().resize(0); }),
            "Trying to resize storage that is not resizable");
  lent.storage()->end_loan();
  lent.storage().resize(0);
}

TEST(Members, ResizeRefuses) {
  EXPECT_EQ(error_of([] { zeros({2}, TensorOptions().requires_grad(true)).resize_({3}); }),
            "resize_: cannot resize variables that require grad");
  float memory[2] = {1, 2};
  const Tensor mine = from_blob(memory, {2});
  EXPECT_EQ(error_of([&] { mine.resize_({3}); }), "Trying to resize storage that is not resizable");
  mine.resize_({1});
  EXPECT_EQ(mine.numel(), 1);
  EXPECT_THAT(error_of([] { zeros({2}).resize_({-1}); }), HasSubstr("negative dimension -1"));
}

TEST(Members, SetTakesOverMemory) {
  const Tensor source = arange(6.0), x = zeros({2});
  x.set_(source);
  EXPECT_TRUE(x.is_set_to(source));
  EXPECT_TRUE(x.is_alias_of(source));
  x[0] = 4.0;
  EXPECT_EQ(source[0].item<float>(), 4);
  x.set_(source.storage(), 1, {2, 2}, {2, 1});
  EXPECT_THAT(values<float>(x), ElementsAre(1, 2, 3, 4));
  EXPECT_FALSE(x.is_set_to(source));
  x.set_(source.storage());
  EXPECT_EQ(x.sizes(), IntArrayRef({6}));
  x.set_();
  EXPECT_EQ(x.numel(), 0);
  EXPECT_THAT(error_of([&] { x.set_(source.storage(), 4, {3}); }),
              HasSubstr("out of bounds for one of 24"));
  EXPECT_EQ(error_of([&] { x.set_(arange(3)); }),
            "Could not set tensor of type long int to a tensor of type float");
  const Tensor strided = source.clone();
  strided.as_strided_({2}, {3}, 1);
  EXPECT_THAT(values<float>(strided), ElementsAre(1, 4));
}

TEST(Members, DataSharesMemoryAndNoVersion) {
  const Tensor x = ones({2}, TensorOptions().requires_grad(true));
  const Tensor y = x.mul(x);  // saves x
  x.data().mul_(2);
  EXPECT_FALSE(x.data().requires_grad());
  EXPECT_THAT(values<float>(x), ElementsAre(2.0f, 2.0f));
  y.sum().backward();  // no error: data() does not count
  EXPECT_TRUE(x.grad().defined());
  EXPECT_EQ(y.name(), "MulBackward0");
  EXPECT_THAT(error_of([&] { (void)x.name(); }), HasSubstr("has no name"));
}

TEST(Members, WhatIsAbsentIsUndefined) {
  std::optional<Tensor> none, some = ones({2});
  const Tensor a = none, b = some, c = std::nullopt;
  EXPECT_FALSE(a.defined());
  EXPECT_FALSE(c.defined());
  EXPECT_TRUE(b.is_same(*some));
  EXPECT_TRUE(!none);
  EXPECT_FALSE(!some);
}

TEST(Members, ConversionsTakeAFormat) {
  const Tensor image = zeros({1, 2, 3, 3});
  EXPECT_TRUE(image.to(kDouble, false, false, MemoryFormat::ChannelsLast)
                  .is_contiguous(MemoryFormat::ChannelsLast));
  EXPECT_TRUE(image.to(TensorOptions().memory_format(MemoryFormat::ChannelsLast))
                  .is_contiguous(MemoryFormat::ChannelsLast));
  EXPECT_TRUE(image.to(image, false, false, std::nullopt).is_same(image));
  EXPECT_EQ(image.suggest_memory_format(), MemoryFormat::Contiguous);
  const Tensor last = image.clone(MemoryFormat::ChannelsLast);
  EXPECT_EQ(last.suggest_memory_format(), MemoryFormat::ChannelsLast);
  EXPECT_TRUE(empty_like(last).is_contiguous(MemoryFormat::ChannelsLast));
  EXPECT_TRUE(zeros_like(last, {}, MemoryFormat::Contiguous).is_contiguous());
  EXPECT_TRUE(empty({1, 2, 3, 3}, {}, MemoryFormat::ChannelsLast)
                  .is_contiguous(MemoryFormat::ChannelsLast));
}

TEST(Members, VolumesHaveAFormatToo) {
  constexpr auto kLast = MemoryFormat::ChannelsLast3d;
  const Tensor volume = zeros({1, 2, 3, 3, 3}), last = volume.contiguous(kLast);
  EXPECT_TRUE(last.is_contiguous(kLast));
  EXPECT_FALSE(last.is_contiguous() || volume.is_contiguous(kLast));
  EXPECT_TRUE(last.contiguous(kLast).is_same(last));
  EXPECT_EQ(last.suggest_memory_format(), kLast);
  EXPECT_EQ(volume.suggest_memory_format(), MemoryFormat::Contiguous);
  for (const Tensor& t :
       {last.clone(), empty_like(last), last.to(kDouble), last.add(1),
        volume.to(kDouble, false, false, kLast), volume.clone(kLast),
        empty({1, 2, 3, 3, 3}, {}, kLast), volume.to(TensorOptions().memory_format(kLast))})
    EXPECT_TRUE(t.is_contiguous(kLast));
  EXPECT_TRUE(zeros_like(last, {}, MemoryFormat::Contiguous).is_contiguous());
  const Tensor resized = zeros({1});
  resized.resize_({1, 2, 3, 3, 3}, kLast);
  EXPECT_TRUE(resized.is_contiguous(kLast));
  for (const Tensor& t : {zeros({1, 2, 3, 3}), zeros({3})})
    EXPECT_EQ(error_of([&] { t.contiguous(kLast); }),
              "required rank 5 tensor to use channels_last_3d format");
}

TEST(Members, OptionsMayLeaveThingsOpen) {
  const TensorOptions open;
  EXPECT_FALSE(open.has_dtype() || open.has_device() || open.has_requires_grad() ||
               open.has_pinned_memory() || open.has_memory_format());
  EXPECT_EQ(open.dtype_opt(), std::nullopt);
  EXPECT_EQ(open.device_opt(), std::nullopt);
  const TensorOptions set = open.dtype(kLong).device("cpu").requires_grad(false).memory_format(
      MemoryFormat::ChannelsLast);
  EXPECT_EQ(set.dtype_opt(), kLong);
  EXPECT_EQ(set.requires_grad_opt(), false);
  EXPECT_EQ(set.memory_format_opt(), MemoryFormat::ChannelsLast);
  EXPECT_FALSE(set.dtype(std::optional<ScalarType>()).has_dtype());
  EXPECT_FALSE(set.device(std::nullopt).has_device());
  EXPECT_EQ(set.device(std::optional(Device(kCPU))).device_index(), -1);
  EXPECT_EQ(layout(kStrided).layout(), kStrided);
  EXPECT_TRUE(pinned_memory().pinned_memory());
  EXPECT_EQ(ones({2}, kStrided).dtype(), kFloat);
  EXPECT_TRUE(ones({2}).layout() == kStrided);
}

TEST(Members, StoragesTellWhatTheyAre) {
  const Tensor x = zeros({4});
  const Storage s = x.storage();
  EXPECT_EQ(s.nbytes(), 16u);
  EXPECT_EQ(s.data(), x.data_ptr());
  EXPECT_EQ(s.device_type(), kCPU);
  EXPECT_TRUE(s.resizable());
  EXPECT_FALSE(s.unique());
  EXPECT_TRUE(s.is_alias_of(x[1].storage()));
  EXPECT_FALSE(s.is_alias_of(zeros({4}).storage()));
}

TEST(Members, NumbersUnderLibtorchsNames) {
  const Scalar three = 3, half = 0.5;
  EXPECT_EQ(three.toChar(), 3);
  EXPECT_EQ(three.toByte(), 3);
  EXPECT_EQ(three.toShort(), 3);
  EXPECT_EQ(float(half.toHalf()), 0.5f);
  EXPECT_EQ(float(half.toBFloat16()), 0.5f);
  EXPECT_EQ(half.toComplexDouble().real(), 0.5);
  EXPECT_TRUE(half.isFloatingPoint() && three.isIntegral(false) && Scalar(true).isBoolean());
  EXPECT_TRUE(Scalar(true).isIntegral(true) && !Scalar(true).isIntegral(false));
  const Scalar z = std::complex<double>(1, 2);
  EXPECT_TRUE(z.isComplex());
  EXPECT_EQ(z.conj().to<std::complex<double>>(), std::complex<double>(1, -2));
  EXPECT_DOUBLE_EQ(Scalar(1.0).log().toDouble(), 0);
  EXPECT_EQ(Half(0x3c00, Half::from_bits()), 1.0f);
  EXPECT_EQ(BFloat16(0x3f80, BFloat16::from_bits()), 1.0f);
  EXPECT_FALSE((std::is_constructible_v<Scalar, const char*>));
}

TEST(Members, BackwardTakesAListOfInputs) {
  const Tensor x = ones({2}, TensorOptions().requires_grad(true));
  const Tensor w = ones({2}, TensorOptions().requires_grad(true));
  const std::vector<Tensor> inputs = {x};
  x.mul(w).sum().backward({}, std::nullopt, false, std::optional<TensorList>(inputs));
  EXPECT_TRUE(x.grad().defined());
  EXPECT_FALSE(w.grad().defined());
}

}  // namespace
}  // namespace taeda
