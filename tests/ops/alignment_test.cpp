// Alignment, pooling at random places, sampling and selection at PyTorch's numbers
// (tests/golden/alignment.py), and their errors.
#include <gtest/gtest.h>

#include "taeda/autograd/engine.h"
#include "taeda/nn/functional/vision.h"
#include "taeda/nn/modules/ctc.h"
#include "taeda/nn/modules/fractional_pooling.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/create/sequences.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/index/scatter.h"
#include "taeda/ops/linalg/linalg_tensors.h"
#include "taeda/ops/nn/ctc_loss.h"
#include "taeda/ops/nn/fractional_pool.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/selection.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda::testing {
namespace {

Tensor wave(int64_t n, double step, IntArrayRef sizes) {
  return arange(n, kDouble).mul(step).cos().view(sizes);
}

void expect_doubles(const Tensor& got, const std::vector<double>& want) {
  expect_same(got.reshape({-1}), tensor(want, kDouble), 1e-12);
}

class CtcLoss : public ::testing::Test {
 protected:
  Tensor x = arange(30, kDouble).mul(0.7).sin().view({5, 2, 3}).requires_grad_();
  Tensor log_probs = x.log_softmax(2), targets = tensor({{1, 2}, {2, 2}});
};

TEST_F(CtcLoss, IsPyTorchs) {
  expect_doubles(ctc_loss(log_probs, targets, {5, 4}, {2, 1}, 0, Reduction::None).detach(),
                 {2.087042549716332, 1.7011989820058084});
  const Tensor lengths = tensor({5, 4}), labels = tensor({2, 1}, kInt);
  nn::CTCLoss loss;
  const Tensor mean = loss(log_probs, tensor({1, 2, 2}), lengths, labels);
  EXPECT_NEAR(mean.item<double>(), 1.3723601284319873, 1e-12);
  mean.backward();
  expect_doubles(x.grad()[3], {0.0004655277137609112, 0.05946796179904449, -0.0599334895128054,
                               -0.14687304925429598, 0.15506194201313533, -0.008188892758839363});
  const Tensor alone =
      ctc_loss(log_probs.select(1, 0), tensor({1, 2}), {5}, {2}, 0, Reduction::Sum);
  EXPECT_NEAR(alone.item<double>(), 2.087042549716332, 1e-12);
}

TEST_F(CtcLoss, OfWhatCannotBeAlignedIsInfiniteOrNothing) {
  const Tensor steps = tensor({1, 0}), labels = tensor({2, 0});
  const auto loss = [&](bool zero) {
    return ctc_loss(log_probs, targets, steps, labels, 0, Reduction::None, zero);
  };
  EXPECT_TRUE(std::isinf(loss(false)[0].item<double>()));
  EXPECT_EQ(loss(false)[1].item<double>(), 0);
  EXPECT_EQ(loss(true)[0].item<double>(), 0);
  loss(true).sum().backward();
  EXPECT_TRUE(x.grad().eq(0).all().item<bool>());
}

TEST_F(CtcLoss, RefusesWhatDoesNotFit) {
  const std::string where = " (while checking arguments for ctc_loss_allocate_outputs)";
  const auto error = [&](IntArrayRef steps, IntArrayRef labels, int64_t blank = 0) {
    return error_of([&] { ctc_loss(log_probs, targets, steps, labels, blank); });
  };
  EXPECT_EQ(error({5}, {2, 1}), "input_lengths must be of size batch_size");
  EXPECT_EQ(error({5, 5}, {2}), "target_lengths must be of size batch_size");
  EXPECT_EQ(error({5, 5}, {2, 1}, 3), "blank must be in label range");
  EXPECT_EQ(error({5, 6}, {2, 1}),
            "Expected input_lengths to have value at most 5, but got value 6" + where);
  EXPECT_EQ(
      error({5, 5}, {3, 1}),
      "Expected tensor to have size at least 3 at dimension 1, but got size 2 for argument #2 "
      "'targets'" +
          where);
  EXPECT_EQ(error_of([&] {
              ctc_loss(log_probs, targets, tensor({5.0, 5.0}), tensor({2, 1}));
            }),
            "input_lengths must be integral");
}

TEST(FractionalPooling, IsPyTorchs) {
  const Tensor image = wave(42, 1.3, {1, 1, 6, 7}), volume = wave(120, 1.3, {1, 1, 4, 5, 6});
  auto [values, indices] =
      fractional_max_pool2d(image, {2, 3}, {3, 4}, tensor({0.3, 0.8}, kDouble).view({1, 1, 2}));
  EXPECT_EQ(longs(indices.flatten()),
            (std::vector<int64_t>{0, 10, 5, 5, 14, 24, 24, 19, 29, 29, 39, 34}));
  expect_same(values.flatten(), image.flatten().index_select(0, indices.flatten()));
  std::tie(values, indices) =
      fractional_max_pool3d(volume, 2, 2, tensor({0.3, 0.8, 0.1}, kDouble).view({1, 1, 3}));
  EXPECT_EQ(longs(indices.flatten()), (std::vector<int64_t>{0, 5, 24, 29, 97, 101, 78, 82}));
}

TEST(FractionalPooling, ModulesTakeSizesOrRatios) {
  const Tensor image = wave(84, 1.3, {2, 6, 7});
  nn::FractionalMaxPool2d half({.kernel_size = 2, .output_ratio = std::vector{0.5}});
  EXPECT_EQ(shape(half(image)), (std::vector<int64_t>{2, 3, 3}));
  const auto [values, indices] = half->forward_with_indices(image);
  expect_same(values.flatten(1), image.flatten(1).gather(1, indices.flatten(1)));
  EXPECT_EQ(error_of([] { nn::FractionalMaxPool2d(2); }),
            "FractionalMaxPool2d requires specifying either an output size, or a pooling ratio");
  EXPECT_EQ(error_of([] {
              nn::FractionalMaxPool3d({.kernel_size = 2, .output_ratio = std::vector{1.5}});
            }),
            "output_ratio must be between 0 and 1 (got 1.5)");
  EXPECT_EQ(error_of([&] {
              nn::functional::fractional_max_pool2d(
                  image, {.kernel_size = 2, .output_size = nn::ExpandingArray<2>({6, 3})});
            }),
            "fractional_max_pool2d(): pool height 2 too large relative to input height 6");
}

TEST(GridSample, BicubicIsPyTorchs) {
  const Tensor image = wave(42, 1.3, {1, 1, 6, 7});
  const Tensor grid = arange(12, kDouble).mul(2.1).sin().mul(1.2).view({1, 2, 3, 2});
  const auto sample = [&](PaddingMode padding, bool corners) {
    return nn::functional::grid_sample(
        image, grid, {.mode = kBicubic, .padding_mode = padding, .align_corners = corners});
  };
  expect_doubles(sample(kZeros, false),
                 {0.3517626742883008, 0.04682698654508919, -0.011845176444356486,
                  0.5008041630981188, -0.022579542562167307, -0.012080011235110084});
  expect_doubles(sample(kBorder, true),
                 {0.732152812609775, 0.12880494955852534, 0.0356852447998457, 0.8135880502499416,
                  -0.061522750445897, 0.08374091662452718});
  expect_doubles(sample(kReflection, false),
                 {0.917513897904808, 0.14225517085161085, -0.08970837749379537, 1.1094980775096563,
                  -0.0960117404351478, -0.09877971538925179});
}

TEST(Selection, UniqueSlices) {
  const Tensor t = tensor({{1, 2, 1, 0}, {3, 0, 3, 0}, {1, 2, 1, 0}});
  auto [rows, inverse, counts] = unique_dim(t, 0, true, true, true);
  EXPECT_EQ(longs(rows.flatten()), (std::vector<int64_t>{1, 2, 1, 0, 3, 0, 3, 0}));
  EXPECT_EQ(longs(inverse), (std::vector<int64_t>{0, 1, 0}));
  EXPECT_EQ(longs(counts), (std::vector<int64_t>{2, 1}));
  std::tie(rows, inverse, counts) = unique_dim(t, 1, true, true, true);
  EXPECT_EQ(longs(rows.flatten()), (std::vector<int64_t>{0, 1, 2, 0, 3, 0, 0, 1, 2}));
  EXPECT_EQ(longs(inverse), (std::vector<int64_t>{1, 2, 1, 0}));
  std::tie(rows, inverse, counts) = unique_dim_consecutive(t, 0, false, true);
  EXPECT_TRUE(rows.equal(t));
  EXPECT_EQ(inverse.numel(), 0);
  EXPECT_EQ(longs(counts), (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(error_of([] {
              unique_dim(zeros({2, 0}), 0);
            }),
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
}

TEST(Selection, HistogramsOfRangesAndDensities) {
  const Tensor x = tensor({1.0, 2.0, 1.0, 5.0}), weight = tensor({1.0, 2.0, 4.0, 0.0});
  const double range[] = {0, 3};
  const auto [hist, edges] = histogram(x, 4, ArrayRef<double>(range, 2), weight, true);
  expect_same(hist, tensor({0.0, 0.952381, 0.380952, 0.0}), 1e-6);
  expect_same(edges, tensor({0.0, 0.75, 1.5, 2.25, 3.0}));
  expect_same(std::get<0>(histogram(full({3}, 2.0), 2)), tensor({0.0, 3.0}));
}

TEST(Sequences, RefuseWhatDoesNotFit) {
  EXPECT_EQ(error_of([] { range(0, 3, 0); }), "step must be nonzero");
  EXPECT_EQ(error_of([] { range(0, 3, -1); }),
            "upper bound and lower bound inconsistent with step sign");
  EXPECT_EQ(error_of([] { gradient(zeros({2}), OptionalScalar(), {}, 2); }),
            "torch.gradient expected each dimension size to be at least edge_order+1");
  EXPECT_EQ(error_of([] { gradient(zeros({4}), OptionalScalar(), {}, 3); }),
            "torch.gradient only supports edge_order=1 and edge_order=2.");
  EXPECT_EQ(error_of([] { index_reduce(zeros({3}), 0, tensor({0}), ones({1}), "sum"); }),
            "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got sum.");
}

}  // namespace
}  // namespace taeda::testing
