// Every collective, dtype and number of ranks against what one process computes.

#include <gmock/gmock.h>

#include <optional>

#include "taeda/autograd/node.h"
#include "taeda/device/sim.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/index/scatter.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "tests/distributed/group/ranks.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using distributed::ProcessGroup;
using distributed::ReduceOp;
using distributed::WorkPtr;
using testing::HasSubstr;

/// Small whole numbers, other ones on every rank: exact in all dtypes, in whatever order they are
/// added.
Tensor input(int rank, IntArrayRef sizes, ScalarType dtype) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  const Tensor whole = (arange(n) * 3 + rank * 2).remainder(5) + 1;
  if (dtype == kBool) return (whole.remainder(2) == 0).view(sizes);
  if (is_complex(dtype)) {
    const Tensor real = whole.to(to_real_type(dtype));
    return view_as_complex(stack({real, real - 2}, 1)).view(sizes);
  }
  return whole.to(dtype).view(sizes);
}

std::vector<Tensor> inputs(int n, IntArrayRef sizes, ScalarType dtype) {
  std::vector<Tensor> out;
  for (int r = 0; r < n; ++r) out.push_back(input(r, sizes, dtype));
  return out;
}

Tensor pair_of(ReduceOp::Kind op, const Tensor& a, const Tensor& b) {
  const bool logical = a.dtype() == kBool;
  switch (op) {
    case ReduceOp::PRODUCT: return logical ? a & b : a * b;
    case ReduceOp::MIN: return logical ? a & b : minimum(a, b);
    case ReduceOp::MAX: return logical ? a | b : maximum(a, b);
    case ReduceOp::BAND: return a & b;
    case ReduceOp::BOR: return a | b;
    case ReduceOp::BXOR: return a ^ b;
    default: return logical ? a | b : a + b;
  }
}

/// The reduction of all ranks' tensors, computed here.
Tensor reduced(ReduceOp op, const std::vector<Tensor>& all) {
  Tensor out = all[0].clone();
  for (size_t i = 1; i < all.size(); ++i) out = pair_of(op.kind, out, all[i]);
  const auto n = static_cast<int64_t>(all.size());
  if (op.kind == ReduceOp::AVG) return is_integral(out.dtype()) ? out.div(n, "trunc") : out.div(n);
  return op.kind == ReduceOp::PREMUL_SUM ? out * op.factor : out;
}

void expect_same(const Tensor& got, const Tensor& want, const std::string& what) {
  EXPECT_EQ(got.dtype(), want.dtype()) << what;
  EXPECT_TRUE(got.cpu().equal(want.cpu())) << what << ": " << got.cpu() << " is not " << want;
}

std::string name_of(const char* op, const ProcessGroup& g, ScalarType dtype) {
  return std::string(op) + " on rank " + std::to_string(g.rank()) + " of " +
         std::to_string(g.size()) + ", " + dtype_name(dtype);
}

std::vector<ReduceOp> reductions_of(ScalarType dtype) {
  std::vector<ReduceOp> out = {ReduceOp::SUM, ReduceOp::PRODUCT};
  if (dtype != kBool) out.push_back(ReduceOp::AVG);
  if (!is_complex(dtype)) out.insert(out.end(), {ReduceOp::MIN, ReduceOp::MAX});
  if (is_integral(dtype, true))
    out.insert(out.end(), {ReduceOp::BAND, ReduceOp::BOR, ReduceOp::BXOR});
  if (is_differentiable(dtype)) out.push_back(ReduceOp::premul_sum(0.5));
  return out;
}

/// Where tensors are, and how they lie there.
struct Place {
  Device device = kCPU;
  bool strided = false;

  /// A tensor with these values: with gaps between its columns if strided.
  Tensor put(const Tensor& values) const {
    if (!strided) return values.to(device, values.dtype(), false, true);
    DimVector wide(values.sizes());
    wide.push_back(2);
    const Tensor out = zeros(wide, TensorOptions(values.dtype()).device(device)).select(-1, 1);
    out.copy_(values);
    return out;
  }
  Tensor empty_like(const Tensor& values) const { return put(zeros_like(values)); }
};

void check_reductions(ProcessGroup& g, IntArrayRef sizes, ScalarType dtype, const Place& place) {
  const auto all = inputs(g.size(), sizes, dtype);
  const Tensor& mine = all[static_cast<size_t>(g.rank())];
  for (const ReduceOp op : reductions_of(dtype)) {
    const std::string name = std::string(to_string(op.kind)) + name_of(" of all_reduce", g, dtype);
    const Tensor want = reduced(op, all);
    const Tensor data = place.put(mine);
    g.all_reduce(data, op, {});
    expect_same(data, want, name);
    const Tensor part = place.put(mine);
    const int root = g.size() - 1;
    g.reduce(part, root, op, {});
    expect_same(part, g.rank() == root ? want : mine, name + ", reduce");
  }
}

void check_reduce_scatter(ProcessGroup& g, IntArrayRef sizes, ScalarType dtype,
                          const Place& place) {
  const int n = g.size();
  DimVector whole(sizes);
  whole.insert(0, n);
  const auto all = inputs(n, whole, dtype);
  const Tensor in = all[static_cast<size_t>(g.rank())];
  for (const ReduceOp op : reductions_of(dtype)) {
    const std::string name = name_of("reduce_scatter", g, dtype);
    const Tensor want = reduced(op, all).select(0, g.rank());
    const Tensor out = place.empty_like(want), whole_in = place.put(in);
    g.reduce_scatter_tensor(out, whole_in, op, {});
    expect_same(out, want, name);
    expect_same(whole_in, in, name + " changed its input");
    std::vector<Tensor> list;
    for (int r = 0; r < n; ++r) list.push_back(place.put(in.select(0, r)));
    const Tensor second = place.empty_like(want);
    g.reduce_scatter(second, list, op, {});
    expect_same(second, want, name);
  }
}

void check_gathers(ProcessGroup& g, IntArrayRef sizes, ScalarType dtype, const Place& place) {
  const auto all = inputs(g.size(), sizes, dtype);
  const Tensor& mine = all[static_cast<size_t>(g.rank())];
  const Tensor data = place.put(mine);
  std::vector<Tensor> outs;
  for (int r = 0; r < g.size(); ++r) outs.push_back(place.empty_like(mine));
  g.all_gather(outs, data, {});
  for (int r = 0; r < g.size(); ++r) expect_same(outs[r], all[r], name_of("all_gather", g, dtype));
  const Tensor together = place.empty_like(stack(all));
  g.all_gather_into_tensor(together, data, {});
  expect_same(together, stack(all), name_of("all_gather_into_tensor", g, dtype));
  for (int root = 0; root < g.size(); ++root) {
    std::vector<Tensor> list;
    for (int r = 0; r < g.size() && g.rank() == root; ++r) list.push_back(place.empty_like(mine));
    g.gather(list, data, root, {});
    for (size_t r = 0; r < list.size(); ++r)
      expect_same(list[r], all[r], name_of("gather", g, dtype));
    const Tensor from_root = place.empty_like(mine);
    for (size_t r = 0; r < list.size(); ++r) list[r] = place.put(all[r]);
    g.scatter(from_root, list, root, {});
    expect_same(from_root, mine, name_of("scatter", g, dtype));
    const Tensor shared = place.put(mine);
    g.broadcast(shared, root, {});
    expect_same(shared, all[static_cast<size_t>(root)], name_of("broadcast", g, dtype));
  }
}

void check_all_to_all(ProcessGroup& g, IntArrayRef sizes, ScalarType dtype, const Place& place) {
  const int n = g.size(), me = g.rank();
  DimVector whole(sizes);
  whole.insert(0, n);
  const auto all = inputs(n, whole, dtype);
  std::vector<Tensor> parts;
  for (int r = 0; r < n; ++r) parts.push_back(all[static_cast<size_t>(r)].select(0, me));
  const Tensor in = place.put(all[static_cast<size_t>(me)]), out = place.empty_like(in);
  g.all_to_all_single(out, in, {}, {}, {});
  expect_same(out, stack(parts), name_of("all_to_all_single", g, dtype));
  // Rank r sends r + 1 + to copies of a number to rank `to`.
  std::vector<Tensor> ins, outs;
  for (int r = 0; r < n; ++r) {
    ins.push_back(place.put(input(me, {me + 1 + r}, dtype)));
    outs.push_back(place.empty_like(input(r, {r + 1 + me}, dtype)));
  }
  g.all_to_all(outs, ins, {});
  for (int r = 0; r < n; ++r)
    expect_same(outs[r], input(r, {r + 1 + me}, dtype), name_of("all_to_all", g, dtype));
}

void check_messages(ProcessGroup& g, IntArrayRef sizes, ScalarType dtype, const Place& place) {
  if (g.size() == 1) return;
  const int next = (g.rank() + 1) % g.size(), before = (g.rank() + g.size() - 1) % g.size();
  const Tensor mine = place.put(input(g.rank(), sizes, dtype));
  const Tensor got = place.empty_like(input(before, sizes, dtype));
  const WorkPtr sent = g.send(mine, next, 7, {true});
  const WorkPtr received = g.recv(got, before, 7, {true});
  sent->wait();
  received->wait();
  EXPECT_EQ(received->source_rank(), before);
  expect_same(got, input(before, sizes, dtype), name_of("isend and irecv", g, dtype));
}

void check_everything(ProcessGroup& g, IntArrayRef sizes, ScalarType dtype, const Place& place) {
  check_reductions(g, sizes, dtype, place);
  check_reduce_scatter(g, sizes, dtype, place);
  check_gathers(g, sizes, dtype, place);
  check_all_to_all(g, sizes, dtype, place);
  check_messages(g, sizes, dtype, place);
  g.barrier({});
}

class EveryCollective : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, EveryCollective, testing::Values(1, 2, 3, 4),
                         [](const auto& info) { return std::to_string(info.param) + "_ranks"; });

TEST_P(EveryCollective, AnyDtype) {
  run_ranks(GetParam(), [](ProcessGroup& g) {
    for (const ScalarType dtype : kAllDtypes) check_everything(g, {2, 3}, dtype, {});
  });
}

TEST_P(EveryCollective, Strided) {
  run_ranks(GetParam(), [](ProcessGroup& g) {
    for (const ScalarType dtype : {kFloat, kBFloat16, kLong, kComplexFloat, kBool})
      check_everything(g, {2, 3}, dtype, {kCPU, true});
  });
}

TEST_P(EveryCollective, ZeroSize) {
  run_ranks(GetParam(), [](ProcessGroup& g) {
    for (const ScalarType dtype : {kFloat, kInt}) check_everything(g, {0, 3}, dtype, {});
  });
}

TEST_P(EveryCollective, SimulatedDevices) {
  run_ranks(GetParam(), [](ProcessGroup& g) {
    const Device device(kSim, g.rank() % sim::device_count());
    for (const ScalarType dtype : {kFloat, kHalf, kLong, kComplexFloat})
      for (const bool strided : {false, true})
        check_everything(g, {2, 3}, dtype, {device, strided});
  });
}

TEST(Collectives, SumsHaveTheSameBitsOnAllRanksAndEveryTime) {
  std::vector<Tensor> sums(12);
  run_ranks(4, [&](ProcessGroup& g) {
    for (int time = 0; time < 3; ++time) {
      // Ranks come in another order every time.
      std::this_thread::sleep_for(std::chrono::milliseconds(((g.rank() + time) % 4) * 3));
      const Tensor x = (arange(5001).to(kFloat) * (g.rank() + 1) * 0.37f).sin() * 1e3f;
      g.all_reduce(x, ReduceOp::SUM, {});
      sums[static_cast<size_t>(time * 4 + g.rank())] = x;
    }
  });
  for (const Tensor& sum : sums) EXPECT_TRUE(sum.equal(sums[0]));
}

TEST(Collectives, ReduceScatterHasTheBitsOfAllReduce) {
  run_ranks(3, [](ProcessGroup& g) {
    const Tensor x = (arange(300).to(kFloat) * (g.rank() + 1) * 0.37f).sin();
    const Tensor part = empty({100});
    g.reduce_scatter_tensor(part, x, ReduceOp::SUM, {});
    g.all_reduce(x, ReduceOp::SUM, {});
    EXPECT_TRUE(part.equal(x.narrow(0, g.rank() * 100, 100)));
  });
}

TEST(Collectives, SeveralInFlightEndInTheOrderInWhichTheyWereCalled) {
  run_ranks(3, [](ProcessGroup& g) {
    std::vector<Tensor> data;
    std::vector<WorkPtr> works;
    std::vector<int> order;
    for (int i = 0; i < 20; ++i) {
      data.push_back(full({1000 * (20 - i)}, i + 1.0));
      works.push_back(g.all_reduce(data.back(), ReduceOp::SUM, {true}));
      works.back()->on_completion([&order, i](distributed::Work&) { order.push_back(i); });
    }
    g.barrier({});
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(works[i]->wait());
      EXPECT_TRUE(works[i]->is_success());
      EXPECT_TRUE(data[i].equal(full_like(data[i], 3.0 * (i + 1))));
      EXPECT_EQ(order[static_cast<size_t>(i)], i);
    }
  });
}

TEST(Collectives, AReceiveThatWaitsHoldsNothingElseUp) {
  run_ranks(2, [](ProcessGroup& g) {
    const Tensor got = zeros({4}), sum = ones({4});
    WorkPtr receive;
    if (g.rank() == 0) receive = g.recv(got, 1, 0, {true});
    g.all_reduce(sum, ReduceOp::SUM, {});
    EXPECT_TRUE(!receive || !receive->is_completed());
    g.barrier({});
    if (g.rank() == 1) g.send(sum, 0, 0, {});
    if (receive) receive->wait();
    EXPECT_TRUE(got.equal(full({4}, receive ? 2.0 : 0.0)));
  });
}

TEST(Collectives, MessagesOfOneTagKeepTheirOrderAndTagsTheirPlace) {
  run_ranks(2, [](ProcessGroup& g) {
    std::vector<WorkPtr> works;
    std::vector<Tensor> got;
    for (int i = 0; i < 6; ++i) {
      const int64_t tag = i % 2;
      if (g.rank() == 0) works.push_back(g.send(full({3}, 1.0 * i), 1, tag, {true}));
    }
    for (const int64_t tag : {1, 0})
      for (int i = 0; i < 3 && g.rank() == 1; ++i) {
        got.push_back(zeros({3}));
        g.recv(got.back(), 0, tag, {});
      }
    for (const WorkPtr& work : works) work->wait();
    const double want[] = {1, 3, 5, 0, 2, 4};
    for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i][0].item<float>(), want[i]);
  });
}

TEST(Collectives, AReceiveFromAnyRankSaysWhoSent) {
  run_ranks(3, [](ProcessGroup& g) {
    if (g.rank() != 0) return (void)g.send(full({2}, 1.0 * g.rank()), 0, 0, {});
    for (int i = 0; i < 2; ++i) {
      const Tensor got = zeros({2});
      const int from = g.recv(got, -1, 0, {})->source_rank();
      EXPECT_EQ(got[0].item<float>(), from);
    }
  });
}

TEST(Collectives, UnevenSplitsOfAllToAllSingle) {
  run_ranks(3, [](ProcessGroup& g) {
    const int me = g.rank();
    // Rank r sends r + 1 rows to each rank.
    const std::vector<int64_t> in_splits(3, me + 1), out_splits = {1, 2, 3};
    const Tensor in = full({3 * (me + 1), 2}, 1.0 * me), out = zeros({6, 2});
    g.all_to_all_single(out, in, out_splits, in_splits, {});
    const Tensor rows = out.select(1, 0);
    EXPECT_TRUE(rows.equal(tensor({0.f, 1.f, 1.f, 2.f, 2.f, 2.f}))) << rows;
  });
}

// Engines write the output while they read the input.
TEST(Collectives, AnInputInTheOutputsMemoryIsReadFirst) {
  run_ranks(2, [](ProcessGroup& g) {
    const int me = g.rank();
    const Tensor both = arange(4) + 10 * me;
    g.all_to_all_single(both, both, {}, {}, {});
    EXPECT_TRUE(both.equal(stack({arange(2), arange(2) + 10}).view({4}) + 2 * me)) << both;
    for (const int64_t at : {0, 1, 2}) {  // one half, across both, the other
      const Tensor all = zeros_like(both), part = all.narrow(0, at, 2);
      part.copy_(arange(2) + 10 * me);
      g.all_gather_into_tensor(all, part, {});
      EXPECT_TRUE(all.equal(stack({arange(2), arange(2) + 10}).view({4}))) << at << all;
      const Tensor in = arange(4) * (me + 1), out = in.narrow(0, at, 2);
      g.reduce_scatter_tensor(out, in, ReduceOp::SUM, {});
      EXPECT_TRUE(out.equal((arange(2) + 2 * me) * 3)) << at << out;
    }
  });
}

TEST(Collectives, SizesWhoseSumWrapsAroundAreRefused) {
  run_ranks(4, [](ProcessGroup& g) {
    const Tensor x = ones({3}), none = zeros({0});
    const std::vector<int64_t> wraps = {INT64_MAX, INT64_MAX, 5, 0};  // 3, in 64 bits
    for (const auto& [out, in] : {std::pair{wraps, std::vector<int64_t>{3, 0, 0, 0}},
                                  std::pair{std::vector<int64_t>{3, 0, 0, 0}, wraps}})
      EXPECT_THAT(error_of([&, &o = out, &i = in] { g.all_to_all_single(x, x.clone(), o, i, {}); }),
                  HasSubstr("add up to more than 64 bits hold, it has 3 rows"));
    const Tensor huge = ones({1}).expand({int64_t{1} << 62});  // four of them: 0, in 64 bits
    EXPECT_THAT(error_of([&] { g.all_gather_into_tensor(none, huge, {}); }),
                HasSubstr("must be equal to world_size times input tensor size, got 0"));
    EXPECT_THAT(error_of([&] { g.reduce_scatter_tensor(huge, none, ReduceOp::SUM, {}); }),
                HasSubstr("same size as output size times world size, got 0"));
    EXPECT_THAT(error_of([&] {
                  g.all_gather({huge, huge, huge, huge}, huge, {});
                }),
                HasSubstr("overflow in the calculation of sizes"));
  });
}

TEST(Collectives, ASimulatedDeviceIsReadAndWrittenInTheOrderOfItsStream) {
  run_ranks(2, [](ProcessGroup& g) {
    const Device device(kSim, g.rank() % sim::device_count());
    const Tensor x = ones({64}, device);
    sim::Gate gate;
    sim::delay_stream(current_stream(device), gate);
    x.mul_(3);  // queued behind the gate
    const WorkPtr work = g.all_reduce(x, ReduceOp::SUM, {true});
    EXPECT_FALSE(work->is_completed());
    gate.open();
    work->wait();
    x.add_(1);
    EXPECT_TRUE(x.cpu().equal(full({64}, 7.0)));
  });
}

TEST(Collectives, GradientsDoNotNoticeAndVersionsDo) {
  run_ranks(2, [](ProcessGroup& g) {
    const Tensor leaf = ones({3}).requires_grad_();
    const int64_t version = leaf._version();
    g.all_reduce(leaf, ReduceOp::SUM, {});
    EXPECT_FALSE(leaf.grad_fn());
    EXPECT_GT(leaf._version(), version);
    EXPECT_TRUE(leaf.detach().equal(full({3}, 2.0)));
  });
}

TEST(Collectives, WaitingHasADeadlineOfItsOwn) {
  run_ranks(2, [](ProcessGroup& g) {
    const Tensor x = ones({3});
    if (g.rank() == 0) {
      const WorkPtr work = g.all_reduce(x, ReduceOp::SUM, {true});
      EXPECT_THAT(error_of([&] { work->wait(std::chrono::milliseconds(20)); }),
                  HasSubstr("Work::wait: all_reduce #1 float32[3] (SUM)"));
      g.send(x, 1, 0, {});
      work->wait();
    } else {
      g.recv(zeros({3}), 0, 0, {});
      g.all_reduce(x, ReduceOp::SUM, {});
    }
    EXPECT_TRUE(x.equal(full({3}, 2.0)));
  });
}

TEST(Collectives, ArgumentsThatDoNotFitAreRefused) {
  run_ranks(2, [](ProcessGroup& g) {
    const Tensor x = ones({3}), c = ones({3}, kComplexFloat);
    const auto refused = [&](const char* text, auto f) {
      EXPECT_THAT(error_of(f), HasSubstr(text));
    };
    refused("all_reduce: Cannot use ReduceOp.BAND with non-integral dtype Float",
            [&] { g.all_reduce(x, ReduceOp::BAND, {}); });
    refused("all_reduce does not support MAX on complex tensors",
            [&] { g.all_reduce(c, ReduceOp::MAX, {}); });
    refused("all_reduce: Cannot use ReduceOp.AVG with bool inputs",
            [&] { g.all_reduce(x > 0, ReduceOp::AVG, {}); });
    refused("broadcast: expected a rank from 0 to 1, got 2", [&] { g.broadcast(x, 2, {}); });
    refused("all_gather: expected 2 outputs, one for each rank, got 1",
            [&] { g.all_gather({x}, x, {}); });
    refused("expected 3 elements in outputs[1], got 2", [&] {
      g.all_gather({x, ones({2})}, x, {});
    });
    refused("output tensor size must be equal to world_size times input tensor size, got 3",
            [&] { g.all_gather_into_tensor(x, ones({3}), {}); });
    refused(g.rank() == 0 ? "must be specified on destination rank."
                          : "must NOT be specified on non-destination ranks.",
            [&] {
              g.gather(g.rank() == 0 ? std::vector<Tensor>{} : std::vector{x, x}, x, 0, {});
            });
    refused("does not divide equally across group size",
            [&] { g.all_to_all_single(x, x, {}, {}, {}); });
    refused("Split sizes doesn't match total dim 0 size: those of output add up to 4", [&] {
      g.all_to_all_single(x, x, {2, 2}, {1, 2}, {});
    });
    refused("should not be the same as the rank of the current process",
            [&] { g.send(x, g.rank(), 0, {}); });
    refused("expected a tag from 0", [&] { g.recv(x, 1 - g.rank(), -1, {}); });
  });
}

}  // namespace
}  // namespace taeda
