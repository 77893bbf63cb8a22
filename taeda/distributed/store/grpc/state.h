// The keys of a store's server, and who waits for which.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "taeda/distributed/store/grpc/messages.h"
#include "taeda/distributed/store/values.h"

namespace taeda::inline v0_2::distributed::grpc_store {

/// What a client asked for that must not be done twice, and was answered. A client whose connection
/// was lost before the answer came asks again.
using History = std::map<uint64_t, Response>;

/// Any thread may call any function. Replies are called without the lock. Errors begin with a point
/// and the operation: the client puts the name by which it knows the store in front.
class State {
 public:
  using Reply = std::function<void(const Response&)>;

  /// Holds at most so much, of keys and values together.
  explicit State(size_t most_keys = kMostKeys, size_t most_bytes = kMostBytes)
      : most_keys_(most_keys), most_bytes_(most_bytes) {}

  /// Does what `member` asks for, and replies now or when what it waits for is there. What is in
  /// its history already is not done again.
  void handle(const void* member, const Request& request, Reply reply, History* history = nullptr);
  /// One more process takes part.
  void add_worker();
  /// `member` is gone: nobody replies to it any more.
  void remove(const void* member);

 private:
  using Replies = std::vector<std::pair<Reply, Response>>;
  struct Waiter {
    const void* member;
    Request request;
    Reply reply;
    int next_key = 0;  // those before were seen
  };
  using Waiters = std::list<Waiter>;

  Response answer(const Request& request);
  Response answer_once(const Request& request, History* history);
  void set(const std::string& key, std::string value);
  void cancel(const void* member, const Request& request, Replies& out);
  void park_or_finish(Waiters& from, Waiters::iterator waiter, Replies& out);
  void wake(const std::string& key, Replies& out);
  void wake_for_workers(Replies& out);
  Response answer_to_waiter(const Waiter& waiter) const;

  const size_t most_keys_, most_bytes_;
  std::mutex mutex_;
  detail::Values values_;
  int64_t workers_ = 0;
  /// By the key that each waits for next, and those that wait for workers.
  std::unordered_map<std::string, Waiters> waiters_;
  Waiters waiters_for_workers_;
};

}  // namespace taeda::inline v0_2::distributed::grpc_store
