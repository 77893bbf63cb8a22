// What RRefs refer to, and who has one.
//
// Note [How references are counted]
// The owner keeps a value as long as anybody has a fork of its reference; each has a name. Every
// process that has RRefs has one fork for them and takes it back when the last one goes. Who sends
// an RRef makes a fork for the receiver, tells the owner, and keeps his own until the owner has
// confirmed it: so there always is a fork that the owner knows, and the message with the RRef does
// not wait. The receiver may be done before the owner has heard of his fork at all; the owner then
// remembers that it was taken back, and forgets both when the news comes.
#pragma once

#include <atomic>
#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "taeda/base/source_location.h"
#include "taeda/rpc/agent.h"
#include "taeda/rpc/value.h"

namespace taeda::inline v0_2::distributed::rpc {

/// The n-th thing that a worker made.
struct GlobalId {
  int64_t worker = -1, number = -1;
  auto operator<=>(const GlobalId&) const = default;
};

/// The same wherever the reference is.
struct RRefInfo {
  GlobalId id = {};
  int64_t owner = -1;
  std::string type = {};
  std::string origin = {};  ///< "worker0 at train.cpp:12"
};

/// A fork, which ends with the object.
class RRefHandle {
 public:
  RRefHandle(std::shared_ptr<Agent> agent, RRefInfo info, GlobalId fork, bool confirmed);
  ~RRefHandle();
  RRefHandle(const RRefHandle&) = delete;
  RRefHandle& operator=(const RRefHandle&) = delete;

  const std::shared_ptr<Agent> agent;
  const RRefInfo info;
  const GlobalId fork;
  std::atomic<bool> confirmed;

  bool is_owner() const { return info.owner == agent->self().id; }
  /// "RRef[Tensor], made by worker0 at train.cpp:12"
  std::string describe() const;
  /// The owner's value; waits for it. Throws what the function that makes it threw.
  const Value& local_value() const;
  /// The value, fetched from the owner.
  Agent::FuturePtr fetch(Agent::Decode decode, double timeout) const;
};

using RRefHandlePtr = std::shared_ptr<RRefHandle>;

class References {
 public:
  explicit References(Agent& agent);

  GlobalId next_id();
  /// A reference to a value of this worker.
  RRefHandlePtr own(Value value, const SourceLocation& site);
  /// Has a function called at its owner; what it returns stays there.
  RRefHandlePtr create(const WorkerRef& owner, const std::string& type, const std::string& function,
                       const std::function<void(Writer&)>& call, double timeout,
                       const SourceLocation& site);
  /// Writes a fork for the worker that `out` goes to.
  static void share(const RRefHandlePtr& handle, Writer& out);
  /// Throws TypeError for a reference to another type.
  static RRefHandlePtr receive(Reader& in, const std::string& type);

  /// The value of a reference that this worker owns, when it is there: a Value.
  std::shared_ptr<detail::FutureState> value(const GlobalId& id);
  void add_fork(const GlobalId& id, const GlobalId& fork);
  void drop_fork(const GlobalId& id, const GlobalId& fork);

  /// What is still referred to, a line for each.
  std::vector<std::string> in_use() const;
  /// Fails the values that have not come; nothing brings them any more.
  void fail_open(const std::exception_ptr& error);
  /// Lets go of all values.
  void clear();

 private:
  struct Entry {
    std::shared_ptr<detail::FutureState> value = std::make_shared<detail::FutureState>();
    std::set<GlobalId> forks;
    RRefInfo info;
    bool created = false;
  };

  std::shared_ptr<detail::FutureState> make(const RRefInfo& info, const GlobalId& fork);
  void serve_create(Request& request);
  void serve_fetch(Request& request);
  void erase_if_unused(std::map<GlobalId, Entry>::iterator entry, Entry* dropped);
  RRefInfo info_here(int64_t owner, const std::string& type, const SourceLocation& site);

  Agent& agent_;
  std::atomic<int64_t> last_{0};
  mutable std::mutex mutex_;
  std::map<GlobalId, Entry> entries_;
  std::set<GlobalId> dropped_early_;
  std::exception_ptr end_;  ///< why no value comes any more
};

}  // namespace taeda::inline v0_2::distributed::rpc
