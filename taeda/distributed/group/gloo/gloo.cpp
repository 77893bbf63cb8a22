// The Gloo engine: every call is one of Gloo's collectives, over TCP.
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/common/error.h>
#include <gloo/gather.h>
#include <gloo/reduce.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/scatter.h>
#include <sched.h>
#include <signal.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "taeda/base/error.h"
#include "taeda/distributed/engine.h"
#include "taeda/distributed/group/communicator.h"
#include "taeda/distributed/group/gloo/checked.h"
#include "taeda/distributed/group/gloo/interruptible.h"
#include "taeda/distributed/group/reduce_functions.h"
#include "taeda/distributed/network.h"
#include "taeda/distributed/own_process.h"
#include "taeda/distributed/security.h"

namespace taeda::inline v0_2::distributed {

namespace {

using std::chrono::milliseconds;

/// For a scope, the calling thread and threads that it starts get no SIGPIPE: Gloo writes to
/// sockets whose peer may have gone, and a program that has not asked to ignore the signal would
/// die of it.
class QuietPipes {
 public:
  QuietPipes() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~QuietPipes() {
    if (sigismember(&before_, SIGPIPE)) return;
    const timespec now = {};
    while (sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  QuietPipes(const QuietPipes&) = delete;
  QuietPipes& operator=(const QuietPipes&) = delete;

 private:
  sigset_t pipe_, before_;
};

/// Gloo asks nobody who they are, so that beyond this machine at least the store has to, which
/// gives the addresses out.
std::string listening_address() {
  const std::string address = own_address("", "GLOO_SOCKET_IFNAME");
  TAEDA_CHECK_AS(DistributedError, address != "0.0.0.0" && address != "::",
                 "gloo: the others need an address to connect to, TAEDA_DISTRIBUTED_INTERFACE or "
                 "GLOO_SOCKET_IFNAME names all interfaces; name one");
  check_reach(address, Security::from_environment(), "gloo: listening on");
  return address;
}

/// For a scope, threads that the calling one starts do not interrupt those that run. Gloo's thread
/// tries a connection's lock again and again until it gets it: woken in the midst of a send, on the
/// sender's own processor, it would keep the sender from letting go until the scheduler's next
/// tick, some milliseconds later.
class BatchThreads {
 public:
  BatchThreads() : before_(::sched_getscheduler(0)) { set(SCHED_OTHER, SCHED_BATCH); }
  ~BatchThreads() { set(SCHED_BATCH, before_); }
  BatchThreads(const BatchThreads&) = delete;
  BatchThreads& operator=(const BatchThreads&) = delete;

 private:
  /// A program that chose another policy for itself keeps it.
  void set(int from, int to) const {
    const sched_param none = {};
    if (before_ == SCHED_OTHER && ::sched_getscheduler(0) == from)
      ::sched_setscheduler(0, to, &none);
  }
  const int before_;
};

std::shared_ptr<gloo::transport::Device> make_device() {
  gloo::transport::tcp::attr attr(listening_address().c_str());
  const BatchThreads patient;
  try {
    return std::make_shared<CheckedDevice>(gloo::transport::tcp::CreateDeviceAttr(attr));
  } catch (const std::exception& e) {
    throw DistributedError("gloo: cannot listen on " + attr.hostname + ": " + e.what());
  }
}

/// One for the process, with one thread; it goes with the last group. Who knows it is never
/// destroyed: a thread that a failed group left behind may still ask while the process ends.
std::shared_ptr<gloo::transport::Device> device() {
  static std::mutex mutex;
  static auto& shared = *new std::weak_ptr<gloo::transport::Device>;
  static OwnProcess owner;
  std::lock_guard lock(mutex);
  auto out = owner.here() ? shared.lock() : nullptr;
  if (!out) shared = out = make_device();
  owner = OwnProcess();
  return out;
}

/// A group's store as Gloo wants it.
class Meeting final : public gloo::rendezvous::Store {
 public:
  Meeting(StorePtr store, milliseconds timeout)
      : store_(std::move(store)), timeout_(timeout), until_{.deadline = Clock::now() + timeout} {}

  void set(const std::string& key, const std::vector<char>& data) override {
    store_->set("gloo/" + key, std::string_view(data.data(), data.size()));
  }
  std::vector<char> get(const std::string& key) override {
    wait({key});
    const std::string value = store_->get("gloo/" + key);
    return {value.begin(), value.end()};
  }
  /// Keys end with the number of the rank that sets them.
  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) try {
        store_->wait({"gloo/" + key}, until_.left());
      } catch (const DistributedError& e) {
        if (until_.left() > milliseconds(20)) throw;  // the store has another reason
        throw DistributedError(
            "rank " + key.substr(key.rfind('/') + 1) + " has come, but did not say within " +
            std::to_string(timeout_.count()) +
            " ms where it is to be reached: it has died, or stands still (" + e.message() + ")");
      }
  }
  /// Gloo's own time for it is a part of what there is.
  void wait(const std::vector<std::string>& keys, const milliseconds&) override { wait(keys); }

  const Call& until() const { return until_; }

 private:
  StorePtr store_;
  milliseconds timeout_;
  Call until_;
};

std::string message_of(const std::string& text) { return "gloo: " + without_place(text); }

/// What the peers of a rank show it as proof that they are of its group: for each of them other
/// bytes, which the rank draws and puts into the group's store, where nobody else can read.
class Proofs {
 public:
  static constexpr size_t kLength = 32;

  static Proofs drawn(int size) {
    std::string all(static_cast<size_t>(size) * kLength, '\0');
    for (size_t i = 0; i < all.size(); i += kLength)  // up to 256 bytes come whole
      TAEDA_CHECK_AS(DistributedError, ::getrandom(&all[i], kLength, 0) == ssize_t{kLength},
                     "gloo: the system gives no random bytes (", std::strerror(errno), ")");
    return Proofs(std::move(all));
  }
  explicit Proofs(std::string all) : all_(std::move(all)) {}

  const std::string& all() const { return all_; }
  std::string of(int peer) const {
    return all_.substr(static_cast<size_t>(peer) * kLength, kLength);
  }
  /// Of kLength bytes that were shown; in a time that does not tell where they differ.
  bool proves(int peer, const std::string& shown) const {
    const std::string right = of(peer);
    unsigned char difference = 0;
    for (size_t i = 0; i < kLength; ++i)
      difference |= static_cast<unsigned char>(shown[i] ^ right[i]);
    return difference == 0;
  }

 private:
  std::string all_;
};

/// The address where a process listens, and on whose network: which machine's, and there which of
/// the networks that containers have.
class Place {
 public:
  static Place own() {
    std::string machine;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), machine);
    std::error_code unknown;
    const auto network = std::filesystem::read_symlink("/proc/thread-self/ns/net", unknown);
    return Place(listening_address() + "\n" + machine + network.string());
  }
  explicit Place(const std::string& text)
      : address_(text.substr(0, text.find('\n'))), machine_(text.substr(address_.size())) {}

  std::string text() const { return address_ + machine_; }
  const std::string& address() const { return address_; }
  bool hidden_from(const Place& other) const {
    return is_loopback(address_) && machine_ != other.machine_;
  }

 private:
  std::string address_, machine_;
};

/// Throws DistributedError, saying what to do, where one of two ranks cannot connect to the other.
void check_reachable(const Place& here, int rank, const Place& there, int peer) {
  for (const bool first : {true, false}) {
    const Place& place = first ? here : there;
    TAEDA_CHECK_AS(DistributedError, !place.hidden_from(first ? there : here), "gloo: rank ",
                   first ? rank : peer, " listens on ", place.address(),
                   ", which its own machine alone reaches, and rank ", first ? peer : rank,
                   " is on another machine. Set TAEDA_DISTRIBUTED_INTERFACE to an interface that "
                   "they both reach, or meet at an address that is not loopback");
  }
}

/// Gloo's context, of ranks that have proved to be of the group.
class Mesh final : public gloo::rendezvous::Context, public std::enable_shared_from_this<Mesh> {
 public:
  using gloo::rendezvous::Context::Context;

  void connect(Meeting& meeting, std::shared_ptr<gloo::transport::Device> device) {
    const Proofs own = Proofs::drawn(size);
    const std::vector<std::string> theirs = exchange_places(meeting, own);
    connectFullMesh(meeting, device);
    exchange_proofs(meeting, own, theirs);
    transport_ = std::make_shared<InterruptibleTransport>(std::move(transportContext_));
    transportContext_ = transport_;
  }
  InterruptibleTransport& transport() { return *transport_; }
  /// The rank that an error's text names; -1 for none.
  int peer_in(const std::string& text) {
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      const std::string name = transport_->pair(peer).name();
      if (text.ends_with(name) || text.find(name + ":") != std::string::npos) return peer;
    }
    return -1;
  }

 private:
  static std::string proofs_key(int of) { return "proofs/" + std::to_string(of); }

  /// What each peer asks this rank to show. They also tell where they are: who listens on loopback
  /// is not to be found from another machine.
  std::vector<std::string> exchange_places(Meeting& meeting, const Proofs& own) {
    const Place here = Place::own();
    const std::string said = own.all() + here.text();
    meeting.set(proofs_key(rank), {said.begin(), said.end()});
    std::vector<std::string> out(static_cast<size_t>(size));
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      const std::vector<char> asked = meeting.get(proofs_key(peer));
      TAEDA_CHECK_AS(DistributedError, asked.size() > own.all().size(), "gloo: rank ", peer,
                     " asks for ", asked.size(), " bytes of proofs instead of ", own.all().size());
      const auto end = asked.begin() + static_cast<ptrdiff_t>(own.all().size());
      out[static_cast<size_t>(peer)] = Proofs({asked.begin(), end}).of(rank);
      check_reachable(here, rank, Place({end, asked.end()}), peer);
    }
    return out;
  }

  /// Gloo takes whoever connects first for the peer that it waits for. Nothing else is said to a
  /// peer, and nothing of what it says is used, before it has shown the proof that this rank has
  /// asked it for.
  void exchange_proofs(const Meeting& meeting, const Proofs& own,
                       const std::vector<std::string>& asked) {
    using Buffer = std::unique_ptr<gloo::transport::UnboundBuffer>;
    const auto n = static_cast<size_t>(size);
    std::vector<std::string> shown(n), theirs = asked;
    std::vector<Buffer> received(n), sent(n);
    const Call& call = meeting.until();
    const auto with = [&](int peer, auto&& f) {
      try {
        f();
      } catch (const gloo::Exception& e) {
        throw CommunicatorError(unproven(peer) + " (" + message_of(e.what()) + ")", peer);
      }
    };
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      const auto p = static_cast<size_t>(peer);
      shown[p].resize(Proofs::kLength);
      received[p] = createUnboundBuffer(shown[p].data(), Proofs::kLength);
      sent[p] = createUnboundBuffer(theirs[p].data(), Proofs::kLength);
      with(peer, [&] {
        received[p]->recv(peer, kProofSlot);
        sent[p]->send(peer, kProofSlot);
      });
    }
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      const auto p = static_cast<size_t>(peer);
      with(peer, [&] { received[p]->waitRecv(call.left()); });
      if (!own.proves(peer, shown[p])) throw CommunicatorError(unproven(peer), peer);
      with(peer, [&] { sent[p]->waitSend(call.left()); });
    }
  }
  std::string unproven(int peer) const {
    return "rank " + std::to_string(rank) + ": who is connected as rank " + std::to_string(peer) +
           " has not proved to be of this group: another program may have connected in its place";
  }

  std::shared_ptr<InterruptibleTransport> transport_;
};

class GlooCommunicator final : public Communicator {
 public:
  explicit GlooCommunicator(std::shared_ptr<Mesh> mesh) : mesh_(std::move(mesh)) {}
  ~GlooCommunicator() override { abort(); }

  void broadcast(const Call& call, Elements data, int root) override {
    collective<gloo::BroadcastOptions>(call, data, [&](auto& o) {
      o.setOutput(bytes(data), data.nbytes());
      o.setRoot(root);
      gloo::broadcast(o);
    });
  }

  void all_reduce(const Call& call, Elements data, ReduceOp op) override {
    collective<gloo::AllreduceOptions>(call, data, [&](auto& o) {
      with_type(data.dtype, [&]<class T> {
        o.setOutput(static_cast<T*>(data.data), static_cast<size_t>(data.count));
      });
      o.setReduceFunction(reduce_function(op.kind, data.dtype));
      gloo::allreduce(o);
    });
  }

  /// Gloo uses the output for parts of the sum on every rank, so that others than the root have one
  /// aside.
  void reduce(const Call& call, Elements data, ReduceOp op, int root) override {
    collective<gloo::ReduceOptions>(call, data, [&](auto& o) {
      std::vector<char> aside(mesh_->rank == root ? 0 : data.nbytes());
      with_type(data.dtype, [&]<class T> {
        const auto count = static_cast<size_t>(data.count);
        T* own = static_cast<T*>(data.data);
        if (mesh_->rank != root) o.setInput(own, count);
        o.setOutput(mesh_->rank == root ? own : reinterpret_cast<T*>(aside.data()), count);
      });
      o.setRoot(root);
      o.setReduceFunction(reduce_function(op.kind, data.dtype));
      gloo::reduce(o);
    });
  }

  void all_gather(const Call& call, Elements in, Elements out) override {
    collective<gloo::AllgatherOptions>(call, in, [&](auto& o) {
      o.setInput(bytes(in), in.nbytes());
      o.setOutput(bytes(out), out.nbytes());
      gloo::allgather(o);
    });
  }

  void gather(const Call& call, Elements in, Elements out, int root) override {
    collective<gloo::GatherOptions>(call, in, [&](auto& o) {
      o.setInput(bytes(in), in.nbytes());
      if (mesh_->rank == root) o.setOutput(bytes(out), out.nbytes());
      o.setRoot(root);
      gloo::gather(o);
    });
  }

  void scatter(const Call& call, Elements in, Elements out, int root) override {
    collective<gloo::ScatterOptions>(call, out, [&](auto& o) {
      std::vector<char*> parts;
      for (int r = 0; mesh_->rank == root && r < mesh_->size; ++r)
        parts.push_back(bytes(in) + static_cast<size_t>(r) * out.nbytes());
      if (!parts.empty()) o.setInputs(parts, out.nbytes());
      o.setOutput(bytes(out), out.nbytes());
      o.setRoot(root);
      gloo::scatter(o);
    });
  }

  /// Gloo's own reduce-scatter takes no tag and no deadline, so this is its all_reduce: twice the
  /// bytes, and the same bits.
  void reduce_scatter(const Call& call, Elements in, Elements out, ReduceOp op) override {
    std::vector<char> sum(in.nbytes());
    if (!sum.empty()) std::memcpy(sum.data(), in.data, sum.size());
    all_reduce(call, {sum.data(), in.count, in.dtype}, op);
    if (out.count > 0)
      std::memcpy(out.data, sum.data() + static_cast<size_t>(mesh_->rank) * out.nbytes(),
                  out.nbytes());
  }

  void all_to_all(const Call& call, Elements in, IntArrayRef in_counts, Elements out,
                  IntArrayRef out_counts) override {
    guarded(call, [&] {
      gloo::AlltoallvOptions o(mesh_);
      o.setInput(bytes(in), in_bytes(in_counts, in.dtype));
      o.setOutput(bytes(out), in_bytes(out_counts, out.dtype));
      o.setTimeout(call.left());
      gloo::alltoallv(o);
    });
  }

  void barrier(const Call& call) override {
    guarded(call, [&] {
      gloo::BarrierOptions o(mesh_);
      o.setTimeout(call.left());
      gloo::barrier(o);
    });
  }

  void send(const Call& call, Elements data, int to) override {
    guarded(call, [&] {
      const auto buffer = mesh_->createUnboundBuffer(data.data, data.nbytes());
      buffer->send(to, kMessageSlot);
      buffer->waitSend(call.left());
    });
  }

  int recv(const Call& call, Elements data, int from) override {
    int source = from;
    guarded(call, [&] {
      const auto buffer = mesh_->createUnboundBuffer(data.data, data.nbytes());
      if (from >= 0)
        buffer->recv(from, kMessageSlot);
      else
        buffer->recv(others(), kMessageSlot);
      buffer->waitRecv(&source, call.left());
    });
    return source;
  }

  std::optional<CommunicatorError> lost_connection() override {
    for (const int peer : others())
      if (const std::string text = mesh_->transport().pair(peer).failure(); !text.empty())
        return CommunicatorError(message_of(text), peer);
    return {};
  }

  void abort() noexcept override {
    const QuietPipes quiet;
    mesh_->transport().close();
  }

 private:
  static char* bytes(const Elements& e) { return static_cast<char*>(e.data); }

  static std::vector<int64_t> in_bytes(IntArrayRef counts, ScalarType dtype) {
    std::vector<int64_t> out;
    for (const int64_t n : counts) out.push_back(n * element_size(dtype));
    return out;
  }

  std::vector<int> others() const {
    std::vector<int> out;
    for (int r = 0; r < mesh_->size; ++r)
      if (r != mesh_->rank) out.push_back(r);
    return out;
  }

  /// Calls f.operator()<T>() with a type of that size: Gloo's options ask for nothing else.
  template <class F>
  static void with_type(ScalarType dtype, F&& f) {
    switch (element_size(dtype)) {
      case 1: return f.template operator()<uint8_t>();
      case 2: return f.template operator()<uint16_t>();
      case 4: return f.template operator()<uint32_t>();
      case 8: return f.template operator()<uint64_t>();
      default: return f.template operator()<complex<double>>();
    }
  }

  /// Options with the deadline. Without elements the ranks only meet.
  template <class Options, class F>
  void collective(const Call& call, const Elements& data, F&& f) {
    if (data.count == 0) return barrier(call);
    guarded(call, [&] {
      Options options(mesh_);
      options.setTimeout(call.left());
      f(options);
    });
  }

  /// Gloo's errors as Taeda's.
  template <class F>
  void guarded(const Call& call, F&& f) {
    const QuietPipes quiet;
    const InterruptibleTransport::Calling calling(call.id);
    try {
      f();
    } catch (const taeda::Error&) {
      throw;
    } catch (const std::exception& e) {
      const std::string text = message_of(e.what());
      throw CommunicatorError(text, mesh_->peer_in(text));
    }
  }

  std::shared_ptr<Mesh> mesh_;
};

std::unique_ptr<Communicator> connect(StorePtr store, int rank, int size, milliseconds timeout) {
  auto mesh = std::make_shared<Mesh>(rank, size);
  mesh->setTimeout(timeout / 5);  // Gloo takes five times as long for a connection
  Meeting meeting(std::move(store), timeout);
  const QuietPipes quiet;
  try {
    mesh->connect(meeting, device());
  } catch (const taeda::Error&) {
    throw;
  } catch (const std::exception& e) {
    throw DistributedError("rank " + std::to_string(rank) +
                           " could not connect to the group: " + message_of(e.what()));
  }
  return std::make_unique<GlooCommunicator>(std::move(mesh));
}

constexpr CommunicatorFunctions kFunctions = {&connect};

}  // namespace

}  // namespace taeda::inline v0_2::distributed

extern "C" const taeda::distributed::Engine taeda_engine = {
    .name = "gloo", .functions = &taeda::distributed::kFunctions};
