// When a run stops, and which state stays.
#include "taeda/training/early_stopping.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "taeda/nn/nn.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"

namespace taeda {
namespace {

using ::testing::HasSubstr;
using training::BestCheckpoint;
using training::Better;
using training::EarlyStopping;

TEST(EarlyStopping, StopsAfterAsManyValuesWithoutABetterOne) {
  EarlyStopping stopping({.patience = 2});
  EXPECT_FALSE(stopping.update(1.0));
  EXPECT_FALSE(stopping.update(1.5));
  EXPECT_FALSE(stopping.update(0.5));
  EXPECT_TRUE(stopping.improved());
  EXPECT_FALSE(stopping.update(NAN));
  EXPECT_TRUE(stopping.update(0.5));
  EXPECT_EQ(stopping.best(), 0.5);
  EXPECT_EQ(stopping.best_index(), 2);
}

TEST(EarlyStopping, WhatCountsAsBetterIsSaid) {
  EarlyStopping stopping({.patience = 1, .min_delta = 0.1, .better = Better::Higher});
  EXPECT_FALSE(stopping.update(0.5));
  EXPECT_FALSE(stopping.update(0.7));
  EXPECT_TRUE(stopping.update(0.75));
}

TEST(EarlyStopping, GoesOnFromACheckpoint) {
  EarlyStopping stopping({.patience = 2}), other({.patience = 2});
  stopping.update(1);
  stopping.update(2);
  other.load_state_dict(stopping.state_dict());
  EXPECT_EQ(other.best(), 1.0);
  EXPECT_TRUE(other.update(2));
  EXPECT_THAT(error_of([&] { other.load_state_dict({}); }),
              HasSubstr("EarlyStopping: the state has no best"));
}

TEST(EarlyStopping, OptionsThatMakeNoSenseAreRefused) {
  EXPECT_THAT(error_of([] { EarlyStopping({.patience = 0}); }), HasSubstr("patience"));
  EXPECT_THAT(error_of([] { EarlyStopping({.min_delta = NAN}); }), HasSubstr("min_delta"));
}

TEST(BestCheckpoint, KeepsTheBestAlsoOverRuns) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/best.safetensors";
  nn::Linear net(2, 1);
  const auto fill = [&](double epoch) {
    return [&, epoch](io::Checkpoint& c) { c.put("model", net).set("epoch", epoch); };
  };
  {
    BestCheckpoint best(path);
    EXPECT_TRUE(best.update(2, fill(0)));
    EXPECT_TRUE(best.update(1, fill(1)));
    EXPECT_FALSE(best.update(1, fill(2)));
    EXPECT_FALSE(best.update(NAN, fill(3)));
  }
  BestCheckpoint again(path);
  EXPECT_EQ(again.best(), 1.0);
  EXPECT_FALSE(again.update(1.5, fill(4)));
  EXPECT_EQ(io::Checkpoint::load(path).number("epoch"), 1);
  EXPECT_THROW(again.update(0.5, [](io::Checkpoint&) { throw std::runtime_error("full"); }),
               std::runtime_error);
  EXPECT_EQ(again.best(), 1.0);
  EXPECT_EQ(io::Checkpoint::load(path).number("epoch"), 1);
}

}  // namespace
}  // namespace taeda
