// Batch normalisation over ranks against one process's with the joined batch.
#include "taeda/distributed/sync_batch_norm.h"

#include <gmock/gmock.h>

#include "taeda/amp/autocast.h"
#include "taeda/autograd/engine.h"
#include "taeda/device/registry.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "tests/distributed/group/meeting_place.h"
#include "tests/distributed/group/ranks.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using distributed::ProcessGroup;
using distributed::ProcessGroupPtr;
using testing::HasSubstr;

constexpr int64_t kChannels = 3;

ProcessGroupPtr pointer_to(ProcessGroup& group) { return {std::shared_ptr<void>(), &group}; }

struct Case {
  std::vector<int64_t> counts;   ///< examples of each rank
  std::vector<int64_t> spatial;  ///< sizes behind the channels
  ScalarType dtype = kFloat;
  MemoryFormat format = MemoryFormat::Contiguous;
  std::optional<double> momentum = 0.1;
  Device device = kCPU;
};

/// What a step makes of a batch.
struct Step {
  Tensor out, grad, weight_grad, bias_grad, mean, var;
  int64_t batches;
};

nn::BatchNormOptions options_of(const Case& c) {
  return {.num_features = kChannels, .momentum = c.momentum};
}

/// Two batches: with momentum None the second counts otherwise.
template <class Norm>
Step run_norm(Norm& norm, const Tensor& x, const Tensor& weights) {
  const Tensor leaf = x.detach().requires_grad_();
  norm(x.detach() * 2);
  const Tensor out = norm(leaf);
  out.mul(weights).sum().backward();
  return {out.detach(),
          leaf.grad(),
          norm->weight.grad(),
          norm->bias.grad(),
          norm->running_mean,
          norm->running_var,
          norm->num_batches_tracked.template item<int64_t>()};
}

template <class Norm>
void prepare(Norm& norm, const Case& c) {
  const NoGradGuard values_only;
  norm->to(c.device, c.dtype == kDouble ? kDouble : kFloat);
  norm->weight.copy_(arange(kChannels) + 0.5);
  norm->bias.copy_(arange(kChannels) - 1);
}

void expect_close(const Tensor& got, const Tensor& want, ScalarType dtype, const char* what) {
  const double tolerance = dtype == kDouble ? 1e-11 : dtype == kFloat ? 2e-5 : 3e-2;
  EXPECT_EQ(got.sizes(), want.sizes()) << what;
  EXPECT_EQ(got.dtype(), want.dtype()) << what;
  EXPECT_TRUE(allclose(got.cpu(), want.cpu(), tolerance, tolerance))
      << what << ": " << got.cpu() << " is not " << want.cpu();
}

/// The joined batch, far from zero, and what its output's sum is weighted with.
std::pair<Tensor, Tensor> batch_of(const Case& c) {
  int64_t n = 0;
  for (const int64_t count : c.counts) n += count;
  DimVector sizes = {n, kChannels};
  for (const int64_t s : c.spatial) sizes.push_back(s);
  manual_seed(7);
  const Tensor x = (randn(sizes, kDouble) + 5).to(c.dtype), w = randn(sizes, kDouble).to(c.dtype);
  return {x.contiguous(c.format).to(c.device), w.contiguous(c.format).to(c.device)};
}

template <class Norm>
void check(const Case& c) {
  const auto batch = batch_of(c);
  const Tensor &x = batch.first, &w = batch.second;  // which closures below take
  Norm whole(options_of(c));
  prepare(whole, c);
  const Step want = run_norm(whole, x, w);
  const int ranks = static_cast<int>(c.counts.size());
  std::vector<Step> steps(c.counts.size());
  run_ranks(ranks, [&](ProcessGroup& g) {
    const auto rank = static_cast<size_t>(g.rank());
    int64_t begin = 0;
    for (size_t r = 0; r < rank; ++r) begin += c.counts[r];
    nn::SyncBatchNorm norm(options_of(c), pointer_to(g));
    prepare(norm, c);
    const auto part = [&](const Tensor& t) { return t.narrow(0, begin, c.counts[rank]); };
    const Step got = steps[rank] = run_norm(norm, part(x), part(w));
    expect_close(got.out, part(want.out), c.dtype, "output");
    expect_close(got.grad, part(want.grad), c.dtype, "gradient");
    expect_close(got.mean, want.mean, c.dtype, "running mean");
    expect_close(got.var, want.var, c.dtype, "running variance");
    EXPECT_EQ(got.batches, 2);
    EXPECT_TRUE(c.counts[rank] == 0 || got.out.is_contiguous(c.format));
  });
  Tensor weight_grad = zeros_like(want.weight_grad), bias_grad = zeros_like(want.bias_grad);
  for (const Step& s : steps) {
    weight_grad = weight_grad + s.weight_grad;
    bias_grad = bias_grad + s.bias_grad;
    EXPECT_TRUE(s.mean.equal(steps[0].mean) && s.var.equal(steps[0].var)) << "not the same bits";
  }
  // Sums of many products of 16-bit numbers, each rounded where it was made.
  expect_close(weight_grad, want.weight_grad, c.dtype == kBFloat16 ? kBFloat16 : c.dtype, "weight");
  expect_close(bias_grad, want.bias_grad, c.dtype, "bias");
}

TEST(SyncBatchNorm, EqualsOneProcessWithTheJoinedBatch) {
  for (const std::vector<int64_t>& counts :
       std::vector<std::vector<int64_t>>{{6}, {3, 3}, {4, 1}, {2, 5, 3}, {3, 0, 2, 1}})
    for (const ScalarType dtype : {kFloat, kDouble, kBFloat16}) {
      SCOPED_TRACE(std::to_string(counts.size()) + " ranks, " + dtype_name(dtype));
      check<nn::BatchNorm1d>({.counts = counts, .spatial = {}, .dtype = dtype});
      check<nn::BatchNorm2d>({.counts = counts, .spatial = {4, 5}, .dtype = dtype});
    }
}

TEST(SyncBatchNorm, TakesAllKindsOfInputs) {
  check<nn::BatchNorm1d>({.counts = {3, 2}, .spatial = {7}});
  check<nn::BatchNorm3d>({.counts = {1, 2, 0}, .spatial = {2, 3, 4}});
  check<nn::BatchNorm2d>(
      {.counts = {3, 0, 2}, .spatial = {4, 5}, .format = MemoryFormat::ChannelsLast});
  check<nn::BatchNorm2d>({.counts = {2, 2},
                          .spatial = {4, 5},
                          .dtype = kBFloat16,
                          .format = MemoryFormat::ChannelsLast});
  check<nn::BatchNorm2d>({.counts = {2, 3}, .spatial = {4, 5}, .momentum = std::nullopt});
}

TEST(SyncBatchNorm, OnAnAccelerator) {
  check<nn::BatchNorm2d>({.counts = {2, 3}, .spatial = {4, 5}, .device = Device(kSim, 0)});
}

/// A module whose member has the type of the layer that is converted.
struct NetImpl : nn::Module {
  NetImpl() {
    conv = register_module("conv", nn::Conv2d(2, kChannels, 3));
    norm = register_module("norm", nn::BatchNorm2d(kChannels));
    tail = register_module("tail", nn::Sequential(nn::ReLU(), nn::BatchNorm2d(kChannels)));
  }
  Tensor forward(const Tensor& x) { return tail->forward(norm(conv(x))); }
  nn::Conv2d conv{nullptr};
  nn::BatchNorm2d norm{nullptr};
  nn::Sequential tail{nullptr};
};
TAEDA_MODULE(Net);

TEST(SyncBatchNorm, ConvertsLayersWhereTheyAre) {
  manual_seed(1);
  Net net;
  const Tensor x = randn({5, 2, 6, 6});
  const auto twin = [&] {
    Net out;
    out->load_state_dict(net->state_dict());
    return out;
  };
  Net whole = twin(), second = twin();
  const Tensor want = whole(x), again = whole(x);
  run_ranks(2, [&](ProcessGroup& g) {
    Net mine =
        nn::SyncBatchNorm::convert_sync_batchnorm(g.rank() == 0 ? net : second, pointer_to(g));
    EXPECT_THAT(taeda::detail::concat(mine), HasSubstr("track_running_stats=True, shared=True"));
    const int64_t begin = g.rank() * 2, count = 2 + g.rank();
    expect_close(mine(x.narrow(0, begin, count)), want.narrow(0, begin, count), kFloat, "output");
    mine(x.narrow(0, begin, count));
    expect_close(mine->norm->running_var, whole->norm->running_var, kFloat, "running variance");
    // Each by itself: nobody else calls it now.
    mine->eval();
    if (g.rank() == 0) {
      whole->eval();
      expect_close(mine(x), whole(x), kFloat, "evaluation");
    }
  });
}

TEST(SyncBatchNorm, UnderAutocast) {
  manual_seed(2);
  const Tensor x = randn({6, 2, 6, 6});
  Net reference;
  const auto run = [](Net& net, const Tensor& part) {
    const amp::autocast on(kCPU, kBFloat16);
    const Tensor out = net(part);
    out.to(kFloat).square().mean().backward();
    return out.detach();
  };
  const auto state = reference->state_dict();
  Net whole;
  whole->load_state_dict(state);
  const Tensor want = run(whole, x);
  EXPECT_EQ(want.dtype(), kBFloat16);
  run_ranks(2, [&](ProcessGroup& g) {
    Net net;
    net->load_state_dict(state);
    nn::SyncBatchNorm::convert_sync_batchnorm(net, pointer_to(g));
    const Tensor got = run(net, x.narrow(0, 3 * g.rank(), 3));
    expect_close(got, want.narrow(0, 3 * g.rank(), 3), kBFloat16, "output");
    EXPECT_EQ(net->norm->weight.grad().dtype(), kFloat);
  });
}

/// A second run restores the random numbers of its process, so ranks cannot be threads of one.
int checkpointed_norm() {
  const auto store = common_store();
  const auto g = ProcessGroup::create("gloo", store, own_rank(), world_size());
  manual_seed(3);
  const Tensor x = randn({4, kChannels});
  nn::BatchNorm1d whole(kChannels);
  whole(x);
  nn::SyncBatchNorm norm(kChannels, g);
  const Tensor part = x.narrow(0, 2 * g->rank(), 2).detach().requires_grad_();
  utils::checkpoint::checkpoint(norm, part).square().sum().backward();
  const bool right = norm->num_batches_tracked.item<int64_t>() == 1 && part.grad().defined() &&
                     allclose(norm->running_var, whole->running_var);
  return right ? 0 : 2;
}
const Role checkpointed_norm_role("checkpointed_norm", checkpointed_norm);

TEST(SyncBatchNorm, RunAgainInACheckpointItCountsOnce) {
  const MeetingPlace place;
  for (const auto& rank : start_ranks("checkpointed_norm", 2, place)) EXPECT_EQ(rank->wait(), 0);
}

TEST(SyncBatchNorm, AloneItIsABatchNorm) {
  const Tensor x = arange(12).to(kFloat).view({4, kChannels});
  nn::SyncBatchNorm sync(kChannels);  // there is no default group
  nn::BatchNorm1d one(kChannels);
  EXPECT_TRUE(sync(x).equal(one(x)));
  EXPECT_THAT(error_of([&] { sync(ones({3})); }),
              HasSubstr("expected at least 2D input (got 1D input)"));
}

TEST(SyncBatchNorm, RefusesWhatItCannotDo) {
  const auto errors = errors_of_ranks(2, [](ProcessGroup& g) {
    nn::SyncBatchNorm norm(kChannels, pointer_to(g));
    norm(ones({g.rank(), kChannels}));
  });
  EXPECT_THAT(errors[1],
              HasSubstr("Expected more than 1 value per channel when training, got input "
                        "size [1, 3] and nothing in the other processes"));
  EXPECT_THAT(errors[0], HasSubstr("got input size [0, 3]"));
  for (const std::string& error : errors_of_ranks(2, [](ProcessGroup& g) {
         nn::SyncBatchNorm norm(kChannels, pointer_to(g));
         const Tensor x = randn({4, kChannels}).requires_grad_();
         autograd::grad({norm(x).square().sum()}, {x}, {}, {}, /*create_graph=*/true);
       }))
    EXPECT_THAT(error, HasSubstr("SyncBatchNorm: the gradient of its gradient is not implemented"));
}

TEST(SyncBatchNorm, NobodyHasAnything) {
  run_ranks(2, [](ProcessGroup& g) {
    nn::SyncBatchNorm norm(kChannels, pointer_to(g));
    const Tensor x = ones({0, kChannels}).requires_grad_();
    norm(x).sum().backward();
    EXPECT_EQ(x.grad().sizes(), x.sizes());
    EXPECT_TRUE(norm->running_mean.equal(zeros({kChannels})));
    EXPECT_TRUE(norm->running_var.equal(ones({kChannels})));
  });
}

}  // namespace
}  // namespace taeda
