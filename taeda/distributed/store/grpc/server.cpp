#include "taeda/distributed/store/grpc/server.h"

#include <grpcpp/resource_quota.h>
#include <grpcpp/server_builder.h>
#include <sys/resource.h>

#include <algorithm>
#include <map>

#include "taeda/base/error.h"
#include "taeda/distributed/network.h"
#include "taeda/distributed/store/grpc/credentials.h"

namespace taeda::inline v0_2::distributed::grpc_store {

namespace {

using std::chrono::milliseconds;

int count_of(milliseconds time) { return static_cast<int>(time.count()); }

/// Every client is a descriptor. Where they run out gRPC stops to listen, and the usual limit of
/// 1024 is low: for large jobs, and against strangers who connect and say nothing until they are
/// cut off.
void raise_descriptor_limit() {
  constexpr rlim_t kEnough = 65'536;
  rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kEnough) return;
  limit.rlim_cur = std::min(limit.rlim_max, kEnough);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// What keeps strangers, who need not speak gRPC at all, from filling memory or connections.
void limit(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kMostFrameBytes);
  grpc::ResourceQuota quota("taeda store");
  quota.Resize(2 * kMostBytes);
  builder.SetResourceQuota(quota);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // two servers on a port are a mistake
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 4);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 8 << 10);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, count_of(kGreetingTimeout));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, count_of(kGreetingTimeout));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, count_of(kPingAfter));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, count_of(kPingTimeout));
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             count_of(kPingAfter) / 2);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
}

}  // namespace

Server::Server(const std::string& host, const TCPStoreOptions& options) {
  const std::string address = listen_address(host, options.interface_name);
  check_reach(address, *options.security, "TCPStore: listening on");
  listen(address, options);
  address_ = address == "0.0.0.0" ? "127.0.0.1" : address == "::" ? "::1" : address;
}

void Server::listen(const std::string& address, const TCPStoreOptions& options) {
  const auto check = [&](const std::string& objection) {
    TAEDA_CHECK_AS(DistributedError, objection.empty(), "TCPStore: the server cannot listen on ",
                   endpoint(address, options.port), " (", objection,
                   "). Another job may use the port: choose another one, or 0 to let the system "
                   "choose. An address that is not this machine's: name its interface in "
                   "TAEDA_DISTRIBUTED_INTERFACE");
  };
  check(listen_objection(address, options.port));
  raise_descriptor_limit();
  house_ = std::make_shared<House>(*options.job, options.security->secret,
                                   options.world_size.value_or(0));
  grpc::ServerBuilder builder;
  limit(builder);
  int port = 0;
  builder.AddListeningPort(endpoint(address, options.port), server_credentials(*options.security),
                           &port);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
  check(server_ && port != 0 ? "" : "gRPC gives no reason");
  port_ = static_cast<uint16_t>(port);
}

Server::~Server() {
  std::vector<std::weak_ptr<Session>> sessions;
  {
    std::lock_guard lock(mutex_);
    open_ = false;
    sessions.swap(sessions_);
  }
  for (const auto& weak : sessions)
    if (const auto session = weak.lock())
      session->close({grpc::StatusCode::UNAVAILABLE, "the master's store was closed"}, true);
  if (server_) server_->Shutdown(std::chrono::system_clock::now() + milliseconds(500));
}

grpc::ServerBidiReactor<Frame, Frame>* Server::Join(grpc::CallbackServerContext*) {
  const std::shared_ptr<Session> session = Session::start(house_);
  std::lock_guard lock(mutex_);
  if (!open_) session->close({grpc::StatusCode::UNAVAILABLE, "the master's store was closed"});
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

}  // namespace taeda::distributed::grpc_store
