// A worker of remote calls, and what another worker sends it: requests of every kind, and answers
// to what it asks.
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <utility>

#include "taeda/distributed/store/hash_store.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/rpc/dist_autograd.h"
#include "taeda/rpc/rpc.h"
#include "taeda/rpc/rref.h"
#include "tests/fuzz/reader.h"

namespace taeda::fuzz {
namespace {

namespace rpc = distributed::rpc;

Tensor sum_of(const std::vector<Tensor>& list) { return list.at(0) + list.at(1); }
int64_t count_of(const std::map<std::string, double>& numbers, const std::string& text) {
  return static_cast<int64_t>(numbers.size() + text.size());
}
/// Waits where the reference leads nowhere.
Tensor look_at(const rpc::RRef<Tensor>& reference) { return reference.local_value(); }

TAEDA_RPC_FUNCTION(sum_of);
TAEDA_RPC_FUNCTION(count_of);
TAEDA_RPC_FUNCTION(look_at);

/// The other worker, of which only the messages are there.
struct Peer {
  std::mutex mutex;
  std::deque<std::string_view> messages;
  rpc::Transport::OnRequest on_request;

  /// From either end; empty where there are no more.
  std::string next(bool first) {
    std::lock_guard lock(mutex);
    if (messages.empty()) return {};
    const std::string out(first ? messages.front() : messages.back());
    first ? messages.pop_front() : messages.pop_back();
    return out;
  }
  bool is_done() {
    std::lock_guard lock(mutex);
    return messages.empty();
  }
};

rpc::Packet packet_of(std::string head) { return {std::move(head), {ones({6}), ones({4}, kByte)}}; }

/// Requests come from the front of the input, answers from its end.
class Transport final : public rpc::Transport {
 public:
  Transport(Peer& peer, const Options& options) : peer_(peer) {
    peer_.on_request = options.on_request;
  }
  std::string address() const override { return "here"; }
  void meet(int64_t, const std::string&, const std::string&) override {}
  void call(int64_t, rpc::Packet, Done done) override {
    std::string answer = peer_.next(false);
    if (answer.empty()) return done({}, "it is gone");
    // Most answers carry no tensors.
    const bool bare = answer.size() < 24;
    done(bare ? rpc::Packet{std::move(answer), {}} : packet_of(std::move(answer)), "");
  }
  void stop() override {}

 private:
  Peer& peer_;
};

std::shared_ptr<rpc::Agent> join(Peer& peer) {
  rpc::RpcBackendOptions options;
  options.num_worker_threads = 1;
  options.rpc_timeout = 0;
  options.store = std::make_shared<distributed::HashStore>();
  options.job = "fuzz";
  options.security = distributed::Security();
  rpc::Writer other;
  other.text("other");
  other.text("there");
  other.integer(0);  // no maps of devices
  options.store->set("rpc/1/worker/1", other.take().head);
  options.store->set("rpc/1/ready/1", "");
  return rpc::Agent::join("here", 0, 2, std::move(options), [&](rpc::Transport::Options transport) {
    return std::make_unique<Transport>(peer, std::move(transport));
  });
}

/// One thread takes the tasks in their order: those before this one have ended, or wait.
void let_run(rpc::Agent& agent) {
  for (int i = 0; i < 2; ++i) {
    std::promise<void> begun;
    agent.run([&] { begun.set_value(); });
    begun.get_future().wait();
  }
}

/// A call within a context, whose answer the input has.
void ask(Numbers& numbers) {
  const unsigned what = numbers.byte() % 4;
  if (what == 0) return;
  const std::vector<Tensor> list = {ones({6}), ones({6}).requires_grad_()};
  try {
    if (what == 1) rpc::rpc_sync("other", count_of, {std::map<std::string, double>(), "text"});
    if (what == 2) rpc::rpc_sync("other", sum_of, {list});
    if (what == 3) rpc::remote("other", sum_of, {list}).to_here();
  } catch (const Error&) {
  }
}

void read_calls(std::string_view bytes) {
  Peer peer;
  Numbers numbers(bytes);
  const unsigned form = numbers.byte();
  const auto list = messages_in(numbers.rest());
  peer.messages.assign(list.begin(), list.end());
  const auto agent = join(peer);
  {
    const rpc::Agent::Scope scope(*agent);
    const rpc::RRef<Tensor> own(ones({6}));
    Numbers asked(std::string_view(bytes).substr(0, 1));
    std::optional<distributed::dist_autograd::context> context;
    if (form & 4) context.emplace();
    ask(asked);
    while (!peer.is_done()) {
      peer.on_request(1, packet_of(peer.next(true)), [](const rpc::Packet&) {});
      let_run(*agent);
    }
  }
  agent->shutdown(false, std::chrono::milliseconds(0));
}

/// Each message is of a kind that there is, and belongs to one of few contexts or to none.
std::string repaired_calls(std::string bytes) {
  constexpr size_t kLength = 2, kKind = kLength, kContext = kKind + 1, kEnd = kContext + 8;
  for (size_t at = 1; at + kEnd <= bytes.size();) {
    const size_t size = little_at(bytes, at, 2);
    auto& kind = bytes[at + kKind];
    kind = static_cast<char>(static_cast<unsigned char>(kind) % 8);
    const unsigned long long context = little_at(bytes, at + kContext, 1) % 4;
    put_little(bytes, at + kContext, context == 3 ? ~0ULL : context, 8);
    at += kLength + size;
  }
  return bytes;
}

}  // namespace

Reader fuzz_calls() { return {&read_calls, &repaired_calls}; }

}  // namespace taeda::fuzz
