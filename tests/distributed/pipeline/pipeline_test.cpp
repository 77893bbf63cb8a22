// Pipelines over ranks against one process with the whole model.
#include <gmock/gmock.h>

#include <memory>
#include <mutex>

#include "taeda/device/registry.h"
#include "taeda/distributed/pipeline/schedules.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "tests/distributed/group/ranks.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using namespace distributed::pipelining;
using distributed::ProcessGroup;
using distributed::ProcessGroupPtr;
using testing::HasSubstr;

ProcessGroupPtr shared(ProcessGroup& group) { return {std::shared_ptr<void>(), &group}; }

/// The parts of a model; the same values each time. With `in_place` those behind the first change
/// what they get.
std::vector<nn::Sequential> parts_of_model(int stages, bool in_place = false,
                                           Device device = kCPU) {
  static std::mutex one_at_a_time;  // ranks are threads with one generator
  const std::lock_guard lock(one_at_a_time);
  manual_seed(11);
  std::vector<nn::Sequential> out;
  for (int s = 0; s < stages; ++s) {
    nn::Sequential part(nn::ReLU(in_place && s > 0), nn::Linear(6, 6), nn::Tanh());
    part->to(device, kDouble);
    out.push_back(part);
  }
  return out;
}

Tensor mean_square(const Tensor& output, const Tensor& target) {
  return (output - target).square().mean();
}

struct Batch {
  Tensor x, y;
};
Batch batch_of(int64_t n, double shift = 0) {
  manual_seed(5);
  return {randn({n, 6}, kDouble) + shift, randn({n, 6}, kDouble)};
}

/// What one process gets: two steps' gradients, added, and the last output.
struct Whole {
  std::vector<std::vector<Tensor>> gradients;  // by stage
  Tensor output, loss;
};
Whole one_process(int stages, const Batch& batch) {
  auto parts = parts_of_model(stages);
  Whole out;
  for (int step = 0; step < 2; ++step) {
    Tensor h = batch.x.clone();
    for (nn::Sequential& part : parts) h = part->forward(h);
    const Tensor loss = mean_square(h, batch.y);
    loss.backward();
    out.output = h.detach();
    out.loss = loss.detach();
  }
  for (const nn::Sequential& part : parts) {
    out.gradients.emplace_back();
    for (const Tensor& p : part->parameters()) out.gradients.back().push_back(p.grad());
  }
  return out;
}

void expect_close(const Tensor& got, const Tensor& want, const std::string& what) {
  ASSERT_TRUE(got.defined()) << what;
  EXPECT_TRUE(allclose(got.cpu(), want, 1e-10, 1e-12)) << what;
}

void expect_gradients(const nn::Sequential& part, const std::vector<Tensor>& want, int stage) {
  const auto params = part->parameters();
  ASSERT_EQ(params.size(), want.size());
  for (size_t i = 0; i < params.size(); ++i)
    expect_close(params[i].grad(), want[i],
                 "gradient " + std::to_string(i) + " of stage " + std::to_string(stage));
}

/// Two steps of a schedule on this rank. Every rank gives all arguments; most look at none.
void expect_two_steps(PipelineSchedule& schedule, const Batch& batch, const Whole& whole,
                      int64_t micro_batches, bool last) {
  for (int step = 0; step < 2; ++step) {
    std::vector<Tensor> losses;
    const Tensor out = schedule.step(batch.x.clone(), {.target = batch.y, .losses = &losses});
    EXPECT_EQ(out.defined(), last);
    if (!last) continue;
    expect_close(out, whole.output, "output");
    EXPECT_FALSE(out.requires_grad());
    ASSERT_EQ(std::ssize(losses), micro_batches);
    double sum = 0;
    for (const Tensor& l : losses) sum += l.item<double>();
    EXPECT_NEAR(sum / static_cast<double>(micro_batches), whole.loss.item<double>(), 1e-12);
  }
}

template <class Schedule>
void check_one_stage_each(int ranks, int64_t micro_batches, int64_t (*kept)(int, int, int64_t)) {
  SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(micro_batches));
  const Batch batch = batch_of(micro_batches * 2);
  const Whole whole = one_process(ranks, batch);
  run_ranks(ranks, [&](ProcessGroup& g) {
    const int r = g.rank();
    const nn::Sequential part = parts_of_model(ranks, true)[static_cast<size_t>(r)];
    const PipelineStage stage(part, r, ranks, kCPU, shared(g));
    Schedule schedule(stage, micro_batches, mean_square);
    expect_two_steps(schedule, batch, whole, micro_batches, r == ranks - 1);
    expect_gradients(part, whole.gradients[static_cast<size_t>(r)], r);
    EXPECT_EQ(schedule.most_kept(), kept(r, ranks, micro_batches)) << "rank " << r;
  });
}

TEST(Pipelining, GradientsAreThoseOfOneProcess) {
  for (const int ranks : {1, 2, 3, 4})
    for (const int64_t micro_batches : {1, 3, 6}) {
      check_one_stage_each<ScheduleGPipe>(ranks, micro_batches,
                                          [](int, int, int64_t n) { return n; });
      check_one_stage_each<Schedule1F1B>(ranks, micro_batches, [](int r, int size, int64_t n) {
        return std::min<int64_t>(n, size - r);
      });
    }
}

void check_interleaved(int ranks, int per_rank, int64_t micro_batches) {
  SCOPED_TRACE(std::to_string(ranks) + " x " + std::to_string(per_rank));
  const Batch batch = batch_of(micro_batches * 2);
  const int stages = ranks * per_rank;
  const Whole whole = one_process(stages, batch);
  run_ranks(ranks, [&](ProcessGroup& g) {
    const auto parts = parts_of_model(stages, ranks > 1);
    std::vector<PipelineStage> mine;
    for (int s = g.rank(); s < stages; s += ranks)
      mine.emplace_back(parts[static_cast<size_t>(s)], s, stages, kCPU, shared(g));
    ScheduleInterleaved1F1B schedule(mine, micro_batches, mean_square);
    expect_two_steps(schedule, batch, whole, micro_batches, g.rank() == ranks - 1);
    for (const PipelineStage& s : mine)
      expect_gradients(parts[static_cast<size_t>(s.stage_index())],
                       whole.gradients[static_cast<size_t>(s.stage_index())], s.stage_index());
  });
}

TEST(Pipelining, SeveralStagesOnARank) {
  check_interleaved(2, 2, 4);
  check_interleaved(2, 3, 2);
  check_interleaved(3, 2, 6);
  check_interleaved(4, 2, 3);
  check_interleaved(1, 3, 2);
}

TEST(Pipelining, OnAccelerators) {
  const Batch batch = batch_of(4);
  const Whole whole = one_process(2, batch);
  run_ranks(2, [&](ProcessGroup& g) {
    const Device device(kSim, 0);
    const nn::Sequential part = parts_of_model(2, true, device)[static_cast<size_t>(g.rank())];
    Schedule1F1B schedule(PipelineStage(part, g.rank(), 2, device, shared(g)), 2, mean_square);
    expect_two_steps(schedule, batch, whole, 2, g.rank() == 1);
    expect_gradients(part, whole.gradients[static_cast<size_t>(g.rank())], g.rank());
  });
}

/// The first stage: three results, of which one has no gradient and one is not used.
struct FrontImpl : nn::Module {
  FrontImpl() { linear = register_module("linear", nn::Linear(6, 6)); }
  std::vector<Tensor> forward(const Tensor& x, const Tensor& y) {
    const Tensor h = linear(x + y);
    return {h.relu(), (x > 0).to(kLong), h.narrow(1, 0, 2)};
  }
  nn::Linear linear{nullptr};
};
TAEDA_MODULE(Front);
struct BackImpl : nn::Module {
  BackImpl() { linear = register_module("linear", nn::Linear(6, 6)); }
  Tensor forward(const std::vector<Tensor>& in) { return linear(in[0] * in[1].to(kFloat)); }
  nn::Linear linear{nullptr};
};
TAEDA_MODULE(Back);

TEST(Pipelining, SeveralTensorsBetweenStages) {
  manual_seed(3);
  const Tensor x = randn({4, 6}), y = randn({4, 6}), target = randn({4, 6});
  Front front;
  Back back;
  const auto models = [&] {
    Front f;
    Back b;
    f->load_state_dict(front->state_dict());
    b->load_state_dict(back->state_dict());
    return std::pair(f, b);
  };
  mean_square(back->forward(front->forward(x, y)), target).backward();
  run_ranks(2, [&](ProcessGroup& g) {
    auto [a, b] = models();
    const nn::AnyModule module = g.rank() == 0 ? nn::AnyModule(a) : nn::AnyModule(b);
    const PipelineStage stage(module, g.rank(), 2, kCPU, shared(g));
    ScheduleGPipe schedule(stage, 2, mean_square);
    schedule.step({x, y}, {.target = target});
    const Tensor got = module->parameters()[0].grad();
    const Tensor want = g.rank() == 0 ? front->linear->weight.grad() : back->linear->weight.grad();
    EXPECT_TRUE(allclose(got, want, 1e-5, 1e-6));
  });
}

TEST(Pipelining, WithoutALossItOnlyGoesForward) {
  const Batch batch = batch_of(6);
  const Whole whole = one_process(2, batch);
  run_ranks(2, [&](ProcessGroup& g) {
    const nn::Sequential part = parts_of_model(2)[static_cast<size_t>(g.rank())];
    const PipelineStage stage(part, g.rank(), 2, kCPU, shared(g));
    ScheduleGPipe schedule(stage, 3);
    const Tensor out = g.rank() == 0 ? schedule.step(batch.x.clone()) : schedule.step();
    if (g.rank() == 1) expect_close(out, whole.output, "output");
    EXPECT_FALSE(part->parameters()[0].grad().defined());
    EXPECT_EQ(schedule.most_kept(), 0);
  });
}

TEST(Pipelining, SumsOfLossesWhereTheyAreNotScaled) {
  const Batch batch = batch_of(4);
  const Whole whole = one_process(1, batch);
  run_ranks(1, [&](ProcessGroup& g) {
    const nn::Sequential part = parts_of_model(1)[0];
    ScheduleGPipe schedule(PipelineStage(part, 0, 1, kCPU, shared(g)), 2, mean_square,
                           {.scale_grads = false});
    schedule.step(batch.x.clone(), {.target = batch.y});
    // One step of sums of two is two steps of means.
    expect_gradients(part, whole.gradients[0], 0);
  });
}

TEST(Pipelining, RefusesWhatDoesNotFit) {
  run_ranks(2, [](ProcessGroup& g) {
    const nn::Linear part(6, 6);
    const auto stage = [&](int index, int count) {
      return PipelineStage(part, index, count, kCPU, shared(g));
    };
    const std::string own = std::to_string(g.rank()), other = std::to_string(1 - g.rank());
    EXPECT_EQ(error_of([&] { stage(1 - g.rank(), 2); }), "PipelineStage: stage " + other +
                                                             " of 2 belongs to rank " + other +
                                                             ", this is rank " + own);
    EXPECT_EQ(error_of([&] { stage(2, 2); }), "Stage index 2 is out of range of 2");
    EXPECT_THAT(error_of([&] { stage(g.rank(), 3); }),
                HasSubstr("3 stages cannot be divided among 2 processes"));
    EXPECT_THAT(error_of([&] { ScheduleGPipe(stage(g.rank(), 4), 2); }),
                HasSubstr("expected one stage for each process, got 4 stages and 2 processes"));
    EXPECT_THAT(error_of([&] { ScheduleGPipe(stage(g.rank(), 2), 0); }),
                HasSubstr("expected at least one microbatch, got 0"));
    EXPECT_THAT(
        error_of([&] {
          ScheduleInterleaved1F1B({stage(g.rank(), 4), stage(g.rank(), 4)}, 2);
        }),
        HasSubstr("expected stage " + std::to_string(g.rank() + 2) + " of 4 as stage 1 of "));
    EXPECT_THAT(error_of([&] {
                  ScheduleInterleaved1F1B({stage(g.rank(), 4), stage(g.rank() + 2, 4)}, 5);
                }),
                HasSubstr("to be a multiple of the number of rounds (2), but got 5."));
  });
}

TEST(Pipelining, SchedulesThatDifferAreAnErrorEverywhere) {
  for (const std::string& error : errors_of_ranks(2, [](ProcessGroup& g) {
         const PipelineStage stage(nn::Linear(6, 6), g.rank(), 2, kCPU, shared(g));
         ScheduleGPipe(stage, 2 + g.rank(), mean_square)
             .step(ones({6, 6}), {.target = ones({6, 6})});
       }))
    EXPECT_EQ(error,
              "the processes of a pipeline have different schedules: rank 0 has ScheduleGPipe with "
              "2 micro-batches, 2 stages and a loss function, rank 1 has ScheduleGPipe with 3 "
              "micro-batches, 2 stages and a loss function");
}

TEST(Pipelining, ABatchOfAnotherShapeNamesStageAndShapes) {
  const auto errors = errors_of_ranks(2, [](ProcessGroup& g) {
    const PipelineStage stage(nn::Linear(6, 6), g.rank(), 2, kCPU, shared(g));
    ScheduleGPipe schedule(stage, 2, mean_square);
    schedule.step(ones({4, 6}), {.target = ones({4, 6})});
    if (g.rank() == 0) {
      EXPECT_EQ(error_of([&] {
                  schedule.step(ones({5, 6}));
                }),
                "ScheduleGPipe: an input of shape [5, 6] cannot be cut into 2 micro-batches of one "
                "size");
      schedule.step(ones({6, 6}));
    }
  });
  EXPECT_EQ(errors[0],
            "stage 0 on rank 0, micro-batch 0: output 0 is float32[3, 6], not float32[2, 6] as "
            "stage 1 on rank 1 expects since the first micro-batch");
}

TEST(Pipelining, AnErrorSaysWhereItHappened) {
  const auto errors = errors_of_ranks(1, [](ProcessGroup& g) {
    const PipelineStage stage(nn::Linear(5, 6), 0, 1, kCPU, shared(g));
    ScheduleGPipe(stage, 2, mean_square).step(ones({4, 6}), {.target = ones({4, 6})});
  });
  EXPECT_THAT(errors[0], HasSubstr("in stage 0 on rank 0 (micro-batch 0)"));
  const auto of_loss = errors_of_ranks(1, [](ProcessGroup& g) {
    const PipelineStage stage(nn::Linear(6, 6), 0, 1, kCPU, shared(g));
    ScheduleGPipe(stage, 2, [](const Tensor& out, const Tensor&) {
      return out;
    }).step(ones({4, 6}), {.target = ones({4, 6})});
  });
  EXPECT_THAT(of_loss[0], HasSubstr("expected the loss to be a scalar, but it has shape [2, 6]"));
  EXPECT_THAT(of_loss[0], HasSubstr("in the loss of stage 0 on rank 0 (micro-batch 0)"));
}

TEST(Pipelining, OtherStagesHearOfOneThatFailed) {
  const auto errors = errors_of_ranks(2, [](ProcessGroup& g) {
    const PipelineStage stage(nn::Linear(g.rank() == 0 ? 5 : 6, 6), g.rank(), 2, kCPU, shared(g));
    ScheduleGPipe(stage, 2, mean_square).step(ones({4, 6}), {.target = ones({4, 6})});
  });
  EXPECT_THAT(errors[0], HasSubstr("in stage 0 on rank 0 (micro-batch 0)"));
  EXPECT_THAT(errors[1], HasSubstr("rank 0 has left the group"));
}

}  // namespace
}  // namespace taeda
