// RRefs: where values live, and when they end.

#include "taeda/rpc/rref.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "taeda/ops/create/create.h"
#include "tests/error_of.h"
#include "tests/rpc/functions.h"
#include "tests/rpc/workers.h"

namespace taeda::distributed::rpc {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Counts those that live; cannot be sent.
class Counter {
 public:
  explicit Counter(int64_t start) : value_(start) { ++living; }
  Counter(Counter&& other) noexcept : value_(other.value_) { ++living; }
  ~Counter() { --living; }
  int64_t add(int64_t amount) { return value_ += amount; }
  int64_t value() const { return value_; }
  Tensor as_tensor() { return full({1}, static_cast<double>(value_)); }

  static inline std::atomic<int> living = 0;

 private:
  int64_t value_;
};
TAEDA_RPC_METHOD(Counter, add);
TAEDA_RPC_METHOD(Counter, value);
TAEDA_RPC_METHOD(Counter, as_tensor);

Counter make_counter(int64_t start) {
  if (start < 0) throw ValueError("a counter starts at 0");
  return Counter(start);
}
int64_t add_to(const RRef<Counter>& counter, int64_t amount) {
  return counter.rpc_sync().call(&Counter::add, amount);
}
RRef<Counter> same_reference(const RRef<Counter>& counter) { return counter; }
RRef<Counter> own_counter() { return RRef<Counter>(Counter(100)); }
/// Keeps a reference until it is told to let go.
std::mutex kept_mutex;
std::vector<RRef<Counter>> kept;
void keep(const RRef<Counter>& counter) {
  std::lock_guard lock(kept_mutex);
  kept.push_back(counter);
}
void let_go() {
  std::lock_guard lock(kept_mutex);
  kept.clear();
}
TAEDA_RPC_FUNCTION(make_counter);
TAEDA_RPC_FUNCTION(add_to);
TAEDA_RPC_FUNCTION(same_reference);
TAEDA_RPC_FUNCTION(own_counter);
TAEDA_RPC_FUNCTION(keep);
TAEDA_RPC_FUNCTION(let_go);

class RRefs : public testing::TestWithParam<Net> {
 protected:
  void SetUp() override {
    if (const std::string why = missing(GetParam()); !why.empty()) GTEST_SKIP() << why;
  }
  void TearDown() override { EXPECT_EQ(Counter::living, 0) << "all values have ended"; }
  /// Workers, of which the first runs `f`; nothing may leak at any.
  void run(int64_t size, const std::function<void()>& f) {
    std::vector<std::shared_ptr<Agent>> agents(static_cast<size_t>(size));
    run_workers(GetParam(), size, [&](int64_t rank) {
      agents[static_cast<size_t>(rank)] = Agent::current();
      if (rank == 0) f();
    });
    for (const auto& agent : agents) EXPECT_THAT(agent->leaks(), IsEmpty());
  }
};
INSTANTIATE_TEST_SUITE_P(Nets, RRefs, testing::Values(Net::Memory, Net::Grpc),
                         testing::PrintToStringParamName());

TEST_P(RRefs, ReferToAValueThatStays) {
  run(2, [] {
    const RRef<Tensor> sum = remote("worker1", add_scaled, {ones({2}), ones({2}), 2.0});
    EXPECT_FALSE(sum.is_owner());
    EXPECT_EQ(sum.owner(), (WorkerInfo{"worker1", 1}));
    EXPECT_EQ(sum.owner_name(), "worker1");
    EXPECT_TRUE(sum.to_here().equal(full({2}, 3.0)));
    EXPECT_TRUE(sum.confirmed_by_owner());
    EXPECT_THAT(error_of([&] { sum.local_value(); }),
                AllOf(HasSubstr("Cannot call local_value() on a non-local reference: RRef[Tensor], "
                                "made by worker0 at rref_test.cpp:"),
                      HasSubstr("is owned by WorkerInfo(id=1, name=worker1)")));
    const RRef<Tensor> own(ones({3}));
    EXPECT_TRUE(own.is_owner() && own.confirmed_by_owner());
    EXPECT_TRUE(own.to_here().equal(own.local_value()));
  });
}

TEST_P(RRefs, CallMembersAtTheOwner) {
  run(2, [] {
    const RRef<Counter> counter = remote("worker1", make_counter, {5});
    EXPECT_EQ(counter.rpc_sync().call(&Counter::add, 2), 7);
    EXPECT_EQ(counter.rpc_async().call(&Counter::value).wait(), 7);
    EXPECT_TRUE(counter.remote().call(&Counter::as_tensor).to_here().equal(full({1}, 7.0)));
    EXPECT_EQ(counter.rpc_sync().call(add_to, 3), 10) << "a function whose first parameter it is";
    EXPECT_EQ(Counter::living, 1);
    const RRef<Counter> here = remote("worker0", make_counter, {1});
    EXPECT_TRUE(here.is_owner());
    EXPECT_EQ(here.rpc_sync().call(&Counter::add, 1), 2);
    EXPECT_EQ(here.local_value().value(), 2);
  });
}

TEST_P(RRefs, ErrorsOfTheFunctionComeWithTheValue) {
  run(2, [] {
    const RRef<Counter> none = remote("worker1", make_counter, {-1});
    EXPECT_THAT(error_of([&] { none.rpc_sync().call(&Counter::value); }),
                HasSubstr("a counter starts at 0"));
    const RRef<Tensor> unknown = remote<Tensor>("worker1", "no such function");
    EXPECT_THAT(error_of([&] { unknown.to_here(); }),
                AllOf(HasSubstr("On WorkerInfo(id=1, name=worker1), in to_here() of RRef[Tensor], "
                                "made by worker0 at rref_test.cpp:"),
                      HasSubstr("worker1 has no function 'no such function'")));
    EXPECT_THAT(error_of([] { rpc_sync<int64_t>("worker1", "make_counter", std::tuple(1)); }),
                HasSubstr("called make_counter(int) -> int"));
  });
}

TEST_P(RRefs, TravelBetweenThreeWorkers) {
  run(3, [] {
    for (int i = 0; i < 20; ++i) {
      const RRef<Counter> counter = remote("worker1", make_counter, {i});
      EXPECT_EQ(rpc_sync("worker2", add_to, {counter, 1}), i + 1);
      EXPECT_EQ(rpc_sync("worker1", add_to, {counter, 1}), i + 2) << "back to its owner";
      EXPECT_EQ(rpc_sync("worker2", same_reference, {counter}).rpc_sync().call(&Counter::value),
                i + 2);
      const RRef<Counter> theirs = rpc_sync("worker2", own_counter);
      EXPECT_EQ(theirs.owner_name(), "worker2");
      EXPECT_EQ(rpc_sync("worker1", add_to, {theirs, 1}), 101);
    }
  });
}

TEST_P(RRefs, LiveAsLongAsAnybodyHasOne) {
  run(3, [] {
    {
      const RRef<Counter> counter = remote("worker1", make_counter, {1});
      rpc_sync("worker2", keep, {counter});
    }
    RRef<Counter> again;
    {
      std::lock_guard lock(kept_mutex);
      again = kept.at(0);
    }
    EXPECT_EQ(again.rpc_sync().call(&Counter::value), 1)
        << "the maker has let go, worker 2 has not";
    EXPECT_EQ(Counter::living, 1);
    again = {};
    rpc_sync("worker2", let_go);
  });
}

TEST_P(RRefs, ThatAreDroppedAtOnceLeaveNothing) {
  run(3, [] {
    for (int i = 0; i < 50; ++i) {
      const RRef<Counter> counter = remote("worker1", make_counter, {i});
      rpc_async("worker2", same_reference, {counter});
      rpc_async("worker1", same_reference, {counter});
      remote("worker2", make_counter, {i});
    }
  });
}

TEST_P(RRefs, ThatAreHeldAtTheEndAreReported) {
  RRef<Counter> held;
  std::shared_ptr<Agent> owner;
  run_workers(GetParam(), 2, [&](int64_t rank) {
    if (rank == 1) owner = Agent::current();
    if (rank == 0) held = remote("worker1", make_counter, {1});
  });
  EXPECT_THAT(owner->leaks(),
              ElementsAre(AllOf(HasSubstr("Counter], made by worker0 at rref_test.cpp:"),
                                HasSubstr(", owned by worker1, is still referred to once"))));
}

TEST_P(RRefs, ThatReferToAnotherTypeAreRefused) {
  run(2, [] {
    const RRef<Tensor> tensor(ones({1}));
    const RRef<Counter> wrong(tensor.handle_ptr());
    EXPECT_THAT(
        error_of([&] {
          rpc_sync("worker1", add_to, {wrong, 1});
        }),
        AllOf(HasSubstr("RRef[Tensor], made by worker0"), HasSubstr("Counter was expected")));
    EXPECT_THAT(error_of([] {
                  rpc_sync("worker1", add_to, {RRef<Counter>(), 1});
                }),
                HasSubstr("an empty RRef cannot be sent"));
  });
}

/// As where another worker says of a value that it is of a type that it is not.
TEST_P(RRefs, ThatLeadToAnotherTypeAreRefused) {
  run(1, [] {
    const RRef<Tensor> tensor(ones({1}));
    EXPECT_THAT(error_of([&] { RRef<Counter>(tensor.handle_ptr()).local_value(); }),
                AllOf(HasSubstr("a reference to "), HasSubstr("Counter leads to a value of type "),
                      HasSubstr("Tensor")));
    const RRef<int32_t> narrow(7);
    EXPECT_THAT(error_of([&] { RRef<int64_t>(narrow.handle_ptr()).to_here(); }),
                HasSubstr("a reference to long leads to a value of type int"));
  });
}

}  // namespace
}  // namespace taeda::distributed::rpc
