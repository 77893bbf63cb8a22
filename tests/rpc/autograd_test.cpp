// Gradients through calls: the same as those of one process.

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/function.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/optim/adam.h"
#include "taeda/optim/sgd.h"
#include "taeda/rpc/dist_autograd.h"
#include "taeda/rpc/distributed_optimizer.h"
#include "taeda/rpc/remote_module.h"
#include "tests/error_of.h"
#include "tests/rpc/functions.h"
#include "tests/rpc/workers.h"

namespace taeda::distributed::rpc {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Tensor weighted(const Tensor& x, const Tensor& w) { return tanh(matmul(x, w)); }

/// Applies `weighted` at the next of three workers, and there at the next again, `depth` times.
Tensor chain(const Tensor& x, const Tensor& w, int64_t depth) {
  const Tensor y = weighted(x, w);
  if (depth == 0) return y;
  const int64_t next = (get_worker_info().id + 1) % 3;
  return rpc_sync(next, chain, {y, w, depth - 1}) + y;
}

/// A parameter that stays at the worker.
Tensor make_parameter(double value) { return full({3, 3}, value).requires_grad_(); }
Tensor times_parameter(const Tensor& x, const RRef<Tensor>& parameter) {
  return matmul(x, parameter.is_owner() ? parameter.local_value() : parameter.to_here());
}
Tensor gradient_of(const RRef<Tensor>& parameter, int64_t context_id) {
  return dist_autograd::get_gradients(context_id).at(parameter.local_value());
}
int64_t known_gradients(int64_t context_id) {
  return static_cast<int64_t>(dist_autograd::get_gradients(context_id).size());
}

struct FailsBackward : autograd::Function<FailsBackward> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x * 1; }
  static autograd::variable_list backward(autograd::AutogradContext*, autograd::variable_list) {
    throw ValueError("no derivative today");
  }
};
Tensor fails_backward(const Tensor& x) { return FailsBackward::apply(x); }

TAEDA_RPC_FUNCTION(weighted);
TAEDA_RPC_FUNCTION(chain);
TAEDA_RPC_FUNCTION(make_parameter);
TAEDA_RPC_FUNCTION(times_parameter);
TAEDA_RPC_FUNCTION(gradient_of);
TAEDA_RPC_FUNCTION(known_gradients);
TAEDA_RPC_FUNCTION(fails_backward);

Tensor leaf(IntArrayRef sizes) { return randn(sizes).requires_grad_(); }

class DistAutograd : public testing::TestWithParam<Net> {
 protected:
  void SetUp() override {
    if (const std::string why = missing(GetParam()); !why.empty()) GTEST_SKIP() << why;
    manual_seed(0);
  }
  void run(int64_t size, const std::function<void()>& f) {
    run_workers(GetParam(), size, [&](int64_t rank) {
      if (rank == 0) f();
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Nets, DistAutograd, testing::Values(Net::Memory, Net::Grpc),
                         testing::PrintToStringParamName());

TEST_P(DistAutograd, OneCallHasTheGradientsOfOneProcess) {
  run(2, [] {
    const Tensor x = leaf({4, 3}), w = leaf({3, 3});
    const auto expected = autograd::grad({weighted(x, w).sum()}, {x, w});
    const dist_autograd::context context;
    const Tensor y = rpc_sync("worker1", weighted, {x, w});
    EXPECT_TRUE(y.requires_grad());
    dist_autograd::backward(context.id(), {y.sum()});
    const auto gradients = dist_autograd::get_gradients(context.id());
    EXPECT_EQ(gradients.size(), 2u);
    EXPECT_TRUE(gradients.at(x).equal(expected[0]));
    EXPECT_TRUE(gradients.at(w).equal(expected[1]));
    EXPECT_FALSE(x.grad().defined()) << "grad() is left alone";
    EXPECT_THAT(error_of([&] { gradients.at(y); }), HasSubstr("no gradient of this tensor"));
  });
}

TEST_P(DistAutograd, CallsThatCallOnHaveTheGradientsOfOneProcess) {
  run(3, [] {
    const Tensor x = leaf({4, 3}), w = leaf({3, 3});
    Tensor all, y = x;
    for (int i = 0; i < 8; ++i) {
      y = weighted(y, w);
      all = i == 0 ? y : all + y;
    }
    const auto expected = autograd::grad({all.sum()}, {x, w});
    const dist_autograd::context context;
    dist_autograd::backward(context.id(), {chain(x, w, 7).sum()});
    const auto gradients = dist_autograd::get_gradients(context.id());
    EXPECT_TRUE(gradients.at(x).allclose(expected[0]));
    EXPECT_TRUE(gradients.at(w).allclose(expected[1]));
  });
}

TEST_P(DistAutograd, CallsSideBySideMeetInOneTensor) {
  run(3, [] {
    const Tensor x = leaf({4, 3}), w = leaf({3, 3});
    const auto one = [&](const Tensor& in) { return weighted(in, w); };
    const Tensor once = one(x);
    Tensor sum = one(once);
    for (int i = 1; i < 12; ++i) sum = sum + one(once);
    const auto expected = autograd::grad({sum.sum()}, {x, w});

    const dist_autograd::context context;
    const Tensor remote_once = rpc_sync(1, weighted, {x, w});
    std::vector<Future<Tensor>> parts;
    for (int i = 0; i < 12; ++i) parts.push_back(rpc_async(i % 3, weighted, {remote_once, w}));
    Tensor total;
    for (const Tensor& part : wait_all(parts)) total = total.defined() ? total + part : part;
    dist_autograd::backward(context.id(), {total.sum()}, true);
    const auto first = dist_autograd::get_gradients(context.id());
    EXPECT_TRUE(first.at(x).allclose(expected[0]));
    EXPECT_TRUE(first.at(w).allclose(expected[1]));
    dist_autograd::backward(context.id(), {total.sum()});
    EXPECT_TRUE(dist_autograd::get_gradients(context.id()).at(x).allclose(expected[0] * 2))
        << "passes of one context add up";
  });
}

TEST_P(DistAutograd, ParametersThatStayElsewhereGetTheirGradientThere) {
  run(3, [] {
    const RRef<Tensor> at1 = remote("worker1", make_parameter, {0.5});
    const RRef<Tensor> at2 = remote("worker2", make_parameter, {-0.25});
    const Tensor x = leaf({4, 3}), w1 = make_parameter(0.5), w2 = make_parameter(-0.25);
    const auto expected = autograd::grad({matmul(matmul(x, w1), w2).sum()}, {x, w1, w2});
    const dist_autograd::context context;
    const Tensor y = rpc_sync("worker1", times_parameter, {x, at1});
    const Tensor z = rpc_sync("worker1", times_parameter, {y, at2});  // fetches it from worker 2
    dist_autograd::backward(context.id(), {z.sum()});
    EXPECT_TRUE(dist_autograd::get_gradients(context.id()).at(x).allclose(expected[0]));
    EXPECT_TRUE(rpc_sync("worker1", gradient_of, {at1, context.id()}).allclose(expected[1]));
    EXPECT_TRUE(rpc_sync("worker2", gradient_of, {at2, context.id()}).allclose(expected[2]));
  });
}

TEST_P(DistAutograd, MessagesWithoutPartInTheLossHoldNobodyUp) {
  run(3, [] {
    const Tensor x = leaf({4, 3}), w = leaf({3, 3});
    const dist_autograd::context context;
    const Tensor unused = chain(x, w, 4);
    const Tensor y = rpc_sync("worker1", weighted, {x, w});
    const Tensor also_unused = rpc_sync("worker2", weighted, {y, w});
    dist_autograd::backward(context.id(), {y.sum()});
    EXPECT_TRUE(dist_autograd::get_gradients(context.id())
                    .at(x)
                    .equal(autograd::grad({weighted(x, w).sum()}, {x})[0]));
  });
}

TEST_P(DistAutograd, AnErrorOnTheWayBackNamesItsWorker) {
  run(3, [] {
    const Tensor x = leaf({4, 3}), w = leaf({3, 3});
    const dist_autograd::context context;
    const Tensor y = rpc_sync("worker2", fails_backward, {rpc_sync("worker1", weighted, {x, w})});
    EXPECT_THAT(
        error_of([&] { dist_autograd::backward(context.id(), {y.sum()}); }),
        AllOf(HasSubstr("WorkerInfo(id=2, name=worker2)"), HasSubstr("no derivative today")));
  });
}

TEST_P(DistAutograd, AContextEndsForAllWorkers) {
  run(2, [] {
    const Tensor x = leaf({4, 3}), w = leaf({3, 3});
    int64_t id = -1;
    {
      const dist_autograd::context context;
      id = context.id();
      const RRef<Tensor> parameter = remote("worker1", make_parameter, {0.5});
      dist_autograd::backward(id, {rpc_sync("worker1", times_parameter, {x, parameter}).sum()});
      EXPECT_EQ(rpc_sync("worker1", known_gradients, {id}), 1);
      EXPECT_THAT(error_of([] { dist_autograd::context another; }),
                  HasSubstr("Already have an autograd context id for this thread."));
    }
    EXPECT_EQ(error_of([&] { dist_autograd::get_gradients(id); }),
              "Could not find autograd context with id: " + std::to_string(id));
    std::string there;
    for (int i = 0; i < 1000 && !there.starts_with("On WorkerInfo"); ++i) {
      there = error_of([&] { rpc_sync("worker1", known_gradients, {id}); });
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_THAT(there, HasSubstr("Could not find autograd context"));
    EXPECT_FALSE(rpc_sync("worker1", weighted, {x, w}).requires_grad()) << "outside of a context";
  });
}

struct StageImpl : nn::Cloneable<StageImpl> {
  explicit StageImpl(int64_t in, int64_t out) : in_(in), out_(out) { reset(); }
  void reset() override {
    fc = register_module("fc", nn::Linear(in_, out_));
    NoGradGuard guard;
    for (const Tensor& p : parameters()) p.fill_(0.1);
  }
  Tensor forward(const Tensor& x) { return tanh(fc(x)); }

  int64_t in_, out_;
  nn::Linear fc{nullptr};
};
TAEDA_MODULE(Stage);
TAEDA_REMOTE_MODULE(Stage, int64_t, int64_t);

TEST_P(DistAutograd, RemoteModulesTrainAsOneProcessDoes) {
  run(3, [] {
    const Tensor x = randn({5, 4}), target = randn({5, 2});
    Stage first(int64_t{4}, int64_t{3}), second(int64_t{3}, int64_t{2});
    std::vector<Tensor> all = first->parameters();
    for (const Tensor& p : second->parameters()) all.push_back(p);
    optim::SGD alone(all, optim::SGDOptions(0.1).momentum(0.9));

    const RemoteModule<Stage> stage1("worker1/cpu", int64_t{4}, int64_t{3});
    const RemoteModule<Stage> stage2("rank:2", int64_t{3}, int64_t{2});
    std::vector<RRef<Tensor>> parameters = stage1.remote_parameters();
    for (const auto& p : stage2.remote_parameters()) parameters.push_back(p);
    const DistributedOptimizer optimizer(parameters, optim::SGDOptions(0.1).momentum(0.9));
    for (int step = 0; step < 3; ++step) {
      alone.zero_grad();
      const Tensor expected = mse_loss(second(first(x)), target);
      expected.backward();
      alone.step();

      const dist_autograd::context context;
      const Tensor loss = mse_loss(stage2(stage1(x)), target);
      dist_autograd::backward(context.id(), {loss});
      optimizer.step(context.id());
      EXPECT_TRUE(loss.detach().equal(expected.detach())) << step;
    }
    EXPECT_TRUE(parameters[0].to_here().equal(all[0].detach()));
    EXPECT_TRUE(stage1.forward_async(x).wait().equal(first(x).detach()));
  });
}

TEST_P(DistAutograd, WhatAnOptimizerCannotDoIsNamed) {
  run(2, [] {
    EXPECT_THAT(error_of([] { DistributedOptimizer({}, optim::SGDOptions(0.1)); }),
                HasSubstr("got an empty parameter list"));
    const RRef<Tensor> parameter = remote("worker1", make_parameter, {0.5});
    EXPECT_THAT(error_of([&] { DistributedOptimizer({parameter}, optim::SGDOptions(-1)); }),
                AllOf(HasSubstr("On WorkerInfo(id=1, name=worker1)"), HasSubstr("learning rate")));
    const DistributedOptimizer optimizer({parameter}, optim::AdamOptions(0.1));
    EXPECT_THAT(error_of([&] { optimizer.step(12345); }),
                HasSubstr("Could not find autograd context with id: 12345"));
    EXPECT_THAT(error_of([] { RemoteModule<Stage>("worker1/", int64_t{1}, int64_t{1}); }),
                HasSubstr("Could not parse remote_device: 'worker1/'"));
    EXPECT_THAT(error_of([] { RemoteModule<Stage>("worker1", 1.5); }), HasSubstr("(str, float)"));
  });
}

}  // namespace
}  // namespace taeda::distributed::rpc
