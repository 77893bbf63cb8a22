// How processes come together in a store, and what of it stays there.

#include <gmock/gmock.h>

#include <atomic>

#include "taeda/distributed/rendezvous.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/sparse/sparse.h"
#include "tests/distributed/group/ranks.h"
#include "tests/distributed/process.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using distributed::HashStore;
using distributed::ProcessGroup;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

/// Makes one rank late, when it has entered the group already.
class LateStore final : public distributed::Store {
 public:
  LateStore(std::shared_ptr<HashStore> store, milliseconds delay)
      : store_(std::move(store)), delay_(delay) {}

  void set(const std::string& key, std::string_view value) override {
    if (key.find("gloo/") != std::string::npos && !was_late_.exchange(true))
      std::this_thread::sleep_for(delay_);
    store_->set(key, value);
  }
  std::string get(const std::string& key) override { return store_->get(key); }
  int64_t add(const std::string& key, int64_t amount) override { return store_->add(key, amount); }
  std::string compare_set(const std::string& key, std::string_view expected,
                          std::string_view desired) override {
    return store_->compare_set(key, expected, desired);
  }
  bool delete_key(const std::string& key) override { return store_->delete_key(key); }
  bool check(const std::vector<std::string>& keys) override { return store_->check(keys); }
  void wait(const std::vector<std::string>& keys, std::optional<milliseconds> timeout) override {
    store_->wait(keys, timeout);
  }
  int64_t num_keys() override { return store_->num_keys(); }

 private:
  const std::shared_ptr<HashStore> store_;
  const milliseconds delay_;
  std::atomic<bool> was_late_{false};
};

TEST(Joining, ARankMayBeLateForAsLongAsTheTimeoutSays) {
  const auto store = std::make_shared<HashStore>();
  const auto late = std::make_shared<LateStore>(store, milliseconds(5000));
  std::vector<std::string> errors(2);
  std::vector<std::thread> threads;
  for (const int rank : {0, 1})
    threads.emplace_back([&, rank] {
      errors[static_cast<size_t>(rank)] = error_of([&] {
        const distributed::StorePtr own = rank == 1 ? distributed::StorePtr(late) : store;
        ProcessGroup::create("gloo", own, rank, 2, {.timeout = milliseconds(20'000)})->barrier({});
      });
    });
  for (std::thread& t : threads) t.join();
  EXPECT_THAT(errors, testing::Each("no error"));
}

TEST(Joining, ARankThatHasComeAndSaysNothingIsNamed) {
  const auto store = std::make_shared<HashStore>();
  store->set("group/world/size", "2");
  store->add("group/world/member/1", 1);
  EXPECT_THAT(
      error_of([&] { ProcessGroup::create("gloo", store, 0, 2, {milliseconds(300)}); }),
      AllOf(HasSubstr("rank 1 has come, but did not say within "),
            HasSubstr(" ms where it is to be reached"), HasSubstr("it has died, or stands still")));
}

TEST(Joining, AGroupLeavesItsStoreAsItFoundIt) {
  const auto store = std::make_shared<HashStore>();
  store->set("of the program", "");
  std::vector<std::thread> threads;
  std::atomic<int64_t> most{0};
  for (const int rank : {0, 1, 2})
    threads.emplace_back([&, rank] {
      const auto group = ProcessGroup::create("gloo", store, rank, 3, {std::chrono::seconds(60)});
      group->barrier({});
      const int64_t before = store->num_keys();
      for (int i = 0; i < 20; ++i)
        group->monitored_barrier(std::chrono::seconds(60), true, SourceLocation::current());
      group->barrier({});
      if (rank == 0) most = store->num_keys() - before;
      group->barrier({});
      group->leave();
    });
  for (std::thread& t : threads) t.join();
  EXPECT_LE(most, 6) << "two rounds of three keys";
  EXPECT_EQ(store->num_keys(), 1);
}

int join_alone() {
  std::printf("%s\n", error_of([] {
                        ProcessGroup::create("gloo", std::make_shared<HashStore>(), 0, 1);
                      }).c_str());
  return 0;
}
const Role joins_alone("join_alone", join_alone);

TEST(Joining, AnIntervalThatIsNoNumberIsAnError) {
  for (const char* text : {"abc", "-5", "1s"}) {
    Process process("join_alone", {{"TAEDA_DISTRIBUTED_CHECK_MS", text}});
    EXPECT_EQ(process.line(),
              "environment variable TAEDA_DISTRIBUTED_CHECK_MS expected a number of milliseconds "
              "from 1 to 3600000, but it is '" +
                  std::string(text) + "'");
    EXPECT_EQ(process.wait(), 0);
  }
}

TEST(Joining, PortZeroIsNoMeetingPlace) {
  EXPECT_THAT(error_of([] { distributed::rendezvous("tcp://localhost:0", 0, 2); }),
              HasSubstr("port 0, which the system replaces by one that it chooses, is none where 2 "
                        "processes are to meet"));
}

TEST(Joining, SparseTensorsAreRefusedByName) {
  run_ranks(1, [](ProcessGroup& g) {
    EXPECT_THAT(error_of([&] {
                  g.all_reduce(ones({2, 2}).to_sparse(), {}, {});
                }),
                HasSubstr("all_reduce: expected a dense tensor, got a sparse one"));
  });
}

}  // namespace
}  // namespace taeda
