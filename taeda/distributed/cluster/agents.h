// How the launchers of a job, one on each machine, agree: who takes part, when all start again, and
// when the job is over.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "taeda/distributed/security.h"
#include "taeda/distributed/store/store.h"

namespace taeda::inline v0_2::distributed {
class TCPStore;
}

namespace taeda::inline v0_2::distributed::cluster {

struct AgentOptions {
  std::string host = "127.0.0.1";  ///< where the launchers meet; one of them serves the store there
  uint16_t port = 0;               ///< 0, for a single machine: the system chooses
  std::string job;
  Security security;
  int64_t min_nodes = 1, max_nodes = 1;
  std::optional<int64_t> node_rank = {};  ///< this machine's; without it, by the order of arrival
  int64_t processes = 1;                  ///< on this machine
  std::string name;                       ///< of this machine, for messages
  int64_t max_restarts = 0;               ///< starts after failures, the same on all machines
  /// What this machine runs, as its user wrote it. One that is not the first machine's is told;
  /// empty: neither that nor another number of processes is.
  std::string program = {};
  std::chrono::milliseconds join_timeout = std::chrono::minutes(10);
  /// With as many machines as there must be: how long others may still come.
  std::chrono::milliseconds last_call = std::chrono::seconds(30);
  /// Told whom this launcher waits for, when `patience` is over and now and then after that, on
  /// another thread while gather() or the constructor waits; empty: nobody is.
  std::function<void(const std::string&)> say = {};
  std::chrono::milliseconds patience = std::chrono::seconds(5);
  /// A machine that says nothing for that long is gone; so is one whose store does not answer.
  std::chrono::milliseconds keep_alive = std::chrono::seconds(20);
};

/// The machines of one start of the program.
struct Gathering {
  int64_t round = 0;     ///< starts before this one
  int64_t failures = 0;  ///< those of them that failed
  int64_t node = 0;      ///< this machine's place
  std::vector<int64_t> processes;
  std::vector<std::string> names, programs;

  int64_t nodes() const { return static_cast<int64_t>(processes.size()); }
  int64_t world_size() const;
  int64_t first_rank() const;  ///< of this machine
};

/// Why a start is over on all machines.
struct RoundEnd {
  enum class Kind { kDone, kFailed, kChanged } kind;
  std::string text;  ///< of what failed, or changed
};

/// One launcher's part. While the program runs, a store that does not answer is asked anew for as
/// long as a machine may be silent; then look() throws DistributedError: the serving launcher is
/// gone. No call but gather() takes longer than a few seconds.
class Agents {
 public:
  /// Serves the store or reaches it.
  explicit Agents(const AgentOptions& options);
  ~Agents();
  Agents(const Agents&) = delete;
  Agents& operator=(const Agents&) = delete;

  uint16_t port() const;
  /// Whether this launcher serves the store.
  bool serves() const { return serves_; }
  /// This machine's place in the present start.
  int64_t node() const { return now_.node; }
  /// Waits for the other machines. Throws DistributedError when too few come within the timeout, or
  /// when this launcher was told otherwise than the first, or to take a place that another has.
  const Gathering& gather();
  /// In what this machine differs from the first, which is allowed: a line for each.
  std::vector<std::string> differences() const;
  /// Tells all that this machine's processes have ended well, or that one failed. Of several
  /// failures the first counts.
  void report_done();
  void report_failure(const std::string& text);
  /// Whether this start is over; asks the others now and then.
  std::optional<RoundEnd> look();
  /// The job is over for this machine. The one that serves the store waits a little for the others.
  void leave();

  /// A value that this machine shows to the others, and theirs, in their order.
  void show(const std::string& value);
  std::vector<std::string> shown();

 private:
  bool alone() const { return options_.max_nodes == 1; }
  std::string key(const std::string& name) const;
  std::string key_of_node(const std::string& name, int64_t node) const;
  void open_store();
  void use_store(std::shared_ptr<TCPStore> store);
  void agree();
  template <class F>
  void ask(F&& question);
  void check_patience(const std::string& error) const;
  int64_t join_round();
  void take_place(int64_t node);
  std::string wait_for_size(std::chrono::steady_clock::time_point deadline);
  std::string missing() const;
  void wait_for_next_round();
  std::string wait_for(const std::string& key, std::chrono::steady_clock::time_point deadline);
  void close_round(std::chrono::steady_clock::time_point deadline);
  std::optional<RoundEnd> look_at_store();
  void check_alive();
  void report(const std::string& key, const std::string& text);
  std::optional<RoundEnd> next_end();
  void advance(const RoundEnd& end);

  AgentOptions options_;
  bool serves_ = false;
  std::shared_ptr<TCPStore> server_;  ///< where this launcher serves, the object that does
  StorePtr store_;
  uint16_t port_ = 0;
  const std::string launcher_;                         ///< tells this one from all others
  std::map<std::string, std::string> to_report_ = {};  ///< keys that others must hear of
  /// Since when the store has not answered, and when it is asked again.
  std::optional<std::chrono::steady_clock::time_point> silent_since_ = {};
  std::chrono::steady_clock::time_point next_question_ = {};
  Gathering now_;
  std::optional<RoundEnd> end_;  ///< of a machine that is alone
  std::chrono::steady_clock::time_point next_look_ = {}, last_check_ = {};
  int64_t beat_ = 0;
  struct Beat {
    std::string value;
    std::chrono::steady_clock::time_point seen;
  };
  std::vector<Beat> beats_;
};

}  // namespace taeda::inline v0_2::distributed::cluster
