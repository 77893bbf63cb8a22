// What all stores do alike, on each of them.

#include "taeda/distributed/store/store.h"

#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "taeda/base/error.h"
#include "tests/distributed/stores.h"
#include "tests/error_of.h"

namespace taeda::distributed {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Stores : public testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    if (const std::string reason = GetParam().missing(); !reason.empty()) GTEST_SKIP() << reason;
    world_ = GetParam().make();
    store_ = world_->open();
  }
  /// What an operation of `store` that must fail says.
  template <class F>
  static std::string refusal(F&& f) {
    try {
      f();
    } catch (const DistributedError& e) {
      return e.what();
    }
    return "no DistributedError";
  }

  std::unique_ptr<StoreWorld> world_;
  StorePtr store_;
};

TEST_P(Stores, AValueIsAnyBytes) {
  store_->set("key", "one");
  EXPECT_EQ(store_->get("key"), "one");
  const std::string bytes("a\0b\xff\n", 5);
  store_->set("key", bytes);
  EXPECT_EQ(store_->get("key"), bytes);
  store_->set("empty", "");
  EXPECT_EQ(store_->get("empty"), "");
  store_->set("", "of the empty key");
  EXPECT_EQ(store_->get(""), "of the empty key");
  const std::string large(3 << 20, 'x');
  store_->set("large", large);
  EXPECT_EQ(store_->get("large"), large);
}

TEST_P(Stores, AddCountsFromNothingAndFromText) {
  EXPECT_EQ(store_->add("n", 5), 5);
  EXPECT_EQ(store_->add("n", -7), -2);
  EXPECT_EQ(store_->get("n"), "-2");
  store_->set("n", "40");
  EXPECT_EQ(store_->add("n", 2), 42);
  EXPECT_EQ(store_->add("zero", 0), 0);
  EXPECT_TRUE(store_->check({"zero"}));
}

TEST_P(Stores, AddRefusesWhatIsNoNumber) {
  store_->set("text", "12 apples");
  EXPECT_THAT(refusal([&] { store_->add("text", 1); }),
              AllOf(HasSubstr("add: key '"), HasSubstr("text' holds '12 apples', which is no")));
  store_->set("most", "9223372036854775807");
  EXPECT_THAT(refusal([&] { store_->add("most", 1); }), HasSubstr("adding 1 makes a number of"));
  EXPECT_EQ(store_->get("most"), "9223372036854775807");
}

TEST_P(Stores, CompareSetSetsWhatIsExpected) {
  EXPECT_EQ(store_->compare_set("key", "something", "new"), "something");
  EXPECT_FALSE(store_->check({"key"}));
  EXPECT_EQ(store_->compare_set("key", "", "first"), "first");
  EXPECT_EQ(store_->compare_set("key", "", "second"), "first");
  EXPECT_EQ(store_->compare_set("key", "other", "second"), "first");
  EXPECT_EQ(store_->compare_set("key", "first", "second"), "second");
  EXPECT_EQ(store_->get("key"), "second");
}

TEST_P(Stores, KeysCanBeCountedCheckedAndDeleted) {
  EXPECT_EQ(store_->num_keys(), 0);
  store_->set("a", "1");
  store_->add("b", 1);
  EXPECT_EQ(store_->num_keys(), 2);
  EXPECT_TRUE(store_->check({}));
  EXPECT_TRUE(store_->check({"a", "b"}));
  EXPECT_FALSE(store_->check({"a", "c"}));
  EXPECT_TRUE(store_->delete_key("a"));
  EXPECT_FALSE(store_->delete_key("a"));
  EXPECT_FALSE(store_->check({"a"}));
  EXPECT_EQ(store_->num_keys(), 1);
}

TEST_P(Stores, OneSeesWhatAnotherDid) {
  const StorePtr other = world_->open();
  store_->set("key", "value");
  EXPECT_EQ(other->get("key"), "value");
  other->set("key", "changed");
  EXPECT_EQ(store_->get("key"), "changed");
  EXPECT_TRUE(other->delete_key("key"));
  EXPECT_FALSE(store_->check({"key"}));
}

TEST_P(Stores, WaitingEndsWhenTheLastKeyComes) {
  const StorePtr other = world_->open();
  std::string got;
  std::thread reader([&] { got = store_->get("value"); });
  std::thread waiter([&] { store_->wait({"value", "number", "exchanged"}); });
  other->set("value", "here");
  other->add("number", 1);
  other->compare_set("exchanged", "", "x");
  reader.join();
  waiter.join();
  EXPECT_EQ(got, "here");
}

TEST_P(Stores, ATimeoutNamesWhatDidNotCome) {
  store_->set("there", "1");
  store_->set_timeout(milliseconds(30));
  EXPECT_EQ(store_->timeout(), milliseconds(30));
  EXPECT_THAT(refusal([&] { store_->get("missing"); }),
              AllOf(HasSubstr(".get: wait timeout after 30ms, keys: "), HasSubstr("missing")));
  EXPECT_THAT(refusal([&] {
                store_->wait({"there", "never"});
              }),
              AllOf(HasSubstr(".wait: wait timeout after 30ms, keys: "), HasSubstr("never"),
                    Not(HasSubstr("there,"))));
  store_->set_timeout(kDefaultTimeout);
  EXPECT_THAT(refusal([&] { store_->wait({"never"}, milliseconds(20)); }),
              HasSubstr(".wait: wait timeout after 20ms, keys: "));
  EXPECT_THAT(refusal([&] { store_->wait({"never"}, milliseconds(0)); }), HasSubstr("after 0ms"));
  store_->wait({"there"}, milliseconds(0));
  EXPECT_EQ(store_->get("there"), "1") << "a timeout leaves the store as it was";
}

TEST_P(Stores, ATimeoutMustBePositive) {
  EXPECT_EQ(error_of([&] { store_->set_timeout(milliseconds(-1)); }),
            "Store: a timeout must be positive, but got -1ms");
  store_->set_timeout(milliseconds::max());
  store_->set("key", "1");
  EXPECT_EQ(store_->get("key"), "1");
  store_->set_timeout(kDefaultTimeout);
}

TEST_P(Stores, ThreadsCountTogether) {
  constexpr int kThreads = 6, kTimes = 50;
  const StorePtr other = world_->open();
  std::vector<std::vector<int64_t>> seen(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      Store& store = t % 2 ? *store_ : *other;
      for (int i = 0; i < kTimes; ++i) seen[t].push_back(store.add("n", 1));
      store.set("done" + std::to_string(t), "1");
      for (int peer = 0; peer < kThreads; ++peer) store.wait({"done" + std::to_string(peer)});
    });
  for (std::thread& thread : threads) thread.join();
  std::set<int64_t> all;
  for (const auto& numbers : seen) all.insert(numbers.begin(), numbers.end());
  EXPECT_EQ(all.size(), size_t{kThreads * kTimes});
  EXPECT_EQ(store_->add("n", 0), kThreads * kTimes);
}

TEST_P(Stores, OneThreadOfManyWinsAnExchange) {
  constexpr int kThreads = 6;
  std::vector<std::string> seen(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back(
        [&, t] { seen[t] = store_->compare_set("leader", "", std::to_string(t)); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 1u);
  EXPECT_EQ(store_->get("leader"), seen[0]);
}

INSTANTIATE_TEST_SUITE_P(All, Stores, testing::ValuesIn(store_kinds()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace taeda::distributed
