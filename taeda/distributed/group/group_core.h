// What a process group is made of, without the operations: runs them, watches them, and finds out
// what went wrong.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "taeda/distributed/group/lanes.h"
#include "taeda/distributed/group/own_keys.h"
#include "taeda/distributed/group/report.h"
#include "taeda/distributed/group/work.h"
#include "taeda/distributed/own_process.h"

namespace taeda::inline v0_2::distributed {

/// How long who leaves a group waits for the others.
inline constexpr std::chrono::seconds kLeavePatience(5);

/// Who is in a group.
struct Membership {
  std::string name;
  int rank = 0;            ///< of this process, in the group
  std::vector<int> ranks;  ///< of the members, in the world; as many as there are members

  int size() const { return static_cast<int>(ranks.size()); }
};

/// Note [How mismatches are found]
/// Ranks that call different things have different numbers (Fingerprint::call_id), so nothing is
/// exchanged and they wait; in the normal case a fingerprint costs its hash and no message. Where
/// an operation has run for longer than `check_interval`, the watchdog writes the rank's last
/// operations to the store and reads the others'. Two that differ, or a rank that has left, fail
/// the group: the first rank that knows writes the text under "failure", everybody takes it from
/// there, and only then closes the connections, so that who sees a connection close finds the
/// reason already there; the watchdog ends operations at the group's timeout in the same way, and
/// an engine's own deadline is later. A connection that closes without a reason means that the peer
/// has died.
class GroupCore : public std::enable_shared_from_this<GroupCore> {
 public:
  using Body = std::function<void(Communicator&, const Call&, Work&)>;

  /// What an operation is about, and which ones it keeps its place among: by default collectives.
  struct Way {
    Device device;
    Lanes::Key lane = 0;
    Way(Device d, Lanes::Key key = 0) : device(d), lane(key) {}
  };

  GroupCore(Membership members, std::shared_ptr<OwnKeys> store,
            std::unique_ptr<Communicator> communicator, std::chrono::milliseconds timeout);
  ~GroupCore();

  /// Runs `body` in its lane: on this thread where `async` is not set and the lane has nothing to
  /// do. `result`: the tensors it gives values to. Throws the error of a group that has failed.
  ///
  /// Where the engine queues on the device, the body runs with a stream of the group's current, on
  /// this thread but for asynchronous messages, which may have to wait for their partner's
  /// connection; what it queues is waited for aside.
  WorkPtr start(Fingerprint what, Way way, bool async, std::vector<Tensor> result, Body body);
  /// Whether operations on the device's tensors are queued on its streams.
  bool queues_on(Device device) const;
  /// Ends the group: waits until the others end it, too, or a few seconds.
  void leave();

  /// Looks after operations that take long; called by the watchdog's thread alone.
  void watch();

  const Membership& members() const { return members_; }
  const OwnProcess& process() const { return process_; }
  std::chrono::milliseconds timeout() const { return timeout_.load(std::memory_order_relaxed); }
  void set_timeout(std::chrono::milliseconds timeout) {
    timeout_.store(timeout, std::memory_order_relaxed);
  }
  Store& store() { return *store_; }
  /// Why the group can no longer be used; empty while it can.
  std::string failure() const;

  /// For how long an operation may run before ranks compare what they have called, 500 ms unless
  /// TAEDA_DISTRIBUTED_CHECK_MS says otherwise. Throws ValueError where that is no number.
  static std::chrono::milliseconds check_interval();

 private:
  /// The timeout of an operation that has run for longer.
  using Exceeded = std::optional<std::chrono::milliseconds>;
  struct Running {
    Fingerprint what;
    uint64_t record;
    Clock::time_point since;
    std::chrono::milliseconds timeout;
    bool calls_back = false;  ///< it has ended, but its callbacks have not
  };

  Clock::time_point engine_deadline(const Work& work) const;
  WorkPtr enter(Fingerprint what, const Way& way, std::vector<Tensor> result, bool follows);
  void withdraw(const WorkPtr& work);
  void submit(const WorkPtr& work, Lanes::Key lane, Lanes::Task task);
  void execute(const WorkPtr& work, const Body& body, const Way& way);
  void queue(const WorkPtr& work, const Body& body, const Call& call, const Way& way);
  void complete(const WorkPtr& work, const Queued& queued);
  void await(const Work& work) const;
  void conclude(const WorkPtr& work, std::exception_ptr error);
  Stream stream_of(const Way& way);
  void wait_until_queued_is_done();
  std::exception_ptr error_of(const Work& work, const CommunicatorError& error);
  std::string inquire(const Fingerprint& what, const CommunicatorError& error, Exceeded timeout);
  std::string reason(const Fingerprint& what, const CommunicatorError& error, Exceeded timeout);
  std::string lost_text(const Fingerprint& what, const CommunicatorError& error) const;
  void fail(const std::string& text);
  void give_up(const Running& running, const CommunicatorError& error, Exceeded timeout);
  void give_up_aside(const Running& running, const CommunicatorError& error, Exceeded timeout);
  void end_queued();
  std::exception_ptr error_in(const Work& work, const std::string& text) const;
  std::optional<CommunicatorError> lost_connection(const Fingerprint& what) const;
  void wait_until_heard();
  void part();
  void meet_at(const std::string& key, std::chrono::milliseconds patience,
               const std::function<bool()>& enough);

  std::string who() const {
    return "rank " + std::to_string(world_rank()) + " of group '" + members_.name + "'";
  }
  int world_rank() const { return members_.ranks[static_cast<size_t>(members_.rank)]; }
  std::optional<Running> longest_running() const;
  std::optional<std::string> find_silent(const Reports& reports, const Fingerprint& what);
  void warn(const Running& running, const Reports& reports);
  void answer_inquiry();
  void publish(bool left = false);
  Reports read_reports();
  std::optional<std::string> shared_failure();
  std::string share_failure(const std::string& text);
  std::optional<std::string> find_fault(const Reports& reports, const Fingerprint& what);
  bool confirmed(const Passing& passing, const Reports& reports);

  const Membership members_;
  const std::shared_ptr<OwnKeys> store_;
  const std::unique_ptr<Communicator> communicator_;
  std::atomic<std::chrono::milliseconds> timeout_;  ///< any thread may set it
  const uint32_t record_group_;
  const OwnProcess process_;

  mutable std::mutex mutex_;  ///< of the members up to the empty line
  std::condition_variable idle_;
  uint64_t collectives_ = 0, messages_ = 0;
  std::vector<WorkPtr> pending_;
  std::vector<Running> calling_back_;
  std::map<std::pair<Lanes::Key, int>, Stream> streams_;  ///< by lane and device
  std::string failure_;
  bool leaving_ = false;
  std::map<std::pair<int, int>, std::pair<uint64_t, uint64_t>> passing_;  ///< beats when first seen

  std::mutex failing_;   ///< one error at a time is looked into
  bool waited_ = false;  ///< until the others have heard why; guarded by failing_
  std::atomic<uint64_t> beat_{0};
  // The watchdog's own.
  Clock::time_point next_check_, watched_;
  int64_t answered_ = 0;
  uint64_t asked_for_ = 0, warned_of_ = 0;  ///< records
  bool gave_up_ = false;
  std::map<int, std::pair<uint64_t, Clock::time_point>> beats_;  ///< the last, and when it changed

  Lanes lanes_;  ///< ends first: its tasks use the rest
};

/// Has the process's watchdog look at a group until it is gone.
void watch_over(const std::shared_ptr<GroupCore>& group);

}  // namespace taeda::inline v0_2::distributed
