// Callbacks of operations that call operations themselves, as hooks of data-parallel training do.

#include <gmock/gmock.h>

#include <future>

#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/shape/shape.h"
#include "tests/distributed/group/ranks.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using distributed::ProcessGroup;
using distributed::ReduceOp;
using distributed::Work;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

constexpr ReduceOp kAdded = ReduceOp::SUM;
constexpr int kRanks = 3;

/// Calls `f` in a callback of a sum of which the program does not wait before it goes on.
void in_a_callback(ProcessGroup& g, const std::function<void(const Tensor& sum)>& f) {
  std::promise<std::string> said;
  const Tensor x = full({4}, g.rank() + 1.0), later = ones({3});
  const auto work = g.all_reduce(x, kAdded, {true});
  work->on_completion([&](Work&) { said.set_value(error_of([&] { f(x); })); });
  const auto next = g.all_reduce(later, kAdded, {true});
  g.barrier({});
  EXPECT_EQ(said.get_future().get(), "no error");
  EXPECT_TRUE(next->wait());
  EXPECT_TRUE(later.equal(full({3}, kRanks)));
}

TEST(Callbacks, MayWaitForOperationsOfTheirGroup) {
  run_ranks(kRanks,
            [](ProcessGroup& g) {
              in_a_callback(g, [&](const Tensor& sum) {
                EXPECT_TRUE(sum.equal(full({4}, 6.0)));
                const Tensor y = full({2}, g.rank() * 1.0);
                g.all_reduce(y, ReduceOp::MAX, {});
                EXPECT_TRUE(y.equal(full({2}, kRanks - 1.0)));
                g.barrier({});
              });
            },
            {std::chrono::seconds(60)});
}

TEST(Callbacks, OfOperationsOfCallbacksMayToo) {
  run_ranks(kRanks,
            [](ProcessGroup& g) {
              in_a_callback(g, [&](const Tensor&) {
                const Tensor y = ones({2}), z = ones({5});
                const auto first = g.all_reduce(y, kAdded, {true});
                EXPECT_THAT(first->what().to_string(), HasSubstr("all_reduce #1.1"));
                first->on_completion([&](Work&) {
                  const auto second = g.all_reduce(z, kAdded, {true});
                  EXPECT_THAT(second->what().to_string(), HasSubstr("all_reduce #1.2"));
                  second->wait();
                });
                first->wait();
                EXPECT_TRUE(z.equal(full({5}, kRanks)));
              });
            },
            {std::chrono::seconds(60)});
}

TEST(Callbacks, OfMessagesMayAnswer) {
  run_ranks(2,
            [](ProcessGroup& g) {
              const Tensor there = ones({2}), back = zeros({2});
              if (g.rank() == 0) {
                g.send(there, 1, 0, {});
                g.send(there * 2, 1, 0, {});
                return;
              }
              const auto work = g.recv(there, 0, 0, {true});
              std::promise<void> answered;
              work->on_completion([&](Work&) {
                g.recv(back, 0, 0, {});
                answered.set_value();
              });
              answered.get_future().wait();
              EXPECT_TRUE(back.equal(full({2}, 2.0)));
            },
            {std::chrono::seconds(60)});
}

TEST(Callbacks, WhatTheyCallIsComparedBetweenTheRanks) {
  const auto errors = errors_of_ranks(2,
                                      [](ProcessGroup& g) {
                                        std::promise<std::string> said;
                                        const auto work = g.all_reduce(ones({2}), kAdded, {true});
                                        work->on_completion([&](Work&) {
                                          said.set_value(error_of([&] {
                                            if (g.rank() == 0)
                                              g.barrier({});
                                            else
                                              g.all_reduce(ones({7}), kAdded, {});
                                          }));
                                        });
                                        throw Error(said.get_future().get());
                                      },
                                      {std::chrono::seconds(60)});
  EXPECT_THAT(errors, testing::Each(AllOf(HasSubstr("rank 0 called barrier #1.1"),
                                          HasSubstr("rank 1 called all_reduce #1.1 float32[7]"))));
}

TEST(Callbacks, ThatDoNotEndAreNamedToWhoWaits) {
  const auto errors = errors_of_ranks(2,
                                      [](ProcessGroup& g) {
                                        std::promise<void> end;
                                        const auto held = end.get_future().share();
                                        const auto work = g.all_reduce(ones({2}), kAdded, {true});
                                        work->on_completion([held](Work&) { held.wait(); });
                                        const auto next = g.barrier({true});
                                        const std::string error = error_of([&] { next->wait(); });
                                        end.set_value();
                                        throw Error(error);
                                      },
                                      {milliseconds(700)});
  EXPECT_THAT(errors, testing::Each(HasSubstr("barrier #2 at callbacks_test.cpp")));
  EXPECT_THAT(errors, testing::Each(HasSubstr("a callback of all_reduce #1 float32[2] (SUM)")));
  EXPECT_THAT(errors, testing::Each(HasSubstr("did not end within the timeout of 700 ms")));
}

TEST(Callbacks, HoldNobodyUpWhenAnotherRankFindsAFault) {
  const auto errors = errors_of_ranks(2, [](ProcessGroup& g) {
    std::promise<void> end;
    const auto held = end.get_future().share();
    const auto work = g.all_reduce(ones({2}), kAdded, {true});
    if (g.rank() == 0) work->on_completion([held](Work&) { held.wait(); });
    const auto next = g.rank() == 0 ? g.barrier({true}) : g.all_reduce(ones({3}), kAdded, {true});
    const std::string error = error_of([&] { next->wait(); });
    end.set_value();
    throw Error(error);
  });
  EXPECT_THAT(errors, testing::Each(HasSubstr("barrier #2 at callbacks_test.cpp")));
  EXPECT_THAT(errors, testing::Each(HasSubstr("all_reduce #2 float32[3] (SUM)")));
}

}  // namespace
}  // namespace taeda
