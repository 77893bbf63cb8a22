#include "taeda/distributed/store/grpc/client.h"

#include <grpcpp/create_channel.h>

#include <algorithm>
#include <thread>

#include "taeda/base/error.h"
#include "taeda/distributed/grpc/credentials.h"
#include "taeda/distributed/grpc/endpoint.h"
#include "taeda/distributed/network.h"
#include "taeda/distributed/store/values.h"

namespace taeda::inline v0_2::distributed::grpc_store {

namespace {

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
  connect(options);
  if (options.is_master && options.world_size && options.wait_for_workers)
    wait_for_workers(*options.world_size, options.timeout);
}

/// Tries until a server answers: this process may have been started before the master.
void Client::connect(const TCPStoreOptions& options) {
  const auto deadline = detail::deadline_after(options.timeout);
  const auto channel = grpc::CreateCustomChannel(
      endpoint(address_, port_), grpc_link::client_credentials(*options.security),
      grpc_link::channel_arguments(host_, options.security->has_tls(), kMostFrameBytes));
  Hello hello;
  hello.set_job(*options.job);
  hello.set_world_size(options.world_size.value_or(0));
  std::string reason = "no answer";
  for (;;) {
    connection_ = std::make_unique<Connection>(channel);
    try {
      if (connection_->greet(hello, options.security->secret, deadline)) return;
    } catch (const DistributedError& e) {
      fail(": " + e.message());
    }
    const grpc::Status status = connection_->status();
    const bool silent = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE)
      reason = status.error_message();
    else if (!silent)
      fail(": the server refused this process: " + status.error_message());
    if (detail::Clock::now() >= deadline)
      fail(": The client socket has timed out after " + std::to_string(options.timeout.count()) +
           "ms while trying to connect to (" + host_ + ", " + std::to_string(port_) +
           "): " + reason);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
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
  std::optional<Response> response =
      connection_->call(std::move(request), detail::deadline_after(timeout));
  if (!response) {
    const grpc::Status status = connection_->status();
    const bool silent = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
    fail(operation + ": the store's server at " + endpoint(host_, port_) +
         (silent ? " gave no answer within " + std::to_string(timeout.count()) + "ms"
                 : " is gone: " + status.error_message()));
  }
  if (!response->error().empty()) fail(response->error());
  return std::move(*response);
}

void Client::fail(const std::string& what) const {
  taeda::detail::fail<DistributedError>(name_ + what);
}

}  // namespace taeda::inline v0_2::distributed::grpc_store
