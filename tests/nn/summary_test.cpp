#include "taeda/nn/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "taeda/taeda.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using ::testing::HasSubstr;

struct TwiceImpl : nn::Module {
  TwiceImpl() {
    layer = register_module("layer", nn::Linear(4, 4));
    idle = register_module("idle", nn::Linear(4, 3));
    layer->weight.requires_grad_(false);
  }
  Tensor forward(const Tensor& x, const Tensor& bias) { return layer(layer(x)) + bias; }
  nn::Linear layer{nullptr}, idle{nullptr};
};
TAEDA_MODULE(Twice);

TEST(Summary, TellsSizesCallsAndParameters) {
  Twice model;
  const nn::ModelSummary s = nn::summary(model, ones({5, 4}), ones({4}));
  ASSERT_EQ(s.layers.size(), 3u);
  EXPECT_EQ(s.layers[0].type, "Twice");
  EXPECT_EQ(s.layers[0].parameters, 0);
  EXPECT_EQ(s.layers[1].path, "layer");
  EXPECT_EQ(s.layers[1].calls, 2);
  EXPECT_EQ(s.layers[1].output_size, (DimVector{5, 4}));
  EXPECT_EQ(s.layers[1].parameters, 20);
  EXPECT_EQ(s.layers[1].trainable_parameters, 4);
  EXPECT_EQ(s.layers[2].calls, 0);
  EXPECT_EQ(s.total_parameters, 35);
  EXPECT_EQ(s.trainable_parameters, 19);
  EXPECT_EQ(s.input_bytes, 4 * 24);
  EXPECT_EQ(s.activation_bytes, 2 * 4 * 20);
  EXPECT_EQ(s.parameter_bytes, 4 * 35);
  EXPECT_THAT(s.str(), HasSubstr("[5, 4] x2"));
  EXPECT_THAT(s.str(), HasSubstr("not called"));
}

TEST(Summary, LeavesTheModelAsItWas) {
  nn::Sequential model(nn::Conv2d(3, 8, 3), nn::BatchNorm2d(8), nn::Dropout(0.5));
  model->children()[2]->eval();
  const Tensor mean = model->buffers()[0].clone();
  const nn::ModelSummary s = nn::summary(model, {2, 3, 8, 8});
  EXPECT_EQ(s.layers[1].output_size, (DimVector{2, 8, 6, 6}));
  EXPECT_EQ(s.total_parameters, 3 * 8 * 9 + 8 + 16);
  EXPECT_TRUE(model->is_training());
  EXPECT_TRUE(model->children()[1]->is_training());
  EXPECT_FALSE(model->children()[2]->is_training());
  EXPECT_TRUE(equal(model->buffers()[0], mean));
  EXPECT_EQ(nn::summary(model, {2, 3, 8, 8}).layers[1].calls, 1);
}

TEST(Summary, LeavesTheModelAsItWasWhenForwardThrows) {
  nn::Sequential model(nn::Linear(3, 2), nn::Linear(3, 2));
  EXPECT_THAT(error_of([&] { nn::summary(model, {5, 3}); }), HasSubstr("in module 1"));
  EXPECT_TRUE(model->children()[0]->is_training());
  EXPECT_TRUE(!model->children()[0]->hooks() || model->children()[0]->hooks()->post.empty());
}

TEST(Summary, CountsSharedModulesOnce) {
  nn::Linear layer(4, 4);
  nn::Sequential model(layer, nn::ReLU(), layer);
  const nn::ModelSummary s = nn::summary(model, {1, 4});
  EXPECT_EQ(s.total_parameters, 20);
  EXPECT_EQ(s.layers[1].calls, 2);
}

TEST(Summary, FitsInEightyColumns) {
  nn::Sequential inner(nn::Linear(4, 4), nn::ReLU());
  nn::Sequential model;
  model->push_back("a_module_with_a_name_that_is_much_longer_than_any_table_should_be_wide", inner);
  std::istringstream lines((std::ostringstream() << nn::summary(model, {1, 4})).str());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

}  // namespace
}  // namespace taeda
