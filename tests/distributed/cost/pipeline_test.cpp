// Pipelines of equal stages, for which bubbles and memory are known; and what may go wrong.
#include "taeda/distributed/cost/pipeline.h"

#include <gmock/gmock.h>

#include <set>

#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"

namespace taeda {
namespace {

using namespace distributed::cost;
using testing::HasSubstr;

/// A forward takes a second, a backward two, and keeps a byte.
PipelineRun equal_parts(size_t stages, size_t micro_batches, Schedule schedule, size_t parts = 1,
                        double send = 0) {
  const std::vector<PartCost> costs(stages * parts, PartCost{1, 2, 1});
  return run_pipeline(costs, stages, micro_batches, schedule, [send](size_t) { return send; });
}

TEST(PlanPipeline, BubblesAreThoseOfTheFormula) {
  for (const size_t stages : {1, 2, 4, 8})
    for (const size_t micro_batches : {1, 3, 8, 32}) {
      const auto p = static_cast<double>(stages), m = static_cast<double>(micro_batches);
      for (const Schedule s : {Schedule::GPipe, Schedule::OneForwardOneBackward}) {
        const PipelineRun run = equal_parts(stages, micro_batches, s);
        EXPECT_NEAR(run.bubble(), (p - 1) / (m + p - 1), 1e-12) << p << " " << m;
        EXPECT_NEAR(run.seconds, 3 * (m + p - 1), 1e-9);
      }
    }
}

TEST(PlanPipeline, InterleavingDividesTheBubbleByTheParts) {
  for (const size_t stages : {2, 4, 8})
    for (const size_t rounds : {1, 2, 4})
      for (const size_t parts : {2, 3}) {
        const auto p = static_cast<double>(stages), v = static_cast<double>(parts);
        const double m = p * static_cast<double>(rounds);
        const PipelineRun run = equal_parts(stages, stages * rounds, Schedule::Interleaved, parts);
        EXPECT_NEAR(run.bubble(), (p - 1) / (v * m + p - 1), 1e-12) << p << " " << m << " " << v;
      }
}

TEST(PlanPipeline, OneForwardOneBackwardKeepsAsManyAsThereAreStages) {
  using testing::ElementsAre;
  EXPECT_THAT(equal_parts(4, 16, Schedule::GPipe).kept_bytes, ElementsAre(16, 16, 16, 16));
  EXPECT_THAT(equal_parts(4, 16, Schedule::OneForwardOneBackward).kept_bytes,
              ElementsAre(4, 3, 2, 1));
}

TEST(PlanPipeline, MessagesDelayWhoWaitsForThem) {
  // Two stages, one micro-batch: there and back, once each.
  EXPECT_DOUBLE_EQ(equal_parts(2, 1, Schedule::GPipe, 1, 0.5).seconds, 6 + 2 * 0.5);
  // The slowest stage sets the pace.
  const std::vector<PartCost> costs = {{1, 2, 0}, {2, 4, 0}};
  EXPECT_DOUBLE_EQ(
      run_pipeline(costs, 2, 10, Schedule::OneForwardOneBackward, [](size_t) { return 0.0; })
          .seconds,
      1 + 10 * 6 + 2);
}

TEST(PlanPipeline, EveryScheduleDoesAllWorkOnce) {
  for (const Schedule s : {Schedule::GPipe, Schedule::OneForwardOneBackward, Schedule::Interleaved})
    for (size_t stage = 0; stage < 4; ++stage) {
      const size_t parts = s == Schedule::Interleaved ? 3 : 1;
      std::set<std::tuple<bool, size_t, size_t>> seen;
      for (const PipelineAction& a : pipeline_actions(s, stage, 4, 8, parts)) {
        EXPECT_EQ(a.stage % 4, stage);
        EXPECT_TRUE(seen.emplace(a.backward, a.micro_batch, a.stage).second);
        if (a.backward) {
          EXPECT_TRUE(seen.contains({false, a.micro_batch, a.stage}));
        }
      }
      EXPECT_EQ(seen.size(), 2 * 8 * parts);
    }
}

/// A measured step of `parts` equal parts, with a gradient in the middle of each backward.
MeasuredStep equal_step(size_t parts) {
  MeasuredStep step;
  const auto n = static_cast<double>(parts);
  step.forward_end = n;
  step.backward_end = 3 * n;
  step.end = 3 * n + n;
  for (size_t i = 0; i < parts; ++i) {
    const double begin = n + 2 * (n - 1 - static_cast<double>(i));
    step.parts.push_back({1, 2, begin, i == 0 ? 0 : 100, 10, 4000});
    step.gradients.insert(step.gradients.begin(), {zeros({1000}), i, begin + 1});
  }
  step.gradient_bytes = step.parameter_bytes = static_cast<int64_t>(parts) * 4000;
  return step;
}

const Network kFree{"free", {0, 1e30}, {0, 1e30}, 8, 8, 0};

TEST(PlanPipeline, AStepEndsWithTheOptimizerOfEachStage) {
  const PipelineStep s = pipeline_step(equal_step(4), 4, kFree, {.stages = 4, .micro_batches = 5});
  EXPECT_NEAR(s.seconds, 3 * (5 + 4 - 1) + 1, 1e-6);
  EXPECT_NEAR(s.bubble, 3. / 8, 1e-6);
  EXPECT_NEAR(s.one_device, 5 * 12 + 4, 1e-6);
  EXPECT_NEAR(s.largest_part, 1, 1e-9);
  EXPECT_EQ(s.exposed, 0);
  EXPECT_EQ(s.bytes, 5 * 200);  // a stage in the middle sends both ways
  EXPECT_EQ(s.memory, 2 * 4000 + 4 * 10);
}

TEST(PlanPipeline, GradientsAreReducedBesideTheLastBackward) {
  // Replicas of a stage are neighbours on one node; 4000 bytes take three seconds.
  Network n = kFree;
  n.local.bandwidth = 4000. / 3;
  const PipelineStep s = pipeline_step(equal_step(4), 8, n, {.stages = 4, .micro_batches = 5});
  // The first stage is the last to be done; its gradient is there a second earlier.
  EXPECT_NEAR(s.exposed, 2, 0.4);
  EXPECT_NEAR(s.bytes, 5 * 200 + 4000, 1e-9);
}

TEST(PlanPipeline, ErrorsNameWhatDoesNotFit) {
  const auto message = [](int64_t devices, const PipelineOptions& options) -> std::string {
    try {
      pipeline_step(equal_step(4), devices, kFree, options);
    } catch (const ValueError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(message(8, {.stages = 8}), HasSubstr("needs 8 parts, but the model can be cut into "
                                                   "no more than 4"));
  EXPECT_THAT(message(6, {.stages = 4}), HasSubstr("4 stages do not fit on 6 devices"));
  EXPECT_THAT(message(2, {.stages = 2, .micro_batches = 2, .schedule = Schedule::Interleaved}),
              HasSubstr("needs several parts on each device, got 1"));
  EXPECT_THAT(message(2, {.stages = 2,
                          .micro_batches = 5,
                          .schedule = Schedule::Interleaved,
                          .parts_per_stage = 2}),
              HasSubstr("a multiple of the number of rounds (2), but got 5"));
  EXPECT_THROW(schedule_of_name("zero-bubble"), ValueError);
  EXPECT_THROW(equal_parts(2, 0, Schedule::GPipe), ValueError);
}

}  // namespace
}  // namespace taeda
