// DistributedDataParallel against one process.
#include <gmock/gmock.h>

#include <csignal>

#include "taeda/amp/autocast.h"
#include "taeda/amp/grad_scaler.h"
#include "taeda/distributed/ddp/equivalence.h"
#include "taeda/distributed/group/collectives.h"
#include "taeda/nn/checkpoint.h"
#include "taeda/optim/sgd.h"
#include "tests/distributed/ddp/models.h"
#include "tests/distributed/group/meeting_place.h"
#include "tests/kept_warnings.h"

namespace taeda {
namespace {

using distributed::DistributedDataParallel;
using distributed::DistributedDataParallelOptions;
using distributed::ProcessGroupPtr;
using testing::ElementsAre;
using testing::HasSubstr;

Branch make_branch(ScalarType dtype = kFloat) {
  Branch net;
  fill_values(*net);
  net->to(dtype);
  return net;
}

/// Gradients of one process for `n` entries.
std::vector<Tensor> reference(int64_t n, ScalarType dtype = kFloat) {
  Branch net = make_branch(dtype);
  net(batch_rows(0, n, 6).to(dtype)).pow(2).mean().backward();
  return gradients_of(*net);
}

/// Runs forward and backward of rank r on entries [4 r, 4 r + 4).
template <class Model>
void step(Model& model, const ProcessGroupPtr& group, ScalarType dtype = kFloat) {
  const int64_t begin = 4 * group->rank();
  model(batch_rows(begin, begin + 4, 6).to(dtype), true).pow(2).mean().backward();
}

struct RanksTest : testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, RanksTest, testing::Values(1, 2, 3, 4));

TEST_P(RanksTest, GradientsAreThoseOfOneProcess) {
  for (const ScalarType dtype : {kFloat, kDouble})
    for (const std::optional<double> cap : {std::optional<double>(), std::optional(2e-4)})
      run_group(GetParam(), [&](const ProcessGroupPtr& group) {
        Branch net = make_branch(dtype);
        DistributedDataParallel ddp(net, {.process_group = group, .bucket_cap_mb = cap});
        for (int pass = 0; pass < 3; ++pass) {  // buckets change after the first
          net->zero_grad();
          step(ddp, group, dtype);
          expect_close(gradients_of(*net), reference(4 * GetParam(), dtype),
                       dtype == kDouble ? 1e-15 : 1e-6);
        }
      });
}

TEST_P(RanksTest, GradientsAccumulateWhenTheyAreNotZeroed) {
  run_group(GetParam(), [&](const ProcessGroupPtr& group) {
    for (const bool view : {false, true}) {
      Branch net = make_branch();
      DistributedDataParallel ddp(net, {.process_group = group, .gradient_as_bucket_view = view});
      step(ddp, group);
      step(ddp, group);
      std::vector<Tensor> twice = reference(4 * GetParam());
      for (Tensor& t : twice) t.mul_(2);
      expect_close(gradients_of(*net), twice, 1e-6);
    }
  });
}

TEST(DistributedDataParallel, AllRanksGetTheValuesOfTheFirst) {
  run_group(3, [](const ProcessGroupPtr& group) {
    Branch net;
    fill_values(*net);
    const NoGradGuard values_only;
    if (group->rank() > 0)
      for (Tensor& p : net->parameters()) p.zero_();
    DistributedDataParallel ddp(net, {.process_group = group});
    expect_close(net->parameters(), make_branch()->parameters(), 0);
  });
}

TEST(DistributedDataParallel, NamesTheFirstDifferenceOfTwoModels) {
  const auto errors = errors_of_ranks(3, [](distributed::ProcessGroup& g) {
    const ProcessGroupPtr group(&g, [](auto*) {});
    nn::Sequential net(nn::Linear(4, 2), nn::Linear(2, g.rank() == 1 ? 3 : 2));
    DistributedDataParallel ddp(net, {.process_group = group});
  });
  for (const std::string& e : errors)
    EXPECT_THAT(e, HasSubstr("rank 0 has parameter '1.weight' float32[2, 2], rank 1 has parameter "
                             "'1.weight' float32[3, 2]"));
}

TEST(DistributedDataParallel, NoSyncAccumulatesAndTheNextPassExchangesAll) {
  run_group(2, [](const ProcessGroupPtr& group) {
    for (const bool view : {false, true}) {
      Branch net = make_branch();
      DistributedDataParallel ddp(net, {.process_group = group, .gradient_as_bucket_view = view});
      const auto part = [&](int64_t k) {  // two entries of this rank's eight
        const int64_t at = 8 * group->rank() + 2 * k;
        return ddp(batch_rows(at, at + 2, 6), true).pow(2).mean() / 4;
      };
      {
        const auto guard = ddp->no_sync();
        for (int64_t k = 0; k < 3; ++k) part(k).backward();
        Branch alone = make_branch();
        (alone(batch_rows(8 * group->rank(), 8 * group->rank() + 6, 6)).pow(2).mean() * 0.75)
            .backward();
        expect_close(gradients_of(*net), gradients_of(*alone), 1e-6, "not exchanged");
      }
      part(3).backward();
      expect_close(gradients_of(*net), reference(16), 1e-6, "exchanged");
    }
  });
}

/// What two ranks' gradients of Branch become when only some use the second layer.
std::vector<Tensor> branch_average(const std::vector<bool>& uses) {
  std::vector<Tensor> sum;
  for (size_t r = 0; r < uses.size(); ++r) {
    Branch net = make_branch();
    const auto begin = static_cast<int64_t>(4 * r);
    net->forward(batch_rows(begin, begin + 4, 6), uses[r]).pow(2).mean().backward();
    const std::vector<Tensor> own = gradients_of(*net);
    if (sum.empty()) sum.resize(own.size());
    for (size_t i = 0; i < own.size(); ++i)
      if (own[i].defined())
        sum[i] = sum[i].defined() ? sum[i] + own[i] / static_cast<double>(uses.size())
                                  : own[i] / static_cast<double>(uses.size());
  }
  return sum;
}

struct UnusedTest : testing::TestWithParam<DistributedDataParallelOptions> {};
INSTANTIATE_TEST_SUITE_P(
    Options, UnusedTest,
    testing::Values(DistributedDataParallelOptions{},
                    DistributedDataParallelOptions{.find_unused_parameters = true},
                    DistributedDataParallelOptions{.static_graph = true},
                    DistributedDataParallelOptions{.bucket_cap_mb = 2e-4,
                                                   .find_unused_parameters = true},
                    DistributedDataParallelOptions{.bucket_cap_mb = 2e-4, .static_graph = true},
                    DistributedDataParallelOptions{.gradient_as_bucket_view = true}));

TEST_P(UnusedTest, AParameterGetsTheAverageIfSomeRankUsesItAndNothingIfNoneDoes) {
  for (const std::vector<bool>& uses :
       {std::vector{true, false}, std::vector{false, false}, std::vector{false, true}})
    for (const bool hooked : {false, true})
      run_group(2, [&](const ProcessGroupPtr& group) {
        Branch net = make_branch();
        auto options = GetParam();
        options.process_group = group;
        DistributedDataParallel ddp(net, options);
        if (hooked)
          ddp->register_comm_hook(group,
                                  [](const ProcessGroupPtr& g, distributed::GradBucket& bucket) {
                                    g->all_reduce(bucket.buffer(), distributed::ReduceOp::AVG, {});
                                    std::promise<Tensor> done;
                                    done.set_value(bucket.buffer());
                                    return done.get_future();
                                  });
        for (int pass = 0; pass < 3; ++pass) {
          net->zero_grad();
          const int64_t begin = 4 * group->rank();
          const bool used = uses[static_cast<size_t>(group->rank())];
          ddp(batch_rows(begin, begin + 4, 6), used).pow(2).mean().backward();
          expect_close(gradients_of(*net), branch_average(uses), 1e-6);
        }
      });
}

TEST(DistributedDataParallel, NamesParametersWithoutGradientOnce) {
  KeptOfAllThreads kept;
  run_group(1 + 1, [](const ProcessGroupPtr& group) {
    Branch net = make_branch();
    DistributedDataParallel ddp(net, {.process_group = group});
    for (int pass = 0; pass < 2; ++pass)
      ddp(batch_rows(0, 4, 6), group->rank() == 0).pow(2).mean().backward();
  });
  EXPECT_THAT(kept.take(),
              ElementsAre(HasSubstr("rank 1 got no gradient for 'second.weight', 'second.bias' in "
                                    "backward")));
}

TEST(DistributedDataParallel, AStaticGraphThatChangesIsAnErrorOnThatRankAlone) {
  const auto errors = errors_of_ranks(2, [](distributed::ProcessGroup& g) {
    const ProcessGroupPtr group(&g, [](auto*) {});
    Branch net = make_branch();
    DistributedDataParallel ddp(net, {.process_group = group, .static_graph = true});
    for (int pass = 0; pass < 3; ++pass)
      ddp(batch_rows(0, 4, 6), g.rank() == 0 || pass < 2).pow(2).mean().backward();
  });
  EXPECT_EQ(errors[0], "no error");
  EXPECT_THAT(errors[1], HasSubstr("no gradient came for 'second.weight', 'second.bias'"));
}

TEST(DistributedDataParallel, WhatForwardKeepsToItselfIsAnErrorWhenTheGraphIsSearched) {
  struct Keeps : nn::Module {
    Keeps() {
      second = register_module(
          "second", (first = register_module("first", nn::Linear(3, 3)), nn::Linear(3, 3)));
    }
    Tensor forward(const Tensor& x) {
      kept = first(x);
      return second(x);
    }
    nn::Linear first{nullptr}, second{nullptr};
    Tensor kept;
  };
  const auto errors = errors_of_ranks(2, [](distributed::ProcessGroup& g) {
    const ProcessGroupPtr group(&g, [](auto*) {});
    const auto net = std::make_shared<Keeps>();
    DistributedDataParallel ddp(net, {.process_group = group, .find_unused_parameters = true});
    const Tensor out = ddp(batch_rows(0, 4, 3));
    (out.sum() + net->kept.sum()).backward();
  });
  for (const std::string& e : errors)
    EXPECT_THAT(e, HasSubstr("which the outputs of forward do not depend on"));
}

TEST(DistributedDataParallel, BucketsAreSentWhileBackwardGoesOn) {
  run_group(2, [](const ProcessGroupPtr& group) {
    Branch net = make_branch();
    DistributedDataParallel ddp(net, {.process_group = group, .bucket_cap_mb = 2e-4});
    std::vector<std::string> events;
    net->first->weight.register_hook([&](const Tensor&) {
      events.push_back("first layer");
      return Tensor();
    });
    ddp->register_comm_hook(group, [&](const ProcessGroupPtr& g, distributed::GradBucket& bucket) {
      events.push_back("bucket " + std::to_string(bucket.index()));
      return distributed::algorithms::ddp_comm_hooks::default_hooks::allreduce_hook(g, bucket);
    });
    step(ddp, group);
    const auto at = [&](const char* what) { return std::ranges::find(events, what); };
    EXPECT_LT(at("bucket 0"), at("first layer"));
    EXPECT_EQ(events.back().substr(0, 6), "bucket");
  });
}

TEST(DistributedDataParallel, BucketsThatAreKeptHoldTheGradientsOfEveryPass) {
  run_group(2, [](const ProcessGroupPtr& group) {
    Branch net = make_branch();
    DistributedDataParallel ddp(net, {.process_group = group, .gradient_as_bucket_view = true});
    step(ddp, group);  // in whose order the buckets are made anew
    std::vector<const void*> first;
    for (int pass = 0; pass < 4; ++pass) {
      net->zero_grad(/*set_to_none=*/pass % 2 == 0);
      step(ddp, group);
      std::vector<const void*> at;
      for (const Tensor& p : net->parameters()) at.push_back(p.grad().data_ptr());
      if (pass == 0) first = at;
      EXPECT_EQ(at, first);
      expect_close(gradients_of(*net), reference(8), 1e-6);
    }
  });
}

TEST(DistributedDataParallel, AGradientThatIsKeptDoesNotChange) {
  run_group(2, [](const ProcessGroupPtr& group) {
    Branch net = make_branch();
    DistributedDataParallel ddp(net, {.process_group = group});
    step(ddp, group);
    const Tensor kept = net->first->weight.grad();
    const Tensor copy = kept.clone();
    net->zero_grad();
    ddp(batch_rows(20, 30, 6, 0.5), true).sum().backward();
    EXPECT_TRUE(kept.equal(copy));
  });
}

TEST(DistributedDataParallel, BuffersAreThoseOfTheFirstRank) {
  run_group(2, [](const ProcessGroupPtr& group) {
    for (const bool broadcast : {true, false}) {
      nn::Sequential net(nn::Linear(4, 4), nn::BatchNorm1d(4));
      fill_values(*net);
      DistributedDataParallel ddp(net, {.broadcast_buffers = broadcast, .process_group = group});
      for (int pass = 0; pass < 2; ++pass)
        ddp(batch_rows(0, 8, 4) * (group->rank() + 1)).sum().backward();
      {
        const NoGradGuard evaluation;
        net->eval();
        ddp(batch_rows(0, 8, 4));
      }
      const Tensor mean = net->buffers()[0];
      const Tensor all = zeros({2, mean.numel()});
      group->all_gather_into_tensor(all, mean, {});
      EXPECT_EQ(all.select(0, 0).equal(all.select(0, 1)), broadcast);
    }
  });
}

TEST(DistributedDataParallel, AllRanksSkipTheStepThatOneOverflows) {
  run_group(2, [](const ProcessGroupPtr& group) {
    Branch net = make_branch();
    DistributedDataParallel ddp(net, {.process_group = group});
    optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
    amp::GradScaler scaler(kCPU, 1024);
    for (int pass = 0; pass < 3; ++pass) {
      optimizer.zero_grad();
      const amp::autocast low(kCPU, kBFloat16);
      const double factor = pass == 1 && group->rank() == 1 ? INFINITY : 1;
      const Tensor loss = ddp(batch_rows(0, 4, 6), true).to(kFloat).pow(2).mean() * factor;
      scaler.scale(loss).backward();
      EXPECT_EQ(scaler.step(optimizer).stepped, pass != 1) << "rank " << group->rank();
      scaler.update();
    }
    EXPECT_EQ(scaler.get_scale(), 512);
  });
}

TEST(DistributedDataParallel, WorksWithCheckpointedLayers) {
  struct Checkpointed : BranchImpl {
    Tensor forward(const Tensor& x) {
      return last(utils::checkpoint::checkpoint(
          [this](const Tensor& t) {
            const Tensor h = tanh(first(t));
            return h + second(h);
          },
          x));
    }
  };
  run_group(2, [](const ProcessGroupPtr& group) {
    const auto net = std::make_shared<Checkpointed>();
    fill_values(*net);
    DistributedDataParallel ddp(net, {.process_group = group});
    for (int pass = 0; pass < 2; ++pass) {
      net->zero_grad();
      const int64_t begin = 4 * group->rank();
      ddp(batch_rows(begin, begin + 4, 6)).pow(2).mean().backward();
      expect_close(gradients_of(*net), reference(8), 1e-6);
    }
  });
}

TEST(DistributedDataParallel, AGradientWithAHistoryKeepsItAndTakesTheAverage) {
  run_group(2, [](const ProcessGroupPtr& group) {
    Branch net = make_branch();
    DistributedDataParallel ddp(net, {.process_group = group});
    const int64_t begin = 4 * group->rank();
    ddp(batch_rows(begin, begin + 4, 6), true).pow(2).mean().backward({}, true, true);
    EXPECT_TRUE(net->last->weight.grad().requires_grad());
    expect_close(gradients_of(*net), reference(8), 1e-6);
    for (Tensor& p : net->parameters()) p.mutable_grad().reset();
  });
}

TEST(DistributedDataParallel, TrainsOnSimulatedDevices) {
  run_group(2, [](const ProcessGroupPtr& group) {
    const Device device(kSim, group->rank());
    Branch net = make_branch();
    net->to(device);
    DistributedDataParallel ddp(
        net, {.device_ids = {{group->rank()}}, .process_group = group, .bucket_cap_mb = 2e-4});
    for (int pass = 0; pass < 3; ++pass) {
      net->zero_grad();
      step(ddp, group);  // inputs are moved there
      expect_close(gradients_of(*net), reference(8), 1e-5);
    }
  });
}

TEST(DistributedDataParallel, AModelMayLieOnSeveralDevices) {
  struct Split : BranchImpl {
    Tensor forward(const Tensor& x) {
      const Tensor h = tanh(first(x.to(first->weight.device())));
      return last((h + second(h)).to(last->weight.device())).cpu();
    }
  };
  run_group(2, [](const ProcessGroupPtr& group) {
    const auto net = std::make_shared<Split>();
    fill_values(*net);
    net->first->to(Device(kSim, 0));
    net->second->to(Device(kSim, 0));
    net->last->to(Device(kSim, 1));
    DistributedDataParallel ddp(net, {.process_group = group, .bucket_cap_mb = 2e-4});
    for (int pass = 0; pass < 3; ++pass) {
      net->zero_grad();
      const int64_t begin = 4 * group->rank();
      ddp(batch_rows(begin, begin + 4, 6)).pow(2).mean().backward();
      expect_close(gradients_of(*net), reference(8), 1e-5);
    }
  });
}

TEST(DistributedDataParallel, APassThatAnErrorEndsLeavesNothingBehind) {
  run_group(2, [](const ProcessGroupPtr& group) {
    Branch net = make_branch();
    DistributedDataParallel ddp(net, {.process_group = group});
    bool fails = true;
    net->first->weight.register_hook([&](const Tensor&) -> Tensor {
      if (fails) throw Error("the program's own");
      return {};
    });
    EXPECT_THAT(error_of([&] { step(ddp, group); }),
                HasSubstr("the program's own"));  // on both ranks
    fails = false;
    net->zero_grad();
    step(ddp, group);
    expect_close(gradients_of(*net), reference(8), 1e-6);
  });
}

// A job of processes, of which one dies in backward.
Role dies_in_backward("ddp_dies_in_backward", [] {
  distributed::init_process_group(
      "gloo", {.world_size = world_size(), .rank = own_rank(), .store = common_store()});
  Branch net = make_branch();
  DistributedDataParallel ddp(net, {.bucket_cap_mb = 2e-4});
  for (int pass = 0; pass < 3; ++pass) {
    if (pass == 2 && own_rank() == 1)
      net->second->weight.register_hook([](const Tensor&) -> Tensor {
        ::raise(SIGKILL);
        return {};
      });
    step(ddp, distributed::default_group());
  }
  return 0;
});

TEST(DistributedDataParallel, ARankThatDiesInBackwardIsNamedByTheOthers) {
  const MeetingPlace place;
  const auto ranks = start_ranks("ddp_dies_in_backward", 3, place);
  EXPECT_EQ(ranks[1]->wait(), -SIGKILL);
  for (const int r : {0, 2}) {
    const std::string said = ranks[static_cast<size_t>(r)]->line();
    EXPECT_THAT(said, HasSubstr("rank 1 is gone"));
    EXPECT_THAT(said, HasSubstr("all_reduce #"));
    EXPECT_THAT(said, HasSubstr("ddp_test.cpp:"));
    EXPECT_EQ(ranks[static_cast<size_t>(r)]->wait(), 1);
  }
}

TEST(DistributedDataParallel, SaysWhatIsWrongWithItsArguments) {
  run_group(1, [](const ProcessGroupPtr& group) {
    Branch net = make_branch();
    const auto error = [&](DistributedDataParallelOptions options) {
      options.process_group = group;
      return error_of([&] { DistributedDataParallel ddp(net, options); });
    };
    EXPECT_THAT(error({.device_ids = {{0, 1}}}), HasSubstr("contain a single element, got 2"));
    EXPECT_THAT(error({.device_ids = {{0}}}), HasSubstr("the parameters are on cpu; move"));
    EXPECT_THAT(error({.bucket_cap_mb = 0}), HasSubstr("positive bucket_cap_mb, got 0"));
    net->requires_grad_(false);
    EXPECT_THAT(error({}), HasSubstr("doesn't have any parameters that require a gradient"));
  });
  EXPECT_THAT(error_of([] { DistributedDataParallel ddp(make_branch()); }),
              HasSubstr("Default process group has not been initialized"));
}

TEST(DistributedDataParallel, StateAndTextAreThoseOfPyTorch) {
  run_group(1, [](const ProcessGroupPtr& group) {
    DistributedDataParallel ddp(make_branch(), {.process_group = group});
    EXPECT_EQ(ddp->state_dict().keys()[0], "module.first.weight");
    EXPECT_THAT(ddp->repr(), testing::StartsWith("DistributedDataParallel(\n  (module): Branch("));
    EXPECT_EQ(ddp->module()->first->weight.sizes(), IntArrayRef({8, 6}));
  });
}

TEST(DistributedDataParallel, IsOneOfThePlansOfEquivalence) {
  const equivalence::Batch batch{batch_rows(0, 12, 6), batch_rows(0, 12, 3, 1)};
  const auto make = [] { return nn::Sequential(nn::Linear(6, 5), nn::Tanh(), nn::Linear(5, 3)); };
  for (const Device device : {Device(kCPU), Device(kSim, 0)}) {
    const auto found = equivalence::check_parallel_equivalence(
        make, batch,
        {equivalence::DistributedDataParallel(2), equivalence::DistributedDataParallel(3)},
        {.device = device, .loss = nullptr, .tolerance = {}});
    EXPECT_EQ(found[1].plan, "DistributedDataParallel(3)");
    EXPECT_LT(found[1].gradient, 1e-4);
  }
  EXPECT_THAT(error_of([&] {
                equivalence::check_parallel_equivalence(
                    make, batch, {equivalence::DistributedDataParallel(5)},
                    {.device = kCPU, .loss = nullptr, .tolerance = {}});
              }),
              HasSubstr("divided by the number of ranks, got 12"));
}

}  // namespace
}  // namespace taeda
