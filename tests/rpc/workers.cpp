#include "tests/rpc/workers.h"

#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/distributed/store/hash_store.h"
#include "tests/distributed/stores.h"

namespace taeda::distributed::rpc {
namespace {

/// Where a worker's requests arrive, as long as it takes part.
struct Inbox {
  std::shared_mutex mutex;
  Transport::OnRequest on_request;
};

struct MemoryNet {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Inbox>> inboxes;
};

Packet copy_of(const Packet& packet) {
  Packet out{packet.head, {}};
  for (const Tensor& t : packet.bodies) out.bodies.push_back(t.clone());
  return out;
}

class MemoryTransport final : public Transport {
 public:
  MemoryTransport(std::shared_ptr<MemoryNet> net, const Options& options)
      : net_(std::move(net)), id_(options.id), inbox_(std::make_shared<Inbox>()) {
    inbox_->on_request = options.on_request;
    std::lock_guard lock(net_->mutex);
    net_->inboxes[address()] = inbox_;
  }
  ~MemoryTransport() override { stop(); }

  std::string address() const override { return "memory " + std::to_string(id_); }
  void meet(int64_t id, const std::string& name, const std::string& address) override {
    names_[id] = name;
    addresses_[id] = address;
  }
  void call(int64_t to, Packet request, Done done) override {
    std::shared_ptr<Inbox> inbox;
    {
      std::lock_guard lock(net_->mutex);
      inbox = net_->inboxes[addresses_.at(to)];
    }
    std::shared_lock open(inbox->mutex);
    if (!inbox->on_request) {
      open.unlock();
      return done({}, "the connection to worker " + names_.at(to) + " is gone: it left");
    }
    inbox->on_request(id_, copy_of(request),
                      [done](const Packet& answer) { done(copy_of(answer), ""); });
  }
  void stop() override {
    std::unique_lock lock(inbox_->mutex);
    inbox_->on_request = {};
  }

 private:
  const std::shared_ptr<MemoryNet> net_;
  const int64_t id_;
  const std::shared_ptr<Inbox> inbox_;
  std::map<int64_t, std::string> names_, addresses_;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, Net net) {
  return out << (net == Net::Memory ? "Memory" : "Grpc");
}

std::string missing(Net net) { return net == Net::Grpc ? missing_grpc() : std::string(); }

TransportFactory memory_net() {
  return [net = std::make_shared<MemoryNet>()](const Transport::Options& options) {
    return std::make_unique<MemoryTransport>(net, options);
  };
}

void run_workers(Net net, int64_t size, const std::function<void(int64_t)>& f,
                 const std::function<RpcBackendOptions(int64_t)>& options) {
  const auto store = std::make_shared<HashStore>(std::chrono::seconds(20));
  const TransportFactory open = net == Net::Memory ? memory_net() : open_grpc_transport;
  std::vector<std::exception_ptr> errors(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        RpcBackendOptions own = options ? options(rank) : RpcBackendOptions();
        own.store = store;
        own.job = "tests";
        if (!own.security) own.security = Security();
        const auto agent =
            Agent::join("worker" + std::to_string(rank), rank, size, std::move(own), open);
        const Agent::Scope scope(*agent);
        f(rank);
        agent->shutdown(true, std::chrono::seconds(20));
      } catch (...) {
        errors[static_cast<size_t>(rank)] = std::current_exception();
      }
    });
  for (std::thread& t : threads) t.join();
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace taeda::distributed::rpc
