// Initial values against PyTorch's from the same seed.
#include "taeda/nn/init.h"

#include <cmath>
#include <map>
#include <set>

#include "common.h"
#include "taeda/device/generator.h"
#include "taeda/nn/modules/conv.h"
#include "taeda/nn/modules/embedding.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/nn/modules/rnn.h"
#include "taeda/ops/create/create.h"
#include "tests/golden_table.h"

namespace taeda::nn {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using namespace testing_helpers;

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

/// Fills a matrix or the weights of a convolution.
using Fill = Tensor (*)(Tensor w, Tensor c);
const std::map<std::string, Fill> kFills = {
    {"uniform_(w, -1, 2)", [](Tensor w, Tensor) { return init::uniform_(w, -1, 2); }},
    {"normal_(w, 1.0, 0.1)", [](Tensor w, Tensor) { return init::normal_(w, 1, 0.1); }},
    {"trunc_normal_(w, 0.0, 1.0, -1.0, 1.5)",
     [](Tensor w, Tensor) { return init::trunc_normal_(w, 0, 1, -1, 1.5); }},
    {"trunc_normal_(w, 1.0, 0.5, 2.0, 4.0)",
     [](Tensor w, Tensor) { return init::trunc_normal_(w, 1, 0.5, 2, 4); }},
    {"constant_(w, 3)", [](Tensor w, Tensor) { return init::constant_(w, 3); }},
    {"ones_(w)", [](Tensor w, Tensor) { return init::ones_(w); }},
    {"zeros_(w)", [](Tensor w, Tensor) { return init::zeros_(w); }},
    {"eye_(w)", [](Tensor w, Tensor) { return init::eye_(w); }},
    {"dirac_(c)", [](Tensor, Tensor c) { return init::dirac_(c); }},
    {"dirac_(c, 2)", [](Tensor, Tensor c) { return init::dirac_(c, 2); }},
    {"xavier_uniform_(c, gain=2.0)", [](Tensor, Tensor c) { return init::xavier_uniform_(c, 2); }},
    {"xavier_normal_(w)", [](Tensor w, Tensor) { return init::xavier_normal_(w); }},
    {"kaiming_uniform_(c, a=1.0, mode='fan_out', nonlinearity='leaky_relu')",
     [](Tensor, Tensor c) { return init::kaiming_uniform_(c, 1, kFanOut, kLeakyReLU); }},
    {"kaiming_normal_(w, nonlinearity='relu')",
     [](Tensor w, Tensor) { return init::kaiming_normal_(w, 0, kFanIn, kReLU); }},
    {"orthogonal_(w, gain=2)", [](Tensor w, Tensor) { return init::orthogonal_(w, 2); }},
    {"orthogonal_(c)", [](Tensor, Tensor c) { return init::orthogonal_(c); }},
    {"sparse_(w, 0.4)", [](Tensor w, Tensor) { return init::sparse_(w, 0.4); }}};

/// As the table has a tensor: its sizes, and of many numbers the sum, that of absolute values, and
/// some of them.
std::vector<double> described(const Tensor& t) {
  std::vector<double> out(t.sizes().begin(), t.sizes().end());
  const std::vector<double> all = to_doubles(t);
  double sum = 0, absolute = 0;
  for (const double x : all) {
    sum += x;
    absolute += std::abs(x);
  }
  out.insert(out.end(), {sum, absolute});
  for (size_t i = 0; i < all.size(); i += all.size() / 10) out.push_back(all[i]);
  return out;
}

TEST(Init, FunctionsDrawAsPyTorch) {
  std::set<std::string> seen;
  for (const golden::Row& row : golden::rows_of("nn.json", "inits")) {
    manual_seed(3);
    EXPECT_THAT(described(kFills.at(row.text)(empty({4, 6}), empty({4, 3, 3}))),
                near(row.values, 2e-5))
        << row.text;
    seen.insert(row.text);
  }
  EXPECT_EQ(seen.size(), kFills.size());
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
