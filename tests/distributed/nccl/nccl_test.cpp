// The NCCL engine: that results are right, and that streams wait, but not the host.
#include <gmock/gmock.h>

#include "taeda/device/graph.h"
#include "taeda/distributed/group/texts.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "tests/distributed/ddp/models.h"
#include "tests/distributed/nccl/devices.h"
#include "tests/error_of.h"
#include "tests/values.h"

namespace taeda {
namespace {

using distributed::DistributedDataParallel;
using distributed::ProcessGroup;
using distributed::ProcessGroupPtr;
using distributed::ReduceOp;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

using Nccl = NcclTest;
using Floats = std::vector<float>;

TEST_F(Nccl, Reductions) {
  const auto errors = run(ranks(), [](ProcessGroup& g) {
    const Device here = device_of(g);
    const float r = static_cast<float>(g.rank()), n = static_cast<float>(g.size());
    const auto reduced = [&](ReduceOp op) {
      const Tensor x = tensor(Floats{r + 1, 2 * r}).to(here);
      g.all_reduce(x, op, {});
      return values<float>(x);
    };
    const float sum = n * (n + 1) / 2, twice = n * (n - 1);  // of r + 1, of 2 r
    EXPECT_EQ(reduced(ReduceOp::SUM), (Floats{sum, twice}));
    EXPECT_EQ(reduced(ReduceOp::PRODUCT), (Floats{n == 3 ? 6 : n, 0}));
    EXPECT_EQ(reduced(ReduceOp::MIN), (Floats{1, 0}));
    EXPECT_EQ(reduced(ReduceOp::MAX), (Floats{n, 2 * (n - 1)}));
    EXPECT_EQ(reduced(ReduceOp::premul_sum(0.5)), (Floats{sum / 2, twice / 2}));
    const Floats average = reduced(ReduceOp::AVG);
    EXPECT_NEAR(average[0], sum / n, 1e-6);
    EXPECT_NEAR(average[1], twice / n, 1e-6);
    const Tensor x = full({2}, r + 1, TensorOptions().device(here));
    g.reduce(x, 0, ReduceOp::SUM, {});
    EXPECT_EQ(values<float>(x), g.rank() == 0 ? (Floats{sum, sum}) : (Floats{r + 1, r + 1}));
    const Tensor part = zeros({2}, TensorOptions().device(here));
    g.reduce_scatter_tensor(part, arange(2 * g.size(), TensorOptions().device(here)).to(kFloat),
                            ReduceOp::SUM, {});
    EXPECT_EQ(values<float>(part), (Floats{n * 2 * r, n * (2 * r + 1)}));
  });
  EXPECT_THAT(errors, Each("no error"));
}

TEST_F(NcclOfTwo, DtypesOfReductions) {
  const auto errors = run(2, [](ProcessGroup& g) {
    const auto sum = [&](ScalarType dtype, ReduceOp op = ReduceOp::SUM) {
      const Tensor x = full({3}, g.rank() + 1, TensorOptions().device(device_of(g)).dtype(dtype));
      g.all_reduce(x, op, {});
      return x.cpu();
    };
    for (const ScalarType dtype : {kByte, kChar, kInt, kLong, kHalf, kBFloat16, kDouble})
      EXPECT_TRUE(sum(dtype).equal(full({3}, 3, dtype))) << dtype_name(dtype);
    for (const ScalarType dtype : {kComplexFloat, kComplexDouble})
      EXPECT_TRUE(sum(dtype).equal(full({3}, 3, dtype))) << dtype_name(dtype);
    EXPECT_TRUE(sum(kComplexFloat, ReduceOp::AVG).equal(full({3}, 1.5, kComplexFloat)));
    EXPECT_TRUE(sum(kInt, ReduceOp::AVG).equal(full({3}, 1, kInt)));
    EXPECT_TRUE(sum(kHalf, ReduceOp::premul_sum(2)).equal(full({3}, 6, kHalf)));
    EXPECT_TRUE(sum(kBool).equal(full({3}, true, kBool)));
    EXPECT_TRUE(sum(kBool, ReduceOp::PRODUCT).equal(full({3}, true, kBool)));
    // What moves and is not reduced may have any dtype.
    const Tensor shorts =
        full({2}, g.rank() + 7, TensorOptions().device(device_of(g)).dtype(kShort));
    g.broadcast(shorts, 1, {});
    EXPECT_TRUE(shorts.cpu().equal(full({2}, 8, kShort)));
    EXPECT_THAT(error_of([&] { sum(kInt, ReduceOp::BAND); }),
                HasSubstr("Cannot use ReduceOp.BAND with NCCL"));
    EXPECT_THAT(error_of([&] { sum(kShort); }), HasSubstr("Unconvertible NCCL type"));
    EXPECT_THAT(error_of([&] { sum(kComplexFloat, ReduceOp::PRODUCT); }),
                HasSubstr("Cannot use ReduceOp.PRODUCT with NCCL on complex tensors"));
    EXPECT_EQ(g.failure(), "");
  });
  EXPECT_THAT(errors, Each("no error"));
  if (nccl_) {
    EXPECT_EQ(nccl_->counts().operators, 0);
  }
}

TEST_F(Nccl, GatherAndScatter) {
  const auto errors = run(ranks(), [](ProcessGroup& g) {
    const auto on = TensorOptions().device(device_of(g));
    const int n = g.size(), root = n - 1;
    const float r = static_cast<float>(g.rank());
    const auto one_each = [&] {
      std::vector<Tensor> out;
      for (int k = 0; k < n; ++k) out.push_back(zeros({2}, on));
      return out;
    };
    const Tensor own = full({2}, r, on);
    const auto all = one_each();
    g.all_gather(all, own, {});
    for (int k = 0; k < n; ++k) EXPECT_TRUE(all[k].cpu().equal(full({2}, 1.0 * k)));
    const Tensor flat = zeros({2, n}, on).t();  // not contiguous
    g.all_gather_into_tensor(flat, own, {});
    EXPECT_TRUE(flat.cpu().equal(arange(n).to(kFloat).view({n, 1}).expand({n, 2})));
    const auto gathered = g.rank() == root ? one_each() : std::vector<Tensor>();
    g.gather(gathered, own, root, {});
    for (size_t k = 0; k < gathered.size(); ++k)
      EXPECT_TRUE(gathered[k].cpu().equal(full({2}, static_cast<double>(k))));
    const Tensor mine = zeros({2}, on);
    g.scatter(mine, g.rank() == root ? all : std::vector<Tensor>(), root, {});
    EXPECT_EQ(values<float>(mine), (Floats{r, r}));
    const auto given = one_each(), got = one_each();
    for (int k = 0; k < n; ++k) given[k].fill_(10 * r + static_cast<float>(k));
    g.all_to_all(got, given, {});
    for (int k = 0; k < n; ++k)
      EXPECT_TRUE(got[k].cpu().equal(full({2}, 10.0 * k + g.rank()))) << k;
  });
  EXPECT_THAT(errors, Each("no error"));
}

TEST_F(NcclOfTwo, UnequalSplits) {
  const auto errors = run(2, [](ProcessGroup& g) {
    const auto on = TensorOptions().device(device_of(g));
    const bool first = g.rank() == 0;
    const Tensor in = arange(3, on).to(kFloat) + (first ? 0 : 10);
    const Tensor out = zeros({first ? 1 : 5}, on);
    // Rank 0 sends 1 and 2 elements, rank 1 none and 3.
    g.all_to_all_single(out, in, first ? std::vector<int64_t>{1, 0} : std::vector<int64_t>{2, 3},
                        first ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{0, 3}, {});
    EXPECT_EQ(values<float>(out), first ? (Floats{0}) : (Floats{1, 2, 10, 11, 12}));
  });
  EXPECT_THAT(errors, Each("no error"));
  const auto unequal = run(2, [](ProcessGroup& g) {
    const Tensor x = zeros({4}, TensorOptions().device(device_of(g)));
    const bool first = g.rank() == 0;
    g.all_to_all_single(x, x.clone(), {2, 2}, {first ? 3 : 2, first ? 1 : 2}, {});
  });
  EXPECT_THAT(unequal, Each(HasSubstr("rank 0 sends 3 elements to rank 0, which expects 2")));
}

TEST_F(SimulatedNcclTest, StreamsWaitAndTheHostDoesNot) {
  const auto errors = run(2, [](ProcessGroup& g) {
    const Device here = device_of(g);
    const Tensor x = zeros({1000}, TensorOptions().device(here));
    const Stream own = new_stream(here);
    const StreamGuard guard(own);
    own.wait_stream(default_stream(here));
    sim::Gate gate;
    sim::delay_stream(own, gate);
    x.fill_(g.rank() + 1);  // runs when the gate is open
    const auto work = g.all_reduce(x, ReduceOp::SUM, {.async = true});
    work->wait();
    EXPECT_FALSE(work->is_completed());
    x.mul_(2);
    EXPECT_FALSE(own.query());
    gate.open();
    EXPECT_EQ(values<float>(x), Floats(1000, 6.0F));
    while (!work->is_completed()) std::this_thread::yield();
    EXPECT_TRUE(work->is_success());
  });
  EXPECT_THAT(errors, Each("no error"));
}

TEST_F(SimulatedNcclTest, MemoryIsNotReusedBeforeItsTurn) {
  const auto errors = run(2, [](ProcessGroup& g) {
    const auto on = TensorOptions().device(device_of(g));
    sim::Gate gate;
    std::vector<distributed::WorkPtr> works;
    const Tensor sum = zeros({2, 4096}, on);
    for (int64_t k = 0; k < 2; ++k) {
      const Tensor part = full({4096}, g.rank() + 1.0, on);
      if (k == 0) sim::delay_stream(current_stream(device_of(g)), gate);
      works.push_back(g.all_gather_into_tensor(zeros({8192}, on), part, {.async = true}));
    }
    gate.open();
    for (int k = 0; k < 100; ++k) full({4096}, -1.0, on);  // would take the parts' memory
    const Tensor kept = works[1]->result()[0];
    for (const auto& work : works) work->wait();
    EXPECT_EQ(values<float>(kept.narrow(0, 0, 1)), Floats{1});
    EXPECT_EQ(values<float>(kept.narrow(0, 8191, 1)), Floats{2});
  });
  EXPECT_THAT(errors, Each("no error"));
}

TEST_F(NcclOfTwo, MessagesOfBothDirectionsAndCollectivesBetweenThem) {
  const auto errors = run(2, [](ProcessGroup& g) {
    const auto on = TensorOptions().device(device_of(g));
    const int other = 1 - g.rank();
    const Tensor sent = full({5000}, g.rank() + 1.0, on), got = zeros({5000}, on);
    const Tensor second = zeros({3}, on), sum = ones({2}, on);
    // Each sends first: in one stream, both would wait for ever.
    const auto a = g.send(sent, other, 1, {.async = true});
    const auto b = g.send(full({3}, 7.0, on), other, 2, {.async = true});
    g.all_reduce(sum, ReduceOp::SUM, {});
    const auto c = g.recv(got, other, 1, {.async = true});
    const auto d = g.recv(second, other, 2, {.async = true});
    for (const auto& work : {a, b, c, d}) work->wait();
    EXPECT_EQ(values<float>(got), Floats(5000, static_cast<float>(other + 1)));
    EXPECT_EQ(values<float>(second), Floats(3, 7));
    EXPECT_EQ(values<float>(sum), Floats(2, 2));
    EXPECT_THAT(error_of([&] { g.recv(got, -1, 0, {}); }),
                HasSubstr("NCCL receives from a rank that is named"));
  });
  EXPECT_THAT(errors, Each("no error"));
}

TEST_F(Nccl, WhatIsOnTheHostGoesThroughTheDevice) {
  const auto errors = run(ranks(), [](ProcessGroup& g) {
    const Tensor x = full({4}, g.rank() + 1.0);
    g.all_reduce(x, ReduceOp::SUM, {});
    EXPECT_EQ(values<float>(x), Floats(4, static_cast<float>(g.size() * (g.size() + 1) / 2)));
    g.barrier({});
    EXPECT_TRUE(g.all_reduce(zeros({0}), ReduceOp::SUM, {.async = true})->wait());
    const auto group = ProcessGroupPtr(ProcessGroupPtr(), &g);
    const auto texts =
        distributed::detail::all_gather_texts(std::string(static_cast<size_t>(g.rank()) + 1, 'x'),
                                              group, SourceLocation::current());
    for (int k = 0; k < g.size(); ++k)
      EXPECT_EQ(texts.at(static_cast<size_t>(k)), std::string(static_cast<size_t>(k) + 1, 'x'));
  });
  EXPECT_THAT(errors, Each("no error"));
}

TEST_F(NcclOfTwo, DistributedDataParallel) {
  Branch reference;
  fill_values(*reference);
  reference(batch_rows(0, 8, 6)).pow(2).mean().backward();
  const auto expected = gradients_of(*reference);
  const auto errors = run(2, [&](ProcessGroup& g) {
    Branch net;
    fill_values(*net);
    net->to(device_of(g));
    DistributedDataParallel ddp(net, {.process_group = ProcessGroupPtr(ProcessGroupPtr(), &g)});
    for (int pass = 0; pass < 3; ++pass) {
      net->zero_grad();
      const int64_t begin = 4 * g.rank();
      ddp(batch_rows(begin, begin + 4, 6).to(device_of(g)), true).pow(2).mean().backward();
      std::vector<Tensor> gradients;
      for (const Tensor& t : gradients_of(*net)) gradients.push_back(t.cpu());
      expect_close(gradients, expected, 1e-6);
    }
  });
  EXPECT_THAT(errors, Each("no error"));
}

TEST_F(NcclOfTwo, DifferentModelsAreNamed) {
  const auto errors = run(2, [&](ProcessGroup& g) {
    nn::Linear net(6, 3 + g.rank());
    net->to(device_of(g));
    DistributedDataParallel ddp(net, {.process_group = ProcessGroupPtr(ProcessGroupPtr(), &g)});
  });
  EXPECT_THAT(errors, Each(HasSubstr("expects the same model on all processes, but rank 0 has "
                                     "parameter 'weight' float32[3, 6]")));
}

TEST_F(SimulatedNcclTest, TheEndWaitsForWhatIsQueued) {
  std::vector<Tensor> results(2);
  const auto errors = run(2, [&](ProcessGroup& g) {
    const Tensor x = full({8}, g.rank() + 1.0, TensorOptions().device(device_of(g)));
    sim::delay_stream(current_stream(device_of(g)), 100);
    g.all_reduce(x, ReduceOp::SUM, {});
    g.leave();
    results[static_cast<size_t>(g.rank())] = x.cpu();
    EXPECT_EQ(g.failure(), "");
  });
  EXPECT_THAT(errors, Each("no error"));
  for (const Tensor& x : results) EXPECT_TRUE(x.equal(full({8}, 3.0)));
  const NcclCounts counts = nccl_->counts();
  EXPECT_EQ(counts.aborted, counts.made);
}

TEST_F(Nccl, NoPartOfAGraph) {
  const auto errors = run(1, [](ProcessGroup& g) {
    const Tensor x = ones({8}, TensorOptions().device(device_of(g)));
    const StreamGuard guard(new_stream(device_of(g)));
    DeviceGraph graph(type());
    graph.capture_begin();
    const std::string error = error_of([&] { g.all_reduce(x, ReduceOp::SUM, {}); });
    x.add_(1);
    graph.capture_end();
    EXPECT_THAT(error, HasSubstr("all_reduce: collectives cannot be part of a graph"));
  });
  EXPECT_THAT(errors, Each("no error"));
}

}  // namespace
}  // namespace taeda
