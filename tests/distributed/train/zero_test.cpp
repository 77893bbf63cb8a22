// An optimizer spread over ranks against the plain one: the same bits.
#include <gmock/gmock.h>

#include <numeric>

#include "taeda/amp/grad_scaler.h"
#include "taeda/distributed/zero/zero_redundancy_optimizer.h"
#include "taeda/io/checkpoint.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/optim/optim.h"
#include "tests/distributed/group/ranks.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using distributed::ProcessGroup;
using distributed::ProcessGroupPtr;
using distributed::ZeroOptions;
using distributed::ZeroRedundancyOptimizer;
using testing::HasSubstr;

/// Parameters of several sizes, dtypes and memory orders.
std::vector<Tensor> parameters_of_seven() {
  std::vector<Tensor> out;
  const auto values = [](IntArrayRef sizes) {
    int64_t n = 1;
    for (const int64_t s : sizes) n *= s;
    return (arange(n).to(kFloat) * 0.01 - 0.2).view(sizes);
  };
  for (const std::vector<int64_t>& sizes :
       std::vector<std::vector<int64_t>>{{30, 7}, {7}, {2, 3, 4, 5}, {11, 11}, {64}, {1}})
    out.push_back(values(sizes));
  out[2] = out[2].contiguous(MemoryFormat::ChannelsLast);
  out[3] = out[3].to(kDouble);
  out.push_back(values({9, 2}).to(kBFloat16));
  for (Tensor& t : out) t.requires_grad_();
  return out;
}

/// The same gradients in all ranks. One parameter gets none.
void make_gradients(const std::vector<Tensor>& params, int step) {
  for (size_t i = 0; i < params.size(); ++i)
    if (i != 5)
      params[i].mutable_grad() = (params[i].detach() * (0.3 * static_cast<double>(i + 1)) + step);
}

template <class Optimizer>
void steps(Optimizer& optimizer, const std::vector<Tensor>& params, int from, int to) {
  for (int i = from; i < to; ++i) {
    make_gradients(params, i);
    optimizer.step();
    optimizer.param_groups()[0].set_lr(optimizer.param_groups()[0].get_lr() * 0.9);
  }
}

void expect_same(const std::vector<Tensor>& got, const std::vector<Tensor>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(got[i].detach().equal(want[i].detach())) << "parameter " << i;
}

void expect_same(const optim::OptimizerState& got, const optim::OptimizerState& want) {
  EXPECT_EQ(got.kind, want.kind);
  ASSERT_EQ(got.tensors.size(), want.tensors.size());
  ASSERT_EQ(got.numbers.size(), want.numbers.size());
  for (const auto& item : want.tensors) {
    EXPECT_EQ(got.tensors[item.key()].dtype(), item.value().dtype());
    EXPECT_TRUE(got.tensors[item.key()].equal(item.value())) << item.key();
  }
  for (const auto& item : want.numbers) EXPECT_EQ(got.numbers[item.key()], item.value());
}

ZeroOptions options_of(ProcessGroup& g, bool views = false) {
  return {ProcessGroupPtr(std::shared_ptr<void>(), &g), views};
}

/// Steps, a state that goes on in another optimizer, and steps again: with groups of their own.
template <class Base, class Options>
void check(const Options& options) {
  const auto groups = [&](const std::vector<Tensor>& p) {
    auto second = std::make_unique<Options>(options);
    second->lr(0.05);
    std::vector<optim::OptimizerParamGroup> out;
    out.emplace_back(std::vector<Tensor>(p.begin(), p.begin() + 4));
    out.emplace_back(std::vector<Tensor>(p.begin() + 4, p.end()), std::move(second));
    return out;
  };
  const std::vector<Tensor> want = parameters_of_seven();
  Base plain(groups(want), options);
  steps(plain, want, 0, 3);
  optim::OptimizerState state = plain.state_dict();
  for (auto& item : state.tensors) item.value() = item.value().clone();
  const std::vector<Tensor> halfway = [&] {
    std::vector<Tensor> out;
    for (const Tensor& t : want) out.push_back(t.detach().clone());
    return out;
  }();
  steps(plain, want, 3, 5);
  for (const int ranks : {1, 2, 3})
    for (const bool views : {false, true})
      run_ranks(ranks, [&](ProcessGroup& g) {
        const std::vector<Tensor> mine = parameters_of_seven();
        ZeroRedundancyOptimizer<Base> first(groups(mine), options, options_of(g, views));
        steps(first, mine, 0, 3);
        expect_same(mine, halfway);
        first.consolidate_state_dict(ranks - 1);
        if (g.rank() == ranks - 1) expect_same(first.state_dict(), state);
        ZeroRedundancyOptimizer<Base> second(groups(mine), options, options_of(g, views));
        second.load_state_dict(g.rank() == 0 ? state : first.local_state_dict());
        steps(second, mine, 3, 5);
        expect_same(mine, want);
      });
}

TEST(Zero, EveryOptimizerHasTheBitsOfThePlainOne) {
  check<optim::Adam>(optim::AdamOptions(0.01).weight_decay(0.1).amsgrad(true));
  check<optim::AdamW>(optim::AdamWOptions(0.01));
  check<optim::SGD>(optim::SGDOptions(0.01).momentum(0.9).nesterov(true));
  check<optim::SGD>(optim::SGDOptions(0.01));
  check<optim::RMSprop>(optim::RMSpropOptions(0.01).momentum(0.5).centered(true));
  check<optim::Adagrad>(optim::AdagradOptions(0.01).lr_decay(0.1));
}

/// Bytes of all tensors of a state.
int64_t bytes_of(const optim::OptimizerState& state) {
  int64_t out = 0;
  for (const auto& item : state.tensors) out += item.value().nbytes();
  return out;
}

TEST(Zero, EachRankKeepsItsShareOfTheState) {
  std::vector<int64_t> bytes(4), owned(10);
  run_ranks(4, [&](ProcessGroup& g) {
    std::vector<Tensor> params;
    for (int64_t i = 0; i < 10; ++i) params.push_back(ones({100 + i}).requires_grad_());
    ZeroRedundancyOptimizer<optim::Adam> optimizer(params, optim::AdamOptions(), options_of(g));
    for (const Tensor& p : params) p.mutable_grad() = ones_like(p.detach());
    optimizer.step();
    bytes[static_cast<size_t>(g.rank())] = bytes_of(optimizer.local_state_dict());
    for (size_t i = 0; i < 10; ++i) {
      EXPECT_EQ(optimizer.state(params[i]).tensors[0].defined(), optimizer.owner(i) == g.rank());
      EXPECT_TRUE(params[i].grad().defined()) << "is there for who looks at gradients";
    }
    // PyTorch's: the largest first, each to who has least.
    if (g.rank() == 0)
      for (size_t i = 0; i < 10; ++i) owned[i] = optimizer.owner(i);
  });
  EXPECT_EQ(owned, (std::vector<int64_t>{1, 0, 0, 1, 2, 3, 3, 2, 1, 0}));
  const int64_t whole = 2 * 4 * (1000 + 45);
  EXPECT_EQ(std::accumulate(bytes.begin(), bytes.end(), int64_t{0}), whole);
  for (const int64_t b : bytes) EXPECT_LE(b, whole * 3 / 10);
}

TEST(Zero, ClosuresSchedulesScalersAndNewGroups) {
  const auto train = [](auto& optimizer, const Tensor& a, const Tensor& b) {
    optim::StepLR schedule(optimizer, 1, 0.5);
    amp::GradScaler scaler(kCPU, 4.0);
    for (int i = 0; i < 3; ++i) {
      optimizer.zero_grad();
      const Tensor loss = optimizer.step([&] {
        const Tensor l = a.square().sum() + b.mul(3).sum();
        l.backward();
        return l;
      });
      EXPECT_GT(loss.item<float>(), 0);
      schedule.step();
    }
    const Tensor later = full({5}, 2.0).requires_grad_();
    optimizer.add_param_group(std::vector<Tensor>{later});
    optimizer.zero_grad();
    scaler.scale(a.square().sum() + later.square().sum() + b.sum()).backward();
    scaler.step(optimizer);
    scaler.update();
    return later.detach();
  };
  const auto make = [] {
    return std::pair(full({3}, 1.5).requires_grad_(), full({4}, 2.5).requires_grad_());
  };
  const auto [a, b] = make();
  optim::Adam plain({a, b}, optim::AdamOptions(0.1));
  const Tensor want = train(plain, a, b);
  run_ranks(2, [&, a = a, b = b](ProcessGroup& g) {
    const auto [c, d] = make();
    ZeroRedundancyOptimizer<optim::Adam> zero(std::vector<Tensor>{c, d}, optim::AdamOptions(0.1),
                                              options_of(g, true));
    const Tensor got = train(zero, c, d);
    expect_same({c, d, got}, {a, b, want});
  });
}

TEST(Zero, AModelInViewsGoesOnAfterItMoved) {
  const nn::Linear original(4, 3);
  run_ranks(2, [&](ProcessGroup& g) {
    nn::Linear model(4, 3), plain_model(4, 3);
    model->load_state_dict(original->state_dict());
    plain_model->load_state_dict(original->state_dict());
    optim::SGD plain(plain_model->parameters(), optim::SGDOptions(0.1));
    ZeroRedundancyOptimizer<optim::SGD> zero(model->parameters(), optim::SGDOptions(0.1),
                                             options_of(g, true));
    const auto step = [](nn::Linear& m, optim::Optimizer& o) {
      o.zero_grad();
      m(ones({2, 4}, m->weight.options())).square().sum().backward();
      o.step();
    };
    step(model, zero);
    step(plain_model, plain);
    model->to(kDouble);
    plain_model->to(kDouble);
    step(model, zero);
    step(plain_model, plain);
    expect_same(model->parameters(), plain_model->parameters());
  });
}

TEST(Zero, SaysWhatIsMissing) {
  const auto errors = errors_of_ranks(2, [](ProcessGroup& g) {
    const Tensor a = ones({3}).requires_grad_(), b = ones({4}).requires_grad_();
    ZeroRedundancyOptimizer<optim::Adam> zero(std::vector<Tensor>{a, b}, optim::AdamOptions(),
                                              options_of(g));
    EXPECT_EQ(error_of([&] { zero.consolidate_state_dict(2); }),
              "consolidate_state_dict: expected a rank from 0 to 1, got 2");
    EXPECT_EQ(error_of([&] { zero.owner(2); }),
              "ZeroRedundancyOptimizer: there are fewer parameters");
    zero.consolidate_state_dict();
    io::Checkpoint file;
    file.put("optimizer", static_cast<const optim::Optimizer&>(zero));
  });
  EXPECT_EQ(errors[0], "no error");
  EXPECT_EQ(errors[1],
            "Optimizer state has not been consolidated on this rank. Please call "
            "`consolidate_state_dict(to=1)` on all ranks beforehand if you meant to save the "
            "global state.");
}

}  // namespace
}  // namespace taeda
