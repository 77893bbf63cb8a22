// Creation: values, dtype rules, literals, memory of the user.
#include "taeda/ops/create/create.h"

#include <gtest/gtest.h>

#include "taeda/ops/create/determinism.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using namespace testing;
using Sizes = std::vector<int64_t>;

TEST(Create, OptionsDecideDtypeAndGradient) {
  EXPECT_EQ(zeros({2, 3}, kLong).dtype(), kLong);
  EXPECT_EQ(floats(ones({2})), (std::vector<float>{1, 1}));
  EXPECT_TRUE(ones({2}, TensorOptions().requires_grad(true)).requires_grad());
  EXPECT_EQ(zeros({2}, dtype(kDouble).device(kCPU)).dtype(), kDouble);
  EXPECT_EQ(full({2}, 3).dtype(), kLong);
  EXPECT_EQ(full({2}, true).dtype(), kBool);
  EXPECT_EQ(full({2}, 2.5).dtype(), kFloat);
  EXPECT_EQ(full({2}, std::complex<double>(1, 2)).dtype(), kComplexFloat);
  EXPECT_EQ(scalar_tensor(3).dtype(), kFloat);
  EXPECT_EQ(error_of([] { zeros({2}, dtype(kLong).requires_grad(true)); }),
            "only Tensors of floating point and complex dtype can require gradients, but got Long");
  EXPECT_EQ(error_of([] {
              empty({2, -1});
            }),
            "Trying to create tensor with negative dimension -1: [2, -1]");
}

TEST(Create, DeterministicModeFillsNewMemory) {
  const Tensor old = ones({2, 2});
  use_deterministic_algorithms(true);
  const Tensor made[] = {empty({2, 3}), empty_like(old), empty_strided({2, 2}, {1, 2}),
                         old.new_empty({3}), empty({1, 2, 3, 3}, {}, MemoryFormat::ChannelsLast)};
  const Tensor numbers = empty({2}, kByte), flags = empty({2}, kBool);
  const Tensor grown = ones({2}).resize_({4});
  set_fill_uninitialized_memory(false);
  const Tensor left = ones({64}).resize_({65});
  set_fill_uninitialized_memory(true);
  use_deterministic_algorithms(false);
  EXPECT_FALSE(are_deterministic_algorithms_enabled());
  for (const Tensor& t : made) EXPECT_TRUE(t.isnan().all().item<bool>()) << t;
  EXPECT_TRUE(numbers.eq(255).all().item<bool>());
  EXPECT_TRUE(flags.all().item<bool>());
  EXPECT_TRUE(grown.isnan().equal(tensor({false, false, true, true})));
  EXPECT_EQ(left.narrow(0, 0, 64).sum().item<double>(), 64);
}

TEST(Create, LikeKeepsMemoryOrder) {
  const Tensor x = zeros({2, 3}).t();
  EXPECT_EQ(zeros_like(x).strides().vec(), (Sizes{1, 3}));
  EXPECT_EQ(floats(full_like(x, 2)), std::vector<float>(6, 2.0f));
  EXPECT_EQ(ones_like(x, kLong).dtype(), kLong);
  EXPECT_EQ(x.new_full({2}, 4).dtype(), kFloat);
}

TEST(Create, EmptyStrided) {
  const Tensor x = empty_strided({2, 2}, {1, 4});
  EXPECT_EQ(x.strides().vec(), (Sizes{1, 4}));
  EXPECT_EQ(x.storage()->nbytes(), 6 * sizeof(float));
  EXPECT_EQ(error_of([] {
              empty_strided({2}, {1, 1});
            }),
            "mismatch in length of strides and shape");
}

TEST(Create, Arange) {
  EXPECT_EQ(longs(arange(4)), (Sizes{0, 1, 2, 3}));
  EXPECT_EQ(longs(arange(5, 0, -2)), (Sizes{5, 3, 1}));
  EXPECT_EQ(arange(3.0).dtype(), kFloat);
  EXPECT_EQ(arange(0, 3, 1, kDouble).dtype(), kDouble);
  EXPECT_EQ(floats(arange(1, 2.5, 0.5)), (std::vector<float>{1, 1.5, 2}));
  EXPECT_EQ(arange(0, 0).numel(), 0);
  EXPECT_EQ(longs(arange(100000)).back(), 99999);
  EXPECT_EQ(error_of([] { arange(0, 3, 0); }), "step must be nonzero");
  EXPECT_EQ(error_of([] { arange(0, 3, -1); }),
            "upper bound and lower bound inconsistent with step sign");
}

TEST(Create, Linspace) {
  EXPECT_EQ(floats(linspace(0, 1, 5)), (std::vector<float>{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(floats(linspace(3, 10, 1)), (std::vector<float>{3}));
  EXPECT_EQ(longs(linspace(0, 10, 4, kLong)), (Sizes{0, 3, 6, 10}));
  EXPECT_EQ(error_of([] { linspace(0, 1, -1); }), "number of steps must be non-negative");
}

TEST(Create, EyeAndTriangles) {
  EXPECT_EQ(floats(eye(2, 3)), (std::vector<float>{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(longs(tril_indices(3, 3)), (Sizes{0, 1, 1, 2, 2, 2, 0, 0, 1, 0, 1, 2}));
  EXPECT_EQ(longs(triu_indices(2, 3, 1)), (Sizes{0, 0, 1, 1, 2, 2}));
}

TEST(Literal, DtypesFollowTheNumbers) {
  EXPECT_EQ(tensor({1, 2, 3}).dtype(), kLong);
  EXPECT_EQ(tensor({1.0, 2.0}).dtype(), kFloat);
  EXPECT_EQ(tensor({1.0f, 2.0f}).dtype(), kFloat);
  EXPECT_EQ(tensor(3.5).sizes().size(), 0u);
  EXPECT_EQ(tensor(true).dtype(), kBool);
  EXPECT_EQ(tensor({true, false}).dtype(), kBool);
  EXPECT_EQ(tensor({1, 2}, kDouble).dtype(), kDouble);
  EXPECT_EQ(tensor({std::complex<float>(1, 2)}).dtype(), kComplexFloat);
  EXPECT_EQ(tensor({}).dtype(), kFloat);
  EXPECT_EQ(shape(tensor({})), (Sizes{0}));
}

TEST(Literal, NestedLists) {
  EXPECT_EQ(shape(tensor({{1, 2}, {3, 4}})), (Sizes{2, 2}));
  EXPECT_EQ(longs(tensor({{1, 2}, {3, 4}})), (Sizes{1, 2, 3, 4}));
  EXPECT_EQ(shape(tensor({{1}})), (Sizes{1, 1}));
  EXPECT_EQ(shape(tensor({{{1.0, 2.0}}, {{3.0, 4.0}}})), (Sizes{2, 1, 2}));
  EXPECT_EQ(error_of([] {
              tensor({{1, 2}, {3}});
            }),
            "Expected all sub-lists to have sizes: [2] (e.g. {1, 2}), but got sub-list {3} with "
            "sizes: [1]");
}

TEST(Literal, Vectors) {
  EXPECT_EQ(floats(tensor(std::vector<float>{1, 2})), (std::vector<float>{1, 2}));
  EXPECT_EQ(tensor(std::vector<int>{1, 2}).dtype(), kLong);
  EXPECT_EQ(tensor(std::vector<uint8_t>{1, 2}).dtype(), kByte);
  EXPECT_EQ(bools(tensor(std::vector<bool>{true, false})), (std::vector<int>{1, 0}));
  EXPECT_EQ(floats(tensor(std::vector<double>{1, 2})), (std::vector<float>{1, 2}));
}

TEST(Complex, FromPartsAndFromPolarCoordinates) {
  const Tensor z = make_complex(tensor({1.0f, -2.0f}), tensor({0.5f, 4.0f}));
  EXPECT_EQ(z.dtype(), kComplexFloat);
  EXPECT_EQ(floats(real(z)), (std::vector<float>{1, -2}));
  EXPECT_EQ(floats(imag(z)), (std::vector<float>{0.5f, 4}));
  const Tensor turn = polar(tensor({2.0}, kDouble), tensor({0.5 * M_PI}, kDouble));
  EXPECT_EQ(turn.dtype(), kComplexDouble);
  EXPECT_NEAR(real(turn).item<double>(), 0, 1e-15);
  EXPECT_NEAR(imag(turn).item<double>(), 2, 1e-15);
  EXPECT_THROW(make_complex(ones({2}), ones({2}, kDouble)), Error);
}

TEST(FromBlob, SharesAndReleases) {
  float data[6] = {0, 1, 2, 3, 4, 5};
  int released = 0;
  {
    const Tensor x = from_blob(data, {2, 3}, [&](void* p) { released += p == data; });
    x.fill_(1);
    const Tensor row = x.select(0, 1);
    EXPECT_EQ(data[5], 1.0f);
  }
  EXPECT_EQ(released, 1);
  EXPECT_EQ(floats(from_blob(data, {2, 2}, {1, 3})), (std::vector<float>(4, 1.0f)));
  EXPECT_EQ(floats(from_blob(data, {3}, {2})), (std::vector<float>(3, 1.0f)));
  EXPECT_EQ(from_blob(data, {3}, {2}, kFloat).strides(), IntArrayRef({2}));
  EXPECT_EQ(from_blob(data, {3}, {}).strides(), IntArrayRef({1}));
  from_blob(data, {3}, {2}, [&](void*) { ++released; });
  EXPECT_EQ(released, 2);
  EXPECT_THROW(from_blob(nullptr, {2}), ValueError);
}

TEST(FromBlob, RefusesWhereElementsCannotLie) {
  alignas(16) char bytes[64] = {};
  EXPECT_THROW(from_blob(bytes + 4, {2}, kDouble), ValueError);
  EXPECT_THROW(from_blob(bytes + 4, {1}, kComplexDouble), ValueError);
  EXPECT_EQ(from_blob(bytes + 8, {1}, kComplexDouble).numel(), 1);  // as two doubles
  EXPECT_EQ(from_blob(bytes + 1, {0}, kDouble).numel(), 0);
  EXPECT_EQ(from_blob(bytes + 1, {2}, kByte).view(kChar).numel(), 2);
  EXPECT_THROW(from_blob(bytes + 1, {8}, kByte).view(kShort), ValueError);
}

}  // namespace
}  // namespace taeda
