// The keys of TCPStore's server and those who wait for them, without a network.

#if defined(TAEDA_HAS_GRPC)

#include "taeda/distributed/store/grpc/state.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

namespace taeda::distributed::grpc_store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A client of a state, which keeps what it is told.
class Member {
 public:
  explicit Member(State& state) : state_(state) {}
  ~Member() { state_.remove(this); }

  void ask(taeda_store::Operation operation, const std::vector<std::string>& keys,
           const std::string& value = "", int64_t amount = 0) {
    Request request;
    request.set_number(++asked_);
    request.set_operation(operation);
    for (const std::string& key : keys) request.add_keys(key);
    request.set_value(value);
    request.set_amount(amount);
    state_.handle(this, request, [this](const Response& r) { told_.push_back(r); });
  }
  const std::vector<Response>& told() const { return told_; }

 private:
  State& state_;
  uint64_t asked_ = 0;
  std::vector<Response> told_;
};

TEST(StoreState, AWaitIsAnsweredWithItsLastKey) {
  State state;
  Member waiter(state), setter(state);
  waiter.ask(taeda_store::WAIT, {"a", "b"});
  waiter.ask(taeda_store::GET, {"b"});
  setter.ask(taeda_store::SET, {"b"}, "1");
  ASSERT_EQ(waiter.told().size(), 1u);
  EXPECT_EQ(waiter.told()[0].number(), 2u);
  EXPECT_EQ(waiter.told()[0].value(), "1");
  setter.ask(taeda_store::ADD, {"a"}, "", 5);
  ASSERT_EQ(waiter.told().size(), 2u);
  EXPECT_EQ(waiter.told()[1].number(), 1u);
  EXPECT_EQ(setter.told().back().amount(), 5);
}

TEST(StoreState, AKeyThatIsDeletedMeanwhileIsWaitedForAgain) {
  State state;
  Member waiter(state), setter(state);
  waiter.ask(taeda_store::WAIT, {"a", "b"});
  setter.ask(taeda_store::SET, {"a"}, "1");
  setter.ask(taeda_store::DELETE_KEY, {"a"});
  setter.ask(taeda_store::SET, {"b"}, "1");
  EXPECT_THAT(waiter.told(), IsEmpty());
  setter.ask(taeda_store::COMPARE_SET, {"a"}, "2");
  EXPECT_EQ(waiter.told().size(), 1u);
}

TEST(StoreState, AWaitThatIsTakenBackSaysWhatItLacks) {
  State state;
  Member waiter(state), other(state);
  other.ask(taeda_store::SET, {"a"}, "1");
  waiter.ask(taeda_store::WAIT, {"a", "b", "c"});
  other.ask(taeda_store::CANCEL, {}, "", 1);
  EXPECT_THAT(waiter.told(), IsEmpty()) << "it is not the other's";
  waiter.ask(taeda_store::CANCEL, {}, "", 1);
  ASSERT_EQ(waiter.told().size(), 1u);
  EXPECT_EQ(waiter.told()[0].number(), 1u);
  EXPECT_TRUE(waiter.told()[0].cancelled());
  EXPECT_THAT(waiter.told()[0].missing(), ElementsAre("b", "c"));
  other.ask(taeda_store::SET, {"b"}, "1");
  other.ask(taeda_store::SET, {"c"}, "1");
  EXPECT_EQ(waiter.told().size(), 1u);
}

TEST(StoreState, WorkersAreWaitedFor) {
  State state;
  Member master(state);
  master.ask(taeda_store::WAIT_WORKERS, {}, "", 2);
  state.add_worker();
  EXPECT_THAT(master.told(), IsEmpty());
  state.add_worker();
  ASSERT_EQ(master.told().size(), 1u);
  EXPECT_EQ(master.told()[0].amount(), 2);
}

TEST(StoreState, RequestsThatMakeNoSenseAreRefused) {
  State state;
  Member member(state);
  member.ask(taeda_store::SET, {});
  member.ask(taeda_store::GET, {"a", "b"});
  member.ask(taeda_store::NONE, {});
  member.ask(taeda_store::NUM_KEYS, {}, std::string(kMostValueBytes + 1, 'x'));
  ASSERT_EQ(member.told().size(), 4u);
  EXPECT_EQ(member.told()[0].error(), ".set: takes one key");
  EXPECT_EQ(member.told()[1].error(), ".get: takes one key");
  EXPECT_THAT(member.told()[2].error(), HasSubstr("an operation that this server does not know"));
  EXPECT_THAT(member.told()[3].error(), HasSubstr(".num_keys: a value for key ''"));
}

TEST(StoreState, AFullStoreRefusesMore) {
  State state(/*most_keys=*/2, /*most_bytes=*/100);
  Member member(state);
  member.ask(taeda_store::SET, {"a"}, std::string(90, 'x'));
  member.ask(taeda_store::SET, {"b"}, std::string(20, 'x'));
  EXPECT_EQ(member.told()[0].error(), "");
  EXPECT_EQ(member.told()[1].error(),
            ": the store is full, with 1 keys and 91 bytes; at most 2 and 100");
  member.ask(taeda_store::SET, {"b"}, "");
  member.ask(taeda_store::ADD, {"c"}, "", 1);
  EXPECT_EQ(member.told()[2].error(), "");
  EXPECT_THAT(member.told()[3].error(), HasSubstr("the store is full, with 2 keys"));
  member.ask(taeda_store::SET, {"a"}, std::string(95, 'x'));
  EXPECT_EQ(member.told()[4].error(), "") << "what is replaced does not count";
  member.ask(taeda_store::DELETE_KEY, {"a"});
  member.ask(taeda_store::SET, {"c"}, std::string(90, 'x'));
  EXPECT_EQ(member.told().back().error(), "");
}

TEST(StoreState, ThreadsAskAtOnce) {
  constexpr int kThreads = 6, kTimes = 100;
  State state;
  std::atomic<int> replies{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kTimes; ++i) {
        Request request;
        request.set_number(static_cast<uint64_t>(i) + 1);
        request.add_keys("key" + std::to_string(i));
        request.set_operation((t + i) % 2 ? taeda_store::GET : taeda_store::SET);
        state.handle(&threads, request, [&](const Response&) { ++replies; });
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(replies, kThreads * kTimes) << "every key was set by some";
}

}  // namespace
}  // namespace taeda::distributed::grpc_store

#endif
