#include "taeda/distributed/store/tcp_store.h"

#include "taeda/distributed/grpc_engine.h"
#include "taeda/distributed/job.h"
#include "taeda/distributed/network.h"

namespace taeda::inline v0_2::distributed {

namespace {

std::unique_ptr<detail::TcpStoreClient> open_client(const std::string& host,
                                                    TCPStoreOptions options) {
  if (!options.job) options.job = job_name();
  if (!options.security) options.security = Security::from_environment();
  return grpc_engine("TCPStore").open_store(host, options);
}

}  // namespace

TCPStore::TCPStore(const std::string& host, const TCPStoreOptions& options)
    : Store(options.timeout), host_(host), client_(open_client(host, options)) {}

TCPStore::TCPStore(const std::string& host, uint16_t port, std::optional<int64_t> world_size,
                   bool is_master, std::chrono::milliseconds timeout, bool wait_for_workers)
    : TCPStore(host, {.port = port,
                      .is_master = is_master,
                      .world_size = world_size,
                      .wait_for_workers = wait_for_workers,
                      .timeout = timeout}) {}

/// A copy of the process that made it keeps what it cannot end.
TCPStore::~TCPStore() {
  if (!process_.here()) static_cast<void>(client_.release());
}

detail::TcpStoreClient& TCPStore::client(const char* operation) const {
  if (!process_.here())
    process_.check(operation, "TCPStore(" + endpoint(host_, client_->port()) + ")");
  return *client_;
}

void TCPStore::set(const std::string& key, std::string_view value) {
  client("set").set(key, value, timeout());
}

std::string TCPStore::get(const std::string& key) { return client("get").get(key, timeout()); }

int64_t TCPStore::add(const std::string& key, int64_t amount) {
  return client("add").add(key, amount, timeout());
}

std::string TCPStore::compare_set(const std::string& key, std::string_view expected,
                                  std::string_view desired) {
  return client("compare_set").compare_set(key, expected, desired, timeout());
}

bool TCPStore::delete_key(const std::string& key) {
  return client("delete_key").delete_key(key, timeout());
}

bool TCPStore::check(const std::vector<std::string>& keys) {
  return client("check").check(keys, timeout());
}

void TCPStore::wait(const std::vector<std::string>& keys,
                    std::optional<std::chrono::milliseconds> timeout) {
  client("wait").wait(keys, timeout ? *timeout : this->timeout());
}

int64_t TCPStore::num_keys() { return client("num_keys").num_keys(timeout()); }

uint16_t TCPStore::port() const { return client_->port(); }

}  // namespace taeda::inline v0_2::distributed
