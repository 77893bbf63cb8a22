// Initial values against PyTorch's from the same seed.
#include "taeda/nn/init.h"

#include <cmath>

#include "common.h"
#include "taeda/device/generator.h"
#include "taeda/nn/modules/conv.h"
#include "taeda/nn/modules/embedding.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/nn/modules/rnn.h"
#include "taeda/ops/create/create.h"

namespace taeda::nn {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using namespace testing_helpers;

template <class Make>
void expect_values(const char* name, Make make, double tolerance = 1e-6) {
  manual_seed(0);
  EXPECT_THAT(to_doubles(make()), near(golden_values.at(name), tolerance)) << name;
}

template <class Make>
void expect_state(const char* name, Make make) {
  manual_seed(0);
  EXPECT_THAT(state_values(*make()), near(golden_values.at(name), 1e-6)) << name;
}

TEST(Init, ModulesDrawAsPyTorch) {
  expect_state("linear", [] { return Linear(4, 3); });
  expect_state("bilinear", [] { return Bilinear(2, 3, 2); });
  expect_state("conv1d", [] { return Conv1d(2, 3, 2); });
  expect_state("conv2d", [] { return Conv2d(2, 2, 3); });
  expect_state("conv_transpose2d", [] { return ConvTranspose2d(2, 3, 2); });
  expect_state("embedding", [] {
    return Embedding({.num_embeddings = 5, .embedding_dim = 4, .padding_idx = 1});
  });
  expect_state("lstm", [] { return LSTM(2, 3); });
}

TEST(Init, FunctionsDrawAsPyTorch) {
  expect_values("xavier_uniform", [] { return init::xavier_uniform_(empty({3, 5}), 2); });
  expect_values("xavier_normal", [] { return init::xavier_normal_(empty({3, 5})); });
  expect_values("kaiming_uniform", [] {
    return init::kaiming_uniform_(empty({3, 5}), 0, kFanIn, kReLU);
  });
  expect_values("kaiming_normal", [] {
    return init::kaiming_normal_(empty({4, 2, 3}), 0.1, kFanOut);
  });
  expect_values(
      "orthogonal_tall",
      [] {
        return init::orthogonal_(empty({5, 3}));
      },
      2e-6);
  expect_values(
      "orthogonal_wide",
      [] {
        return init::orthogonal_(empty({3, 2, 4}), 1.5);
      },
      2e-6);
  expect_values("trunc_normal", [] { return init::trunc_normal_(empty({4, 5}), 0, 0.7, -1, 0.5); });
  expect_values("trunc_normal_tail", [] {
    return init::trunc_normal_(empty({4, 5}), 1, 0.5, 2, 4);
  });
  expect_values("dirac", [] { return init::dirac_(empty({4, 2, 3}), 2); });
  expect_values("eye", [] { return init::eye_(empty({2, 3})); });
}

/// The numbers of libtorch.
TEST(Init, SparseDrawsAsPyTorch) {
  manual_seed(7);
  EXPECT_THAT(to_doubles(init::sparse_(empty({4, 3}), 0.3).mul(100)),
              near({0, 0.7861, 0.9468, -1.1143, 0, -0.8948, -0.3556, 1.2324, 0, 0, 0, 0}, 5e-5));
}

TEST(Init, FillsParametersWithoutRecording) {
  Tensor p = empty({2, 2}, requires_grad());
  init::constant_(p, 3);
  EXPECT_TRUE(p.is_leaf());
  EXPECT_THAT(to_doubles(p), testing::Each(3));
  init::ones_(p);
  EXPECT_THAT(to_doubles(p), testing::Each(1));
  {
    init::SkipInitGuard skip;
    EXPECT_TRUE(init::SkipInitGuard::is_active());
    init::zeros_(p);
  }
  EXPECT_THAT(to_doubles(p), testing::Each(1));
  init::zeros_(p);
  EXPECT_THAT(to_doubles(p), testing::Each(0));
}

TEST(Init, Gains) {
  EXPECT_EQ(init::calculate_gain(kLinear), 1);
  EXPECT_EQ(init::calculate_gain(kConv2D), 1);
  EXPECT_EQ(init::calculate_gain(kSigmoid), 1);
  EXPECT_DOUBLE_EQ(init::calculate_gain(kTanh), 5.0 / 3);
  EXPECT_DOUBLE_EQ(init::calculate_gain(kReLU), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(init::calculate_gain(kLeakyReLU, 0.2), std::sqrt(2 / 1.04));
  EXPECT_DOUBLE_EQ(init::calculate_gain(kSELU), 0.75);
}

TEST(Init, Errors) {
  EXPECT_THAT([] { init::calculate_gain(kGELU); },
              ThrowsMessage<ValueError>("Unsupported nonlinearity gelu"));
  EXPECT_THAT(
      [] { init::xavier_uniform_(empty({3})); },
      ThrowsMessage<ValueError>(
          "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"));
  EXPECT_THAT(
      [] {
        init::sparse_(empty({3, 3}), 2);
      },
      ThrowsMessage<ValueError>("sparse_: expected a part between 0 and 1, but got 2"));
  EXPECT_THAT([] { init::eye_(empty({3})); },
              ThrowsMessage<ValueError>("Only tensors with 2 dimensions are supported"));
  EXPECT_THAT(
      [] {
        init::dirac_(empty({3, 3}));
      },
      ThrowsMessage<ValueError>("Only tensors with 3, 4, or 5 dimensions are supported"));
  EXPECT_THAT(
      [] {
        init::dirac_(empty({3, 3, 3}), 2);
      },
      ThrowsMessage<ValueError>("dim 0 must be divisible by groups"));
  EXPECT_THAT([] { init::orthogonal_(empty({3})); },
              ThrowsMessage<ValueError>("Only tensors with 2 or more dimensions are supported"));
}

}  // namespace
}  // namespace taeda::nn
