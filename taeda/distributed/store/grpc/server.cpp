#include "taeda/distributed/store/grpc/server.h"

#include <grpcpp/resource_quota.h>
#include <grpcpp/server_builder.h>

#include <map>

#include "taeda/distributed/grpc/credentials.h"
#include "taeda/distributed/grpc/endpoint.h"
#include "taeda/distributed/network.h"

namespace taeda::inline v0_2::distributed::grpc_store {

namespace {

using std::chrono::milliseconds;

/// Clients do not look for a server that has said so.
grpc::Status closed() { return {grpc::StatusCode::ABORTED, "the master's store was closed"}; }

}  // namespace

Server::Server(const std::string& host, const TCPStoreOptions& options) {
  const std::string address = listen_address(host, options.interface_name);
  check_reach(address, *options.security, "TCPStore: listening on");
  listen(address, options);
  address_ = address == "0.0.0.0" ? "127.0.0.1" : address == "::" ? "::1" : address;
}

void Server::listen(const std::string& address, const TCPStoreOptions& options) {
  const auto gate = std::make_shared<grpc_link::Gate>("TCPStore", address, options.port,
                                                      options.security->has_tls());
  house_ =
      std::make_shared<House>(grpc_link::Admission{.job = *options.job,
                                                   .secret = options.security->secret,
                                                   .world_size = options.world_size.value_or(0),
                                                   .server = grpc_link::new_nonce()},
                              gate);
  grpc::ServerBuilder builder;
  grpc_link::limit_strangers(builder, kMostFrameBytes);
  grpc::ResourceQuota quota("taeda store");
  quota.Resize(2 * kMostBytes);
  builder.SetResourceQuota(quota);
  gate->lead_to(builder, grpc_link::server_credentials(*options.security));
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
  grpc_link::check_listening("TCPStore", address, options.port,
                             server_ ? "" : "gRPC gives no reason");
  port_ = gate->port();
  gate->open();
}

Server::~Server() {
  house_->gate->close();
  std::vector<std::weak_ptr<Session>> sessions;
  {
    std::lock_guard lock(mutex_);
    open_ = false;
    sessions.swap(sessions_);
  }
  for (const auto& weak : sessions)
    if (const auto session = weak.lock()) session->close(closed(), true);
  if (server_) server_->Shutdown(std::chrono::system_clock::now() + milliseconds(500));
}

grpc::ServerBidiReactor<Frame, Frame>* Server::Join(grpc::CallbackServerContext* context) {
  const std::shared_ptr<Session> session = Session::start(house_, context->peer());
  std::lock_guard lock(mutex_);
  if (!open_) session->close(closed());
  std::erase_if(sessions_, [](const std::weak_ptr<Session>& s) { return s.expired(); });
  sessions_.push_back(session);
  return session.get();
}

std::shared_ptr<Server> Server::get(const std::string& host, const TCPStoreOptions& options) {
  if (!options.multi_tenant) return std::make_shared<Server>(host, options);
  static std::mutex mutex;
  static auto* servers = new std::map<uint16_t, std::weak_ptr<Server>>;
  std::lock_guard lock(mutex);
  if (const auto it = servers->find(options.port); it != servers->end() && options.port != 0)
    if (std::shared_ptr<Server> server = it->second.lock()) return server;
  auto server = std::make_shared<Server>(host, options);
  (*servers)[server->port()] = server;
  return server;
}

}  // namespace taeda::inline v0_2::distributed::grpc_store
