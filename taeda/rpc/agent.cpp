#include "taeda/rpc/agent.h"

#include "taeda/base/error.h"
#include "taeda/base/warning.h"
#include "taeda/rpc/answer.h"
#include "taeda/rpc/contexts.h"
#include "taeda/rpc/references.h"
#include "taeda/tensor/thread_state.h"

namespace taeda::inline v0_2::distributed::rpc {

namespace {

std::mutex current_mutex;
std::shared_ptr<Agent>& process_agent() {
  static auto* agent = new std::shared_ptr<Agent>;
  return *agent;
}
thread_local Agent* this_threads_agent = nullptr;

/// The calling thread's worker, or the process's, or that of the process which it is a copy of.
std::shared_ptr<Agent> known_agent() {
  if (this_threads_agent) return this_threads_agent->shared_from_this();
  std::lock_guard lock(current_mutex);
  return process_agent();
}

std::exception_ptr distributed_error(const std::string& text) {
  return std::make_exception_ptr(DistributedError(text));
}

}  // namespace

/// Counts a call until those that wait for its end have heard of it, or a thread of the pool is to
/// tell them: what they do then belongs to this worker.
struct Agent::Ending {
  explicit Ending(Agent& its_agent) : agent(its_agent) {
    std::lock_guard lock(agent.mutex_);
    ++agent.ending_;
  }
  ~Ending() {
    {
      std::lock_guard lock(agent.mutex_);
      --agent.ending_;
    }
    agent.changed_.notify_all();
  }
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

  Agent& agent;
};

std::string to_string(const WorkerInfo& worker) {
  return "WorkerInfo(id=" + std::to_string(worker.id) + ", name=" + worker.name + ")";
}

std::ostream& operator<<(std::ostream& out, const WorkerInfo& worker) {
  return out << to_string(worker);
}

std::shared_ptr<Agent> Agent::find_current() {
  auto agent = known_agent();
  return agent && agent->process_.here() ? agent : nullptr;
}

std::shared_ptr<Agent> Agent::current() {
  std::shared_ptr<Agent> out = known_agent();
  if (out) out->process_.check("rpc", "the worker " + out->self().name);
  TAEDA_CHECK(out, "RPC has not been initialized. Call rpc::init_rpc(...) first.");
  return out;
}

void Agent::set_current(std::shared_ptr<Agent> agent) {
  std::lock_guard lock(current_mutex);
  process_agent().swap(agent);
}

Agent::Scope::Scope(Agent& agent) : previous_(this_threads_agent) { this_threads_agent = &agent; }
Agent::Scope::~Scope() { this_threads_agent = previous_; }

const WorkerInfo& Agent::worker(const WorkerRef& name) const {
  for (const WorkerInfo& worker : workers_) {
    const auto* text = std::get_if<std::string>(&name.value());
    if (text ? worker.name == *text : worker.id == std::get<int64_t>(name.value())) return worker;
  }
  std::string known;
  for (const WorkerInfo& worker : workers_) known += (known.empty() ? "" : ", ") + worker.name;
  const auto* text = std::get_if<std::string>(&name.value());
  taeda::detail::fail<ValueError>(
      "rpc: there is no worker " +
      (text ? "'" + *text + "'" : std::to_string(std::get<int64_t>(name.value()))) +
      "; there are " + known);
}

Device Agent::device_for(int64_t to, Device device) const {
  if (to == rank_) return device;
  const DeviceMap& map = device_maps_.at(static_cast<size_t>(to));
  const auto entry = map.find(device);
  TAEDA_CHECK_VALUE(entry != map.end(),
                    "rpc: only tensors of the CPU are sent by default; move the one on ", device,
                    " to the CPU before sending it, or call `set_device_map` on "
                    "`RpcBackendOptions`. There is no device map for it from worker ",
                    self().name, " to ", workers_.at(static_cast<size_t>(to)).name);
  return entry->second;
}

void Agent::serve(Kind kind, Handler handler) { handlers_[kind] = std::move(handler); }

Agent::FuturePtr Agent::request(Call call, Writer arguments) {
  auto pending = std::make_shared<Pending>();
  pending->place =
      "On " + to_string(workers_.at(static_cast<size_t>(call.to))) + ", in " + call.what;
  pending->future =
      std::make_shared<detail::FutureState>([weak = weak_from_this()](std::function<void()> f) {
        if (const auto agent = weak.lock())
          agent->run([f = std::move(f), agent = agent.get()] {
            const Scope scope(*agent);
            f();
          });
      });
  pending->call = std::move(call);
  {
    std::lock_guard lock(mutex_);
    TAEDA_CHECK_AS(DistributedError, !stopped_, pending->place,
                   ": this worker was shut down; no call is sent any more");
    pending->number = ++calls_;
    pending_[pending->number] = pending;
  }
  try {
    limit(pending, pending->call.timeout);
  } catch (...) {
    take(pending);
    throw;
  }
  Writer message(this, pending->call.to);
  message.byte(static_cast<uint8_t>(pending->call.kind));
  contexts_->write(message, arguments, pending->call.in_context ? Contexts::current() : -1);
  message.append(std::move(arguments));
  send(pending->call.to, message.take(),
       [self = shared_from_this(), pending](Packet answer, const std::string& error) {
         self->finish(pending, std::move(answer), error);
       });
  return pending->future;
}

void Agent::limit(const std::shared_ptr<Pending>& pending, double timeout) {
  if (timeout == kUnsetRpcTimeout) timeout = options_.rpc_timeout;
  if (timeout <= 0) return;
  const auto time =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::duration<double>(timeout));
  const auto key = deadlines_.add(
      Deadlines::Clock::now() + time,
      [weak = weak_from_this(), late = std::weak_ptr(pending), ms = time.count() / 1000] {
        const auto agent = weak.lock();
        const auto call = late.lock();
        if (!agent || !call) return;
        if (const auto ending = agent->take(call))
          call->future->fail(
              distributed_error(call->place + ": RPC ran for more than set timeout (" +
                                std::to_string(ms) + " ms) and will now be marked with an error"));
      });
  std::lock_guard lock(mutex_);
  pending->deadline = key;
}

/// Null unless the call was waiting for its answer still; it does no more.
std::unique_ptr<Agent::Ending> Agent::take(const std::shared_ptr<Pending>& pending) {
  auto ending = std::make_unique<Ending>(*this);
  std::optional<Deadlines::Key> deadline;
  {
    std::lock_guard lock(mutex_);
    if (pending_.erase(pending->number) == 0) return nullptr;
    deadline = pending->deadline;
  }
  if (deadline) deadlines_.remove(*deadline);
  return ending;
}

void Agent::finish(const std::shared_ptr<Pending>& pending, Packet answer,
                   const std::string& error) {
  const auto ending = take(pending);
  if (!ending) return;
  if (!error.empty()) {
    pending->future->fail(distributed_error(pending->place + ": " + error));
    return;
  }
  auto reader = std::make_shared<Reader>(std::move(answer), this, pending->call.to);
  // What makes the value belongs to the future and must not hold it: it may never run.
  pending->future->arrive([self = shared_from_this(), place = pending->place,
                           decode = std::move(pending->call.decode), reader] {
    const Scope scope(*self);
    if (reader->byte() != 0) detail::throw_error(*reader, place);
    self->contexts_->read(*reader);
    auto made = decode(*reader);
    reader->finish();
    return made;
  });
}

/// A worker's calls to itself go the same way, without the network.
void Agent::send(int64_t to, Packet packet, Transport::Done done) {
  if (to != rank_) return transport_->call(to, std::move(packet), std::move(done));
  const auto apart = [](Packet& message) {
    for (Tensor& t : message.bodies) t = t.clone();
  };
  apart(packet);
  receive(rank_, std::move(packet), [done = std::move(done), apart](Packet answer) {
    apart(answer);
    done(std::move(answer), "");
  });
}

void Agent::receive(int64_t from, Packet packet, Transport::Reply reply) {
  pool_.submit([this, from, packet = std::move(packet), reply = std::move(reply)]() mutable {
    const Scope scope(*this);
    const ThreadState::Scope state(ThreadState{});
    handle(from, std::move(packet), reply);
  });
}

void Agent::handle(int64_t from, Packet packet, const Transport::Reply& reply) {
  Request request{workers_.at(static_cast<size_t>(from)), Reader(std::move(packet), this, from),
                  Answer(*this, from, reply)};
  try {
    const auto kind = static_cast<Kind>(request.in.byte());
    const auto handler = handlers_.find(kind);
    TAEDA_CHECK_AS(DistributedError, handler != handlers_.end(),
                   "rpc: a message that is none: kind ", static_cast<int>(kind));
    const int64_t context = contexts_->read(request.in);
    request.answer.set_context(context);
    const Contexts::Scope in_context(context);
    handler->second(request);
  } catch (...) {
    request.answer.fail(std::current_exception());
  }
}

void Agent::stop(std::chrono::milliseconds patience) {
  std::map<uint64_t, std::shared_ptr<Pending>> left;
  {
    std::lock_guard lock(mutex_);
    if (stopped_.exchange(true)) return;
    left.swap(pending_);
  }
  for (const auto& [number, pending] : left)
    pending->future->fail(distributed_error(pending->place + ": this worker was shut down"));
  changed_.notify_all();
  if (transport_) transport_->stop();
  // The pool waits for its tasks, and some may wait for what only messages would bring.
  const auto error = distributed_error("rpc: this worker was shut down");
  references_->fail_open(error);
  contexts_->fail_gates(error);
  if (!pool_.stop(patience)) {
    taeda::detail::warn_aside(WarningKind::Runtime,
                              "rpc: " + self().name +
                                  " is shut down, and functions that still run there, " +
                                  std::to_string(pool_.running()) + ", are left to themselves");
    new std::shared_ptr<Agent>(shared_from_this());  // they use it
  }
  deadlines_.stop();
  references_->clear();
}

Agent::~Agent() { stop(std::chrono::milliseconds::max()); }

}  // namespace taeda::inline v0_2::distributed::rpc
