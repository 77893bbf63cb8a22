// Ranks with different numbers of batches.
#include <gmock/gmock.h>

#include "taeda/optim/sgd.h"
#include "tests/distributed/ddp/models.h"

namespace taeda {
namespace {

using distributed::DistributedDataParallel;
using distributed::DistributedDataParallelOptions;
using distributed::JoinOptions;
using distributed::ProcessGroupPtr;
using testing::HasSubstr;

constexpr double kRate = 0.3;

Tensor rows_of(int rank, int step) {
  const int64_t begin = 4 * (8 * rank + step);
  return batch_rows(begin, begin + 4, 6);
}

nn::Sequential make_layers_to_join() {
  nn::Sequential net(nn::Linear(6, 5), nn::BatchNorm1d(5), nn::Linear(5, 2));
  fill_values(*net);
  net->eval();  // statistics of a batch are its rank's own
  return net;
}

/// The same training in one process: every step averages the gradients of the ranks that have a
/// batch, over all ranks or over those.
std::vector<Tensor> train_alone(const std::vector<int>& steps, bool by_all) {
  nn::Sequential net = make_layers_to_join();
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(kRate));
  const int longest = *std::ranges::max_element(steps);
  for (int step = 0; step < longest; ++step) {
    optimizer.zero_grad();
    double count = 0;
    for (const int n : steps) count += n > step;
    for (size_t r = 0; r < steps.size(); ++r)
      if (steps[r] > step)
        (net->forward(rows_of(static_cast<int>(r), step)).pow(2).mean() /
         (by_all ? static_cast<double>(steps.size()) : count))
            .backward();
    optimizer.step();
  }
  return net->parameters();
}

void expect_joined(const std::vector<int>& steps, bool by_all,
                   DistributedDataParallelOptions options = {}) {
  const std::vector<Tensor> want = train_alone(steps, by_all);
  run_group(static_cast<int>(steps.size()), [&](const ProcessGroupPtr& group) {
    nn::Sequential net = make_layers_to_join();
    auto own = options;
    own.process_group = group;
    DistributedDataParallel ddp(net, own);
    optim::SGD optimizer(net->parameters(), optim::SGDOptions(kRate));
    ddp->join(
        [&] {
          for (int step = 0; step < steps[static_cast<size_t>(group->rank())]; ++step) {
            optimizer.zero_grad();
            ddp(rows_of(group->rank(), step)).pow(2).mean().backward();
            optimizer.step();
          }
        },
        {.divide_by_initial_world_size = by_all});
    std::vector<Tensor> got = net->parameters();
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_LT(distance(got[i], want[i]), 1e-5) << "parameter " << i;
  });
}

TEST(Join, RanksWithoutABatchCountAsZeroAndAllEndWithTheSameModel) {
  for (const bool by_all : {true, false}) {
    expect_joined({3, 3}, by_all);
    expect_joined({1, 4}, by_all);
    expect_joined({4, 1, 2}, by_all, {.bucket_cap_mb = 2e-4});
    expect_joined({0, 3}, by_all);  // rank 0, whose order of gradients counts, has none
    expect_joined({2, 5, 3}, by_all, {.find_unused_parameters = true});
    expect_joined({2, 4}, by_all, {.gradient_as_bucket_view = true});
    expect_joined({2, 4}, by_all, {.static_graph = true});
  }
}

TEST(Join, KnowsWhenNothingIsExchanged) {
  run_group(2, [](const ProcessGroupPtr& group) {
    nn::Sequential net = make_layers_to_join();
    DistributedDataParallel ddp(net, {.process_group = group});
    ddp->join([&] {
      for (int step = 0; step < 4 * (1 + group->rank()); ++step) {
        std::optional<distributed::DistributedDataParallelBase::NoSync> guard;
        if (step % 2 == 0) guard.emplace(*ddp);
        ddp(rows_of(group->rank(), step)).pow(2).mean().backward();
      }
      const NoGradGuard evaluation;
      ddp(rows_of(0, 0));
    });
    const Tensor all = zeros({2, 10});
    group->all_gather_into_tensor(all, net->parameters()[4].detach().view({10}), {});
    EXPECT_TRUE(all.select(0, 0).equal(all.select(0, 1)));
  });
}

TEST(Join, TheBuffersOfARankWithABatchCount) {
  run_group(2, [](const ProcessGroupPtr& group) {
    nn::Sequential net = make_layers_to_join();
    net->train();
    DistributedDataParallel ddp(net, {.process_group = group});
    ddp->join([&] {
      for (int step = 0; step < 1 + 2 * group->rank(); ++step)
        ddp(rows_of(group->rank(), step)).pow(2).mean().backward();
    });
    EXPECT_EQ(net->buffers()[2].item<int64_t>(), 3);  // batches that rank 1 has seen
  });
}

TEST(Join, ErrorsNameWhatIsJoined) {
  EXPECT_EQ(error_of([] { distributed::join({}, [] {}); }),
            "The join context manager requires at least one joinable");
  run_group(2, [](const ProcessGroupPtr& group) {
    nn::Sequential net = make_layers_to_join();
    DistributedDataParallel first(net, {.process_group = group});
    DistributedDataParallel second(make_layers_to_join(), {.process_group = group});
    EXPECT_EQ(error_of([&] { first->join([&] { first->join([] {}); }); }),
              "join: a DistributedDataParallel takes part in another join already");
    EXPECT_THAT(error_of([&] {
                  distributed::join({*first, *second}, [&] {
                    const NoGradGuard evaluation;
                    group->rank() == 0 ? first(rows_of(0, 0)) : second(rows_of(0, 0));
                  });
                }),
                HasSubstr("join: rank 0 runs DistributedDataParallel #0 (flags 1), but rank 1 runs "
                          "DistributedDataParallel #1 (flags 1)"));
  });
  run_group(1, [](const ProcessGroupPtr& group) {
    const ProcessGroupPtr another =
        distributed::ProcessGroup::create("gloo", std::make_shared<distributed::HashStore>(), 0, 1);
    DistributedDataParallel first(make_layers_to_join(), {.process_group = group});
    DistributedDataParallel second(make_layers_to_join(), {.process_group = another});
    EXPECT_EQ(error_of([&] {
                distributed::join({*first, *second}, [] {});
              }),
              "Using join context manager with multiple process groups");
  });
}

TEST(Join, MayEndAllWhenTheFirstEnds) {
  const auto errors = errors_of_ranks(2, [](distributed::ProcessGroup& g) {
    const ProcessGroupPtr group(&g, [](auto*) {});
    nn::Sequential net = make_layers_to_join();
    DistributedDataParallel ddp(net, {.process_group = group});
    ddp->join(
        [&] {
          for (int step = 0; step < 1 + 2 * g.rank(); ++step)
            ddp(rows_of(g.rank(), step)).pow(2).mean().backward();
        },
        {.throw_on_early_termination = true});
  });
  EXPECT_THAT(errors[0], HasSubstr("Rank 0 exhausted all inputs."));
  EXPECT_THAT(errors[1], HasSubstr("Detected at least one rank that exhausted inputs."));
}

}  // namespace
}  // namespace taeda
