// Tensors of up to 64 dimensions.
#include <gtest/gtest.h>

#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/scan.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

/// 64 dimensions, of which `last` at the end have two elements.
DimVector in_twos(size_t last) {
  DimVector sizes(64 - last, 1);
  sizes.resize(64, 2);
  return sizes;
}

DimVector backwards() {
  DimVector out;
  for (int64_t d = 63; d >= 0; --d) out.push_back(d);
  return out;
}

TEST(ManyDims, OperationsTake64) {
  for (const char* device : {"cpu", "sim"}) {
    const Tensor x = arange(16, TensorOptions(kFloat).device(device)).view(in_twos(4));
    const Tensor y = x.permute(backwards());
    EXPECT_TRUE(y.contiguous().flatten().view({2, 2, 2, 2}).permute({3, 2, 1, 0}).flatten().equal(
        x.flatten()));
    EXPECT_TRUE(x.add(y).permute(backwards()).equal(y.add(x)));
    EXPECT_EQ(x.add(x).sum().item<float>(), 240);
    EXPECT_EQ(x.sum({63, 60}).numel(), 4);
    EXPECT_EQ(x.sum({63}, true).sum().item<float>(), 120);
    EXPECT_EQ(y.mean({0}).sum().item<float>(), 60);
    EXPECT_EQ(x.cumsum(63).sum().item<float>(), 176);
    EXPECT_FLOAT_EQ(x.softmax(63).sum().item<float>(), 8);
    EXPECT_EQ(x.flip({63}).flatten()[0].item<float>(), 1);
    EXPECT_EQ(cat({x, x}, 7).size(7), 2);
    EXPECT_EQ(x.to(kDouble).select(63, 1).dim(), 63);
  }
}

/// As a simulator of 24 qubits moves them: no two dimensions follow each other in memory.
TEST(ManyDims, CopiesWhatCannotBeJoined) {
  const Tensor x = zeros({int64_t{1} << 24}, kByte), y = x.view(in_twos(24));
  x[1].fill_(5);
  x[(int64_t{1} << 23) + 2].fill_(6);
  const Tensor back = y.permute(backwards()).contiguous().flatten();
  EXPECT_EQ(back[int64_t{1} << 23].item<int64_t>(), 5);
  EXPECT_EQ(back[(int64_t{1} << 22) + 1].item<int64_t>(), 6);
  EXPECT_EQ(back.sum().item<int64_t>(), 11);
  EXPECT_EQ(error_of([] { zeros({1 << 25}, kByte).view(in_twos(25)); }),
            "tensors of more than 24 dimensions that have not one element are not supported, got "
            "25");
}

TEST(ManyDims, ViewsOfMoreAreRefused) {
  Tensor x = zeros({2, 3}).t();
  EXPECT_EQ(error_of([&] {
              for (int i = 0; i < 100; ++i) x = x.unsqueeze(0);
            }),
            "tensors of more than 64 dimensions are not supported, got 65");
  EXPECT_EQ(x.dim(), 64);
  EXPECT_EQ(x.fill_(1).sum().item<float>(), 6);
}

}  // namespace
}  // namespace taeda
