#include "taeda/distributed/store/grpc/client.h"

#include <grpcpp/create_channel.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "taeda/base/error.h"
#include "taeda/distributed/grpc/credentials.h"
#include "taeda/distributed/grpc/endpoint.h"
#include "taeda/distributed/network.h"
#include "taeda/distributed/store/values.h"

namespace taeda::inline v0_2::distributed::grpc_store {

namespace {

/// Whether a stream ended because its connection did, or the server is about to.
bool may_come_back(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE ||
         status.error_code() == grpc::StatusCode::CANCELLED;
}

Request request_of(taeda_store::Operation operation, const std::string& key) {
  Request out;
  out.set_operation(operation);
  out.add_keys(key);
  return out;
}

Request request_of(taeda_store::Operation operation, const std::vector<std::string>& keys) {
  Request out;
  out.set_operation(operation);
  for (const std::string& key : keys) out.add_keys(key);
  return out;
}

}  // namespace

Client::Client(const std::string& host, const TCPStoreOptions& options)
    : host_(host), port_(options.port) {
  TAEDA_CHECK_VALUE(!options.world_size || *options.world_size > 0,
                    "TCPStore: world_size must be positive, but got ",
                    options.world_size.value_or(0));
  if (options.is_master) {
    server_ = Server::get(host, options);
    port_ = server_->port();
    address_ = server_->address();
  } else {
    TAEDA_CHECK_VALUE(port_ != 0,
                      "TCPStore: a process that is not the master must be told the "
                      "port, but got 0");
    check_reach(resolve(host), *options.security, "TCPStore: connecting to");
    address_ = host == "localhost" ? resolve(host) : host;  // a name may have several addresses
  }
  name_ = "TCPStore(" + endpoint(host_, port_) + ")";
  secret_ = options.security->secret;
  hello_.set_job(*options.job);
  hello_.set_world_size(options.world_size.value_or(0));
  hello_.set_member(grpc_link::new_nonce());
  channel_ = grpc::CreateCustomChannel(
      endpoint(address_, port_), grpc_link::client_credentials(*options.security),
      grpc_link::channel_arguments(host_, options.security->has_tls(), kMostFrameBytes,
                                   grpc_link::kOneAttempt));
  connect(options.timeout);
  if (options.is_master && options.world_size && options.wait_for_workers)
    wait_for_workers(*options.world_size, options.timeout);
}

/// Tries until a server answers: this process may have been started before the master.
void Client::connect(Timeout timeout) {
  const auto deadline = detail::deadline_after(timeout);
  std::string reason = "no answer";
  while (!(connection_ = greet(deadline, &reason))) {
    if (Clock::now() >= deadline)
      fail(": The client socket has timed out after " + std::to_string(timeout.count()) +
           "ms while trying to connect to (" + host_ + ", " + std::to_string(port_) +
           "): " + reason);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

/// One attempt to connect; null, with the reason where there is one, if it may succeed later.
Client::ConnectionPtr Client::greet(Clock::time_point deadline, std::string* reason) {
  auto out = std::make_shared<Connection>(channel_);
  try {
    if (out->greet(hello_, secret_, deadline)) return out;
  } catch (const DistributedError& e) {
    fail(": " + e.message());
  }
  const grpc::Status status = out->status();
  const bool silent = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
  if (may_come_back(status))
    *reason = status.error_message();
  else if (!silent)
    fail(": the server refused this process: " + status.error_message() +
         (status.error_code() == grpc::StatusCode::UNAUTHENTICATED
              ? ". Another job may serve that port, with a secret of its own"
              : ""));
  return nullptr;
}

Client::ConnectionPtr Client::connection() {
  std::lock_guard lock(mutex_);
  return connection_;
}

/// Another connection to the same server. It may be that this process stood still, or the server's,
/// or that the network between them was away: that they heard nothing of each other for a while is
/// no reason to part. But a server that is gone does not come back, whoever listens in its place.
Client::ConnectionPtr Client::renew(const ConnectionPtr& lost, const std::string& operation,
                                    Clock::time_point deadline) {
  const auto gone = [&](const std::string& why) {
    fail(operation + ": the store's server at " + endpoint(host_, port_) + " is gone: " + why);
  };
  const std::string why = lost->status().error_message();
  const std::unique_lock one(renewing_, deadline);
  if (!one) gone(why);
  Clock::time_point until;
  {
    std::lock_guard lock(mutex_);
    if (connection_ != lost) return connection_;
    if (!lost_since_) lost_since_ = Clock::now();
    until = std::min(deadline, *lost_since_ + grpc_link::kMostSilence);
  }
  while (true) {
    std::string reason;
    const auto attempt = std::min(deadline, Clock::now() + grpc_link::kOneAttempt);
    if (const ConnectionPtr found = greet(attempt, &reason)) {
      if (found->server() != lost->server()) gone("another one listens in its place");
      std::lock_guard lock(mutex_);
      lost_since_.reset();
      return connection_ = found;
    }
    const bool refused = reason.find(std::strerror(ECONNREFUSED)) != std::string::npos;
    if (refused || Clock::now() >= until) gone(why);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void Client::wait_for_workers(int64_t world_size, Timeout timeout) {
  Request request;
  request.set_operation(taeda_store::WAIT_WORKERS);
  request.set_amount(world_size);
  const Response response = call(std::move(request), timeout);
  if (response.cancelled())
    fail(": Timed out after " + std::to_string(timeout.count()) + "ms waiting for clients. " +
         std::to_string(response.amount()) + "/" + std::to_string(world_size) + " clients joined.");
}

void Client::set(const std::string& key, std::string_view value, Timeout timeout) {
  Request request = request_of(taeda_store::SET, key);
  request.set_value(std::string(value));
  answered(request, timeout);
}

std::string Client::get(const std::string& key, Timeout timeout) {
  return answered(request_of(taeda_store::GET, key), timeout).value();
}

int64_t Client::add(const std::string& key, int64_t amount, Timeout timeout) {
  Request request = request_of(taeda_store::ADD, key);
  request.set_amount(amount);
  return answered(request, timeout).amount();
}

std::string Client::compare_set(const std::string& key, std::string_view expected,
                                std::string_view desired, Timeout timeout) {
  Request request = request_of(taeda_store::COMPARE_SET, key);
  request.set_expected(std::string(expected));
  request.set_value(std::string(desired));
  return answered(request, timeout).value();
}

bool Client::delete_key(const std::string& key, Timeout timeout) {
  return answered(request_of(taeda_store::DELETE_KEY, key), timeout).amount() != 0;
}

bool Client::check(const std::vector<std::string>& keys, Timeout timeout) {
  return answered(request_of(taeda_store::CHECK, keys), timeout).amount() != 0;
}

void Client::wait(const std::vector<std::string>& keys, Timeout timeout) {
  answered(request_of(taeda_store::WAIT, keys), timeout);
}

int64_t Client::num_keys(Timeout timeout) {
  return answered(request_of(taeda_store::NUM_KEYS, std::vector<std::string>()), timeout).amount();
}

/// The response to a request that had its keys in time.
Response Client::answered(const Request& request, Timeout timeout) {
  Response response = call(request, timeout);
  if (response.cancelled())
    detail::throw_wait_timeout(name_, name_of(request.operation()),
                               {response.missing().begin(), response.missing().end()}, timeout);
  return response;
}

Response Client::call(Request request, Timeout timeout) {
  const std::string operation = std::string(".") + name_of(request.operation());
  if (const std::string why = objection(request); !why.empty()) fail(operation + ": " + why);
  const auto deadline = detail::deadline_after(timeout);
  const Asked asked(*this, request);
  ConnectionPtr connection = this->connection();
  std::optional<Response> response;
  while (!(response = connection->call(request, deadline))) {
    const grpc::Status status = connection->status();
    const std::string server = ": the store's server at " + endpoint(host_, port_);
    if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED)
      fail(operation + server + " gave no answer within " + std::to_string(timeout.count()) + "ms");
    if (!may_come_back(status)) fail(operation + server + " is gone: " + status.error_message());
    connection = renew(connection, operation, deadline);
  }
  if (!response->error().empty()) fail(response->error());
  return std::move(*response);
}

/// Gives a request its number, and tells the server which answers have come.
Client::Asked::Asked(Client& client, Request& request) : client_(client) {
  std::lock_guard lock(client_.mutex_);
  number_ = ++client_.last_number_;
  client_.unanswered_.insert(number_);
  request.set_number(number_);
  request.set_answered(*client_.unanswered_.begin() - 1);
}

Client::Asked::~Asked() {
  std::lock_guard lock(client_.mutex_);
  client_.unanswered_.erase(number_);
}

void Client::fail(const std::string& what) const {
  taeda::detail::fail<DistributedError>(name_ + what);
}

}  // namespace taeda::inline v0_2::distributed::grpc_store
