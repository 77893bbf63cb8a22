// Clipping of gradients and flattening of parameters.
#include "taeda/nn/utils.h"

#include <cmath>
#include <limits>

#include "common.h"
#include "taeda/base/parallel_for.h"
#include "taeda/device/registry.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::nn {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using namespace testing_helpers;

/// A parameter whose gradient is scale * (1, -2, 3, -4, ...).
Tensor with_gradient(IntArrayRef sizes, double scale, ScalarType dtype = kFloat) {
  Tensor p = zeros(sizes, dtype);
  p.requires_grad_();
  Tensor g = empty(sizes, kDouble);
  for (int64_t i = 0; i < g.numel(); ++i)
    g.data_ptr<double>()[i] = scale * static_cast<double>(i % 2 ? -(i + 1) : i + 1);
  p.mutable_grad() = g.to(dtype);
  return p;
}

TEST(ClipGradNorm, ScalesToTheLargestNorm) {
  const std::vector<Tensor> params = {with_gradient({2}, 1), with_gradient({2}, 2, kDouble),
                                      zeros({1}, requires_grad())};
  // 1 + 4 + 4 + 16 = 25
  EXPECT_NEAR(utils::clip_grad_norm_(params, 1.0), 5, 1e-6);
  EXPECT_THAT(to_doubles(params[0].grad()), near({0.2, -0.4}, 1e-6));
  EXPECT_THAT(to_doubles(params[1].grad()), near({0.4, -0.8}, 1e-6));
  EXPECT_NEAR(utils::clip_grad_norm_(params, 10.0), 1, 1e-6);
  EXPECT_THAT(to_doubles(params[0].grad()), near({0.2, -0.4}, 1e-6));
}

TEST(ClipGradNorm, OtherNorms) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  EXPECT_NEAR(utils::clip_grad_norm_(with_gradient({4}, 1), 100, 1), 10, 1e-6);
  EXPECT_NEAR(utils::clip_grad_norm_(with_gradient({9}, 1), 100, inf), 9, 1e-6);
  EXPECT_NEAR(utils::clip_grad_norm_(with_gradient({3}, 1), 100, 3), std::cbrt(36.0), 1e-6);
  const std::vector<Tensor> mixed = {with_gradient({3}, 1), with_gradient({4}, 1, kDouble)};
  EXPECT_NEAR(utils::clip_grad_norm_(mixed, 100, inf), 4, 1e-6);
  EXPECT_EQ(utils::clip_grad_norm_(zeros({2}, requires_grad()), 1), 0);
}

TEST(ClipGradNorm, OfOrdersFromZeroDown) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const std::vector<Tensor> params = {with_gradient({3}, 2), with_gradient({2}, 1, kDouble)};
  EXPECT_EQ(utils::clip_grad_norm_(params, 1e9, -inf), 1);  // the least
  EXPECT_EQ(utils::clip_grad_norm_(params, 1e9, 0), 2);     // of tensors that are not 0
  EXPECT_NEAR(utils::clip_grad_norm_(params, 1e9, -1), 1 / (1 / 2. + 1 / 4. + 1 / 6. + 1 + 1 / 2.),
              1e-6);
}

TEST(ClipGradNorm, OfComplexGradients) {
  const Tensor p = zeros({2}, kComplexFloat).requires_grad_();
  p.mutable_grad() = view_as_complex(full({2, 2}, 3.0));
  EXPECT_NEAR(utils::clip_grad_norm_(p, 1e9, 1), 2 * std::sqrt(18.0), 1e-5);
  EXPECT_NEAR(utils::clip_grad_norm_(p, 3), 6, 1e-5);
  EXPECT_THAT(to_doubles(view_as_real(p.grad())), near({1.5, 1.5, 1.5, 1.5}, 1e-5));
  EXPECT_THROW(utils::clip_grad_value_(p, 1), NotImplementedError);
}

TEST(ClipGradNorm, OnADevice) {
  if (device_count(kSim) == 0) GTEST_SKIP() << "no simulated device";
  const Tensor p = full({2}, 1.0).to(kSim).requires_grad_(), q = with_gradient({1}, 4);
  p.mutable_grad() = tensor({3.0f, 0.0f}).to(kSim);
  EXPECT_NEAR(utils::clip_grad_norm_({p, q}, 1), 5, 1e-6);
  EXPECT_THAT(to_doubles(p.grad().cpu()), near({0.6, 0}, 1e-5));
  EXPECT_THAT(to_doubles(q.grad()), near({0.8}, 1e-5));
  EXPECT_NEAR(utils::clip_grad_norm_({p, q}, 2), 1, 1e-5);
  EXPECT_THAT(to_doubles(p.grad().cpu()), near({0.6, 0}, 1e-5));
}

TEST(ClipGradNorm, DoesNotDependOnThreads) {
  const Tensor p = with_gradient({300007}, 1e-3);
  const int before = get_num_threads();
  set_num_threads(1);
  const double one = utils::clip_grad_norm_(p, 1e30);
  set_num_threads(2);
  EXPECT_EQ(utils::clip_grad_norm_(p, 1e30), one);
  set_num_threads(before);
}

TEST(ClipGradNorm, NonFiniteNorms) {
  const Tensor p = with_gradient({2}, 1);
  p.grad().data_ptr<float>()[0] = std::numeric_limits<float>::infinity();
  EXPECT_THAT([&] { utils::clip_grad_norm_(p, 1, 2, /*error_if_nonfinite=*/true); },
              ThrowsMessage<Error>(HasSubstr(
                  "The total norm of order 2 for gradients from `parameters` is non-finite")));
  EXPECT_TRUE(std::isinf(utils::clip_grad_norm_(p, 1)));
  p.grad().data_ptr<float>()[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(utils::clip_grad_norm_(p, 1)));
}

TEST(ClipGradNorm, GradientsWithGapsAreClippedToo) {
  const Tensor p = zeros({2}, requires_grad());
  Tensor wide = full({4}, 3.0);
  p.mutable_grad() = make_view(wide, Layout{{2}, {2}, 0});
  EXPECT_NEAR(utils::clip_grad_norm_(p, 1), std::sqrt(18.0), 1e-5);
  EXPECT_THAT(to_doubles(p.grad()), near({std::sqrt(0.5), std::sqrt(0.5)}, 1e-5));
}

TEST(ClipGradValue, Clamps) {
  const Tensor p = with_gradient({4}, 1);
  const int64_t version = p.grad()._version();
  utils::clip_grad_value_(p, 2.5);
  EXPECT_THAT(to_doubles(p.grad()), near({1, -2, 2.5, -2.5}, 0));
  EXPECT_GT(p.grad()._version(), version);
}

TEST(ParameterVector, RoundTrip) {
  const std::vector<Tensor> params = {full({2, 2}, 1.0), full({3}, 2.0)};
  const Tensor flat = utils::parameters_to_vector(params);
  EXPECT_THAT(to_doubles(flat), near({1, 1, 1, 1, 2, 2, 2}, 0));
  const std::vector<Tensor> others = {zeros({2, 2}, requires_grad()), zeros({3}, kDouble)};
  utils::vector_to_parameters(flat, others);
  EXPECT_THAT(to_doubles(others[1]), testing::Each(2));
  EXPECT_EQ(others[1].dtype(), kDouble);
  EXPECT_THAT([&] { utils::vector_to_parameters(flat, {params[0]}); },
              ThrowsMessage<Error>(
                  HasSubstr("expected a vector of 4 elements, but got a tensor of shape [7]")));
}

}  // namespace
}  // namespace taeda::nn
