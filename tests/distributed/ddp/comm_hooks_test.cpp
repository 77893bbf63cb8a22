// Communication hooks of DistributedDataParallel.
#include "taeda/distributed/ddp/comm_hooks.h"

#include <gmock/gmock.h>

#include "taeda/distributed/ddp/power_sgd.h"
#include "tests/distributed/ddp/models.h"

namespace taeda {
namespace {

namespace hooks = distributed::algorithms::ddp_comm_hooks::default_hooks;
namespace power = distributed::algorithms::ddp_comm_hooks::powerSGD_hook;
using distributed::CommHook;
using distributed::DistributedDataParallel;
using distributed::GradBucket;
using distributed::ProcessGroupPtr;
using testing::HasSubstr;

nn::Sequential make_layers() {
  nn::Sequential net(nn::Linear(16, 12), nn::Tanh(), nn::Linear(12, 10));
  fill_values(*net);
  return net;
}

/// Gradients after some passes, of one process or of rank r's part of the batch.
template <class Model>
void one_pass(Model& model, nn::Module& net, int64_t begin, int64_t end) {
  net.zero_grad();
  model(batch_rows(begin, end, 16)).pow(2).mean().backward();
}

std::vector<Tensor> expected_gradients(int64_t n) {
  nn::Sequential net = make_layers();
  one_pass(net, *net, 0, n);
  return gradients_of(*net);
}

using Register =
    std::function<void(DistributedDataParallel<nn::SequentialImpl>&, const ProcessGroupPtr&)>;

void expect_average(const Register& add_hook, double tolerance, int passes = 2) {
  const std::vector<Tensor> want = expected_gradients(8);
  run_group(2, [&](const ProcessGroupPtr& group) {
    nn::Sequential net = make_layers();
    DistributedDataParallel ddp(net, {.process_group = group, .bucket_cap_mb = 8e-4});
    add_hook(ddp, group);
    for (int pass = 0; pass < passes; ++pass)
      one_pass(ddp, *net, 4 * group->rank(), 4 * group->rank() + 4);
    expect_close(gradients_of(*net), want, tolerance);
  });
}

TEST(CommHooks, GiveTheAverage) {
  expect_average([](auto& ddp, auto& g) { ddp->register_comm_hook(g, hooks::allreduce_hook); },
                 1e-6);
  expect_average([](auto& ddp, auto& g) { ddp->register_comm_hook(g, hooks::fp16_compress_hook); },
                 2e-4);
  expect_average([](auto& ddp, auto& g) { ddp->register_comm_hook(g, hooks::bf16_compress_hook); },
                 2e-3);
}

TEST(CommHooks, CompressedGradientsTravelInTheirDtype) {
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    const auto wrap = dtype == kHalf ? hooks::fp16_compress_wrapper : hooks::bf16_compress_wrapper;
    expect_average(
        [&](auto& ddp, auto& group) {
          const CommHook seen = [group, dtype](GradBucket& bucket) {
            EXPECT_EQ(bucket.buffer().dtype(), dtype);
            return hooks::allreduce_hook(group, bucket);
          };
          ddp->register_comm_hook(wrap(seen),
                                  [](const CommHook& h, GradBucket& b) { return h(b); });
        },
        dtype == kHalf ? 2e-4 : 2e-3);
  }
}

TEST(CommHooks, SeeTheirBucketsPartsAndParameters) {
  run_group(2, [](const ProcessGroupPtr& group) {
    nn::Sequential net = make_layers();
    DistributedDataParallel ddp(net, {.process_group = group, .bucket_cap_mb = 8e-4});
    size_t last = 0, parameters = 0;
    ddp->register_comm_hook(group, [&](const ProcessGroupPtr& g, GradBucket& bucket) {
      last += bucket.is_last();
      int64_t n = 0;
      for (size_t i = 0; i < bucket.parameters().size(); ++i) {
        EXPECT_EQ(bucket.gradients()[i].sizes(), bucket.parameters()[i].sizes());
        n += bucket.gradients()[i].numel();
      }
      EXPECT_EQ(n, bucket.buffer().numel());
      parameters += bucket.parameters().size();
      bucket.gradients()[0].zero_();  // a part of the buffer
      return hooks::allreduce_hook(g, bucket);
    });
    one_pass(ddp, *net, 0, 4);
    EXPECT_EQ(last, 1u);
    EXPECT_EQ(parameters, 4u);
    size_t zeros_found = 0;
    for (const Tensor& g : gradients_of(*net))
      zeros_found += g.count_nonzero().item<int64_t>() == 0;
    EXPECT_GE(zeros_found, 2u);  // one of each bucket
    EXPECT_THAT(error_of([&] { ddp->register_comm_hook(group, hooks::allreduce_hook); }),
                HasSubstr("can only be called once"));
  });
}

Register low_rank(power::PowerSGDOptions options) {
  return [=](auto& ddp, auto& group) {
    ddp->register_comm_hook(std::make_shared<power::PowerSGDState>(group, options),
                            power::powerSGD_hook);
  };
}

TEST(PowerSGD, IsTheAverageBeforeItBeginsAndWithAllRanksOfTheMatrix) {
  expect_average(low_rank({.start_powerSGD_iter = 5}), 1e-6);
  expect_average(low_rank({.matrix_approximation_rank = 16,
                           .start_powerSGD_iter = 2,
                           .min_compression_rate = 0.01}),
                 1e-5, 6);
}

TEST(PowerSGD, CompressesWhatAWrapperHasRounded) {
  expect_average(
      [](auto& ddp, auto& group) {
        const auto state = std::make_shared<power::PowerSGDState>(
            group, power::PowerSGDOptions{.matrix_approximation_rank = 16,
                                          .start_powerSGD_iter = 2,
                                          .min_compression_rate = 0.01});
        const CommHook low_rank_hook = [state](GradBucket& bucket) {
          return power::powerSGD_hook(state, bucket);
        };
        ddp->register_comm_hook(hooks::bf16_compress_wrapper(low_rank_hook),
                                [](const CommHook& h, GradBucket& b) { return h(b); });
      },
      1e-2, 4);
}

TEST(PowerSGD, WhatIsLostIsAddedToTheNextPasses) {
  // Of the same gradient in every pass, the mean of what was given comes closer to the true one.
  const std::vector<Tensor> want = expected_gradients(8);
  run_group(2, [&](const ProcessGroupPtr& group) {
    nn::Sequential net = make_layers();
    DistributedDataParallel ddp(net, {.process_group = group});
    low_rank({.start_powerSGD_iter = 2, .min_compression_rate = 0.5})(ddp, group);
    Tensor sum;
    std::vector<double> error;
    for (int pass = 0; pass < 42; ++pass) {
      one_pass(ddp, *net, 4 * group->rank(), 4 * group->rank() + 4);
      if (pass < 2) continue;
      const Tensor given = net->parameters()[0].grad().clone();
      sum = sum.defined() ? sum + given : given;
      error.push_back(distance(sum / (pass - 1), want[0]));
    }
    EXPECT_GT(error.front(), 1e-4);  // one outer product is not the gradient
    EXPECT_LT(error.back(), 0.2 * error.front());
    EXPECT_LT(distance(net->parameters()[1].grad(), want[1]), 1e-6);  // a vector travels whole
  });
}

TEST(PowerSGD, SaysWhatIsWrongWithItsOptions) {
  EXPECT_THAT(error_of([] { power::PowerSGDState({}, {.matrix_approximation_rank = 0}); }),
              HasSubstr("at least 1, got 0"));
  EXPECT_THAT(error_of([] { power::PowerSGDState({}, {.start_powerSGD_iter = 1}); }),
              HasSubstr("Expect `start_powerSGD_iter` > 1"));
}

}  // namespace
}  // namespace taeda
