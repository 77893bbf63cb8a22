// Two libraries in one program, one written for Taeda and one for libtorch: each prints, decays,
// shuffles and clones by the rules of the names that it uses. Numbers are PyTorch's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/frontend/two_libraries/said.h"

namespace {

using testing::ElementsAre;
using Order = std::vector<int64_t>;
using testing::StartsWith;

const std::string kTaedasLayer =
    "Sequential(\n  (0): Linear(in_features=2, out_features=3, bias=True)\n)";

void expect_taedas(const Said& said) {
  EXPECT_EQ(said.name, "Net");
  EXPECT_EQ(said.text, "Net(\n  (fc): Linear(in_features=2, out_features=3, bias=True)\n)");
  EXPECT_EQ(said.text_of_clone, kTaedasLayer);
  EXPECT_THAT(said.rates, ElementsAre(1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25));
  EXPECT_THAT(said.orders,
              ElementsAre(Order{7, 0, 3, 1, 6, 2, 5, 4}, Order{1, 0, 7, 3, 4, 6, 5, 2}));
  EXPECT_FLOAT_EQ(said.after_clone, 0.8512683510780334f) << "a clone draws nothing";
  EXPECT_THAT(said.error, StartsWith("badness\nwhile reading index 1\nwhile reading batch 1"));
  EXPECT_EQ(said.shared, kTaedasLayer);
}

void expect_libtorchs(const Said& said) {
  EXPECT_EQ(said.name, "theirs::NetImpl");
  EXPECT_EQ(said.text,
            "theirs::NetImpl(\n"
            "  (fc): torch::nn::Linear(in_features=2, out_features=3, bias=true)\n)");
  EXPECT_EQ(said.text_of_clone,
            "torch::nn::Sequential(\n"
            "  (0): torch::nn::Linear(in_features=2, out_features=3, bias=true)\n)");
  EXPECT_THAT(said.rates, ElementsAre(1, 1, 1, 1, 0.5, 0.5, 0.5, 0.25)) << "one step later";
  EXPECT_THAT(said.orders,
              ElementsAre(Order{7, 4, 0, 6, 2, 1, 5, 3}, Order{6, 2, 1, 5, 7, 3, 0, 4}));
  EXPECT_FLOAT_EQ(said.after_clone, 0.9699196219444275f) << "behind the initial values of two";
  EXPECT_EQ(said.error, "badness");
  EXPECT_EQ(said.shared, kTaedasLayer);
}

TEST(TwoLibraries, BothBehave) {
  expect_taedas(written_for_taeda());
  expect_libtorchs(written_for_libtorch());
  expect_taedas(written_for_taeda());
  expect_libtorchs(written_for_libtorch());
}

}  // namespace
