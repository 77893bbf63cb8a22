// One worker: what it calls at others, and what others call here.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "taeda/distributed/own_process.h"
#include "taeda/rpc/archive.h"
#include "taeda/rpc/deadlines.h"
#include "taeda/rpc/future.h"
#include "taeda/rpc/options.h"
#include "taeda/rpc/pool.h"
#include "taeda/rpc/transport.h"
#include "taeda/rpc/worker.h"

namespace taeda::inline v0_2::distributed::rpc {

/// What a request is about.
enum class Kind : uint8_t {
  Call,       ///< of a function
  Create,     ///< of a function whose result stays
  Fetch,      ///< of such a result
  AddFork,    ///< one more reference
  DropFork,   ///< one less
  StartPass,  ///< of distributed autograd
  Gradients,
  Release,  ///< of an autograd context
};

/// The way back for what a request asked. Copies are one; what is dropped without an answer is
/// answered with an error.
class Answer {
 public:
  Answer(Agent& agent, int64_t to, Transport::Reply reply);

  /// The autograd context that the result belongs to; -1 for none.
  void set_context(int64_t id) const;
  Writer writer() const;
  void send(Writer result) const;
  void fail(std::exception_ptr error) const;

 private:
  struct Once;
  std::shared_ptr<Once> once_;
};

/// A call that came in: who asks, its packet, and where its answer goes.
struct Request {
  WorkerInfo from;
  Reader in;
  Answer answer;
};

class Contexts;
class References;

/// This process among the workers: sends calls, runs those that come in, keeps references.
class Agent : public std::enable_shared_from_this<Agent> {
 public:
  using Handler = std::function<void(Request&)>;
  using FuturePtr = std::shared_ptr<detail::FutureState>;
  using Decode = std::function<detail::FutureState::Made(Reader&)>;

  /// What a call is, besides its arguments.
  struct Call {
    Kind kind;
    int64_t to;
    std::string what;  ///< as errors say it: "function 'add'"
    Decode decode;
    double timeout = kUnsetRpcTimeout;
    bool in_context = false;  ///< of the caller's distributed autograd
  };

  /// Joins the others of `store`; returns when all have come. Throws ValueError for a name that is
  /// none or is another worker's, too, and DistributedError naming who does not come.
  static std::shared_ptr<Agent> join(const std::string& name, int64_t rank, int64_t world_size,
                                     RpcBackendOptions options,
                                     const TransportFactory& open = open_grpc_transport);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  /// The worker that this thread is: of the function that runs, or of the process. Throws Error
  /// where there is none.
  static std::shared_ptr<Agent> current();
  static std::shared_ptr<Agent> find_current();
  static void set_current(std::shared_ptr<Agent> agent);
  /// Makes a worker that of the calling thread, for a scope.
  class Scope {
   public:
    explicit Scope(Agent& agent);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Agent* previous_;
  };

  const WorkerInfo& self() const { return workers_[static_cast<size_t>(rank_)]; }
  const std::vector<WorkerInfo>& workers() const { return workers_; }
  /// Throws ValueError, naming those that there are, for another one.
  const WorkerInfo& worker(const WorkerRef& name) const;
  /// The device on which worker `to` gets tensors of `device`. Throws ValueError where no map says.
  Device device_for(int64_t to, Device device) const;
  const RpcBackendOptions& options() const { return options_; }

  /// Sends a request; the future has what `decode` makes of its answer, or an error that says what
  /// was called where.
  FuturePtr request(Call call, Writer arguments);
  /// What to do with requests of a kind, on a thread of the pool. What it throws is the answer.
  void serve(Kind kind, Handler handler);
  Contexts& contexts() { return *contexts_; }
  References& references() { return *references_; }
  void run(Pool::Task task) { pool_.submit(std::move(task)); }

  /// Ends this worker; with `graceful` when nobody has anything to do any more. Functions that run
  /// still when the time is up are left to themselves.
  void shutdown(bool graceful, std::chrono::milliseconds timeout);
  /// Throws Error on a thread that runs another worker's function: it cannot wait for its own end.
  void check_may_end() const;
  bool stopped() const { return stopped_; }
  /// What was still referred to when all workers were done: a line for each value of this one.
  const std::vector<std::string>& leaks() const { return leaks_; }

 private:
  /// A call that has no answer yet.
  struct Pending {
    uint64_t number = 0;
    Call call;
    std::string place = {};  ///< "On WorkerInfo(id=1, name=worker1), in function 'add'"
    FuturePtr future = {};
    std::optional<Deadlines::Key> deadline = {};
  };
  struct Ending;

  Agent(int64_t rank, int64_t world_size, RpcBackendOptions options);
  static void destroy(Agent* agent);
  void meet(const std::string& name, const TransportFactory& open);
  void for_each_worker(const char* what, const std::function<void(int64_t)>& f) const;
  void read_worker(int64_t rank, const std::string& text);
  void check_names() const;
  void receive(int64_t from, Packet packet, Transport::Reply reply);
  void handle(int64_t from, Packet packet, const Transport::Reply& reply);
  void send(int64_t to, Packet packet, Transport::Done done);
  void finish(const std::shared_ptr<Pending>& pending, Packet answer, const std::string& error);
  std::unique_ptr<Ending> take(const std::shared_ptr<Pending>& pending);
  void limit(const std::shared_ptr<Pending>& pending, double timeout);
  using Clock = std::chrono::steady_clock;
  /// How long the end of a worker may take in all.
  struct Limit {
    std::chrono::milliseconds timeout;
    Clock::time_point deadline;
    bool over() const { return Clock::now() >= deadline; }
  };
  void part(const Limit& limit);
  int64_t wait_until_quiet(const Limit& limit);
  std::string what_is_to_do();
  [[noreturn]] static void fail_late(const Limit& limit, const std::string& workers);
  void report_leaks();
  int64_t count_calls(int64_t round, const Limit& limit);
  void wait_for_keys(const std::string& prefix, const Limit& limit);
  void check_reachable(const WorkerInfo& worker, const std::string& prefix);
  void leave();
  void stop(std::chrono::milliseconds patience);

  const OwnProcess process_;
  const int64_t rank_, world_size_;
  RpcBackendOptions options_;
  StorePtr store_;
  std::vector<WorkerInfo> workers_;
  std::vector<DeviceMap> device_maps_;  ///< by worker
  std::map<Kind, Handler> handlers_;
  std::unique_ptr<References> references_;
  std::unique_ptr<Contexts> contexts_;
  std::vector<std::string> leaks_;
  Pool pool_;
  Deadlines deadlines_;
  std::unique_ptr<Transport> transport_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, std::shared_ptr<Pending>> pending_;
  uint64_t calls_ = 0;
  int64_t ending_ = 0;  ///< calls that are pending no more, whose futures do not know yet
  std::atomic<bool> stopped_{false};
};

namespace detail {
/// Registers the handlers of functions. @{
void serve_calls(Agent& agent);
/// @}
}  // namespace detail

}  // namespace taeda::inline v0_2::distributed::rpc
