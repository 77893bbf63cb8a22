// Ranks with different numbers of batches, and an optimizer whose state is spread over them: the
// bits of the plain optimizer.
#include <gmock/gmock.h>

#include "taeda/distributed/zero/zero_redundancy_optimizer.h"
#include "taeda/nn/utils.h"
#include "taeda/optim/optim.h"
#include "tests/distributed/ddp/models.h"

namespace taeda {
namespace {

using distributed::DistributedDataParallel;
using distributed::JoinOptions;
using distributed::ProcessGroupPtr;
using distributed::ZeroRedundancyOptimizer;
using testing::HasSubstr;

Tensor rows_for_zero(int rank, int step) {
  const int64_t begin = 4 * (8 * rank + step);
  return batch_rows(begin, begin + 4, 6);
}

nn::Sequential make_layers_for_zero() {
  nn::Sequential net(nn::Linear(6, 5), nn::BatchNorm1d(5), nn::Linear(5, 2, false));
  fill_values(*net);
  return net;
}

struct ZeroCase {
  std::vector<int> steps;  ///< by rank
  JoinOptions join = {};
  bool views = false;  ///< parameters live in buckets
};

/// Trains with all that changes gradients and options between backward and step: accumulation,
/// steps that are left out, clipping, a schedule; evaluates in between.
template <class Optimizer>
void train_joined(DistributedDataParallel<nn::SequentialImpl>& ddp, Optimizer& optimizer, int rank,
                  int steps) {
  optim::StepLR schedule(optimizer, 1, 0.9);
  for (int step = 0; step < steps; ++step) {
    if (step % 3 == 1) {
      const auto accumulating = ddp->no_sync();
      ddp(rows_for_zero(rank, step)).pow(2).mean().backward();
      continue;
    }
    ddp(rows_for_zero(rank, step)).pow(2).mean().backward();
    if (step == 3) continue;
    nn::utils::clip_grad_norm_(ddp->parameters(), 0.2);
    optimizer.step();
    optimizer.zero_grad();
    schedule.step();
    const NoGradGuard evaluation;
    ddp(rows_for_zero(0, 0));
  }
}

/// What every rank has after its loop; the optimizer's state of the rank with most steps.
struct Trained {
  std::vector<std::vector<Tensor>> values;
  optim::OptimizerState state;
};

using Run = std::function<optim::OptimizerState(DistributedDataParallel<nn::SequentialImpl>&,
                                                const ProcessGroupPtr&, int longest)>;

Trained train_ranks(const std::vector<int>& steps, const Run& run) {
  const auto longest = static_cast<int>(std::ranges::max_element(steps) - steps.begin());
  Trained out;
  out.values.resize(steps.size());
  run_group(static_cast<int>(steps.size()), [&](const ProcessGroupPtr& group) {
    nn::Sequential net = make_layers_for_zero();
    DistributedDataParallel ddp(net, {.process_group = group});
    optim::OptimizerState state = run(ddp, group, longest);
    if (group->rank() == longest) out.state = std::move(state);
    std::vector<Tensor>& values = out.values[static_cast<size_t>(group->rank())];
    for (const Tensor& t : net->parameters()) values.push_back(t.detach().clone());
    for (const Tensor& t : net->buffers()) values.push_back(t.detach().clone());
  });
  return out;
}

template <class Base, class Options>
void expect_the_plain_bits(const ZeroCase& c, const Options& options) {
  const auto steps_of = [&](const ProcessGroupPtr& group) {
    return c.steps[static_cast<size_t>(group->rank())];
  };
  const Trained want = train_ranks(c.steps, [&](auto& ddp, const auto& group, int) {
    Base optimizer(ddp->parameters(), options);
    ddp->join([&] { train_joined(ddp, optimizer, group->rank(), steps_of(group)); }, c.join);
    return optimizer.state_dict();
  });
  const Trained got = train_ranks(c.steps, [&](auto& ddp, const auto& group, int longest) {
    ZeroRedundancyOptimizer<Base> optimizer(ddp->parameters(), options, {group, c.views});
    const auto loop = [&] { train_joined(ddp, optimizer, group->rank(), steps_of(group)); };
    distributed::join({*ddp, optimizer}, loop, c.join);
    optimizer.consolidate_state_dict(longest);
    return group->rank() == longest ? optimizer.state_dict() : optimizer.local_state_dict();
  });
  for (size_t rank = 0; rank < c.steps.size(); ++rank)
    for (size_t i = 0; i < want.values[0].size(); ++i)
      EXPECT_TRUE(got.values[rank][i].equal(want.values[0][i])) << "rank " << rank << ", " << i;
  ASSERT_EQ(got.state.tensors.size(), want.state.tensors.size());
  for (const auto& item : want.state.tensors)
    EXPECT_TRUE(got.state.tensors[item.key()].equal(item.value())) << item.key();
  for (const auto& item : want.state.numbers)
    EXPECT_EQ(got.state.numbers[item.key()], item.value()) << item.key();
}

TEST(JoinZero, RanksWithoutABatchGoOnUpdatingTheirParameters) {
  const auto adam = optim::AdamOptions(0.1).weight_decay(0.01);
  const JoinOptions by_active = {.divide_by_initial_world_size = false};
  expect_the_plain_bits<optim::Adam>({{1, 6, 3}}, adam);
  expect_the_plain_bits<optim::Adam>({{0, 2, 5}, by_active, /*views=*/true}, adam);
  expect_the_plain_bits<optim::Adam>({{7, 5, 0}, by_active}, adam);
  expect_the_plain_bits<optim::SGD>({{5, 5, 1}, {}, /*views=*/true},
                                    optim::SGDOptions(0.1).momentum(0.9));
}

TEST(JoinZero, MoreEpochsKeepAllRanksEqual) {
  const Trained got = train_ranks({1, 4, 2}, [&](auto& ddp, const auto& group, int) {
    ZeroRedundancyOptimizer<optim::Adam> optimizer(ddp->parameters(), optim::AdamOptions(0.1),
                                                   {group});
    for (const int steps : {1 + group->rank(), 4 - group->rank()}) {
      distributed::join({*ddp, optimizer},
                        [&] { train_joined(ddp, optimizer, group->rank(), steps); });
      EXPECT_LT(optimizer.param_groups()[0].get_lr(), 0.1) << "as its own loop has set it";
      optimizer.param_groups()[0].set_lr(0.1);
    }
    return optimizer.local_state_dict();
  });
  for (const auto& values : got.values)
    for (size_t i = 0; i < values.size(); ++i) EXPECT_TRUE(values[i].equal(got.values[0][i])) << i;
}

TEST(JoinZero, ARankWithoutABatchKeepsItsOptionsAndGradients) {
  run_group(3, [](const ProcessGroupPtr& group) {
    const std::vector<Tensor> params = {full({3}, 1.0).requires_grad_(),
                                        full({2}, 1.0).requires_grad_()};
    ZeroRedundancyOptimizer<optim::SGD> optimizer(params, optim::SGDOptions(0.5), {group});
    distributed::join({optimizer}, [&] {
      if (group->rank() < 2) return;
      optimizer.param_groups()[0].set_lr(2.0);
      params[0].mutable_grad() = full({3}, 0.25);  // the second has none
      optimizer.step();
    });
    EXPECT_EQ(optimizer.param_groups()[0].get_lr(), group->rank() < 2 ? 0.5 : 2.0);
    EXPECT_EQ(params[0].grad().defined(), group->rank() == 2);
    EXPECT_TRUE(params[0].detach().equal(full({3}, 0.5)));
    EXPECT_TRUE(params[1].detach().equal(full({2}, 1.0)));
  });
}

TEST(JoinZero, MayEndAllWhenTheFirstEnds) {
  const auto errors = errors_of_ranks(2, [](distributed::ProcessGroup& g) {
    const ProcessGroupPtr group(&g, [](auto*) {});
    const Tensor param = full({3}, 1.0).requires_grad_();
    ZeroRedundancyOptimizer<optim::SGD> optimizer(std::vector<Tensor>{param},
                                                  optim::SGDOptions(0.5), {group});
    const auto loop = [&] {
      if (g.rank() == 1) optimizer.step();
    };
    distributed::join({optimizer}, loop, {.throw_on_early_termination = true});
  });
  EXPECT_THAT(errors[0], HasSubstr("Rank 0 exhausted all inputs."));
  EXPECT_THAT(errors[1], HasSubstr("Detected at least one rank that exhausted inputs."));
}

}  // namespace
}  // namespace taeda
