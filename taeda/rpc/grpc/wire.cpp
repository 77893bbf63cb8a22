#include "taeda/rpc/grpc/wire.h"

#include <grpcpp/create_channel.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/distributed/grpc/credentials.h"
#include "taeda/distributed/grpc/endpoint.h"
#include "taeda/distributed/network.h"

namespace taeda::inline v0_2::distributed::grpc_rpc {

namespace {

constexpr std::chrono::milliseconds kStopTimeout(500);
/// HTTP/2's frames: the largest that the standard has, so that data is not cut up more than needed.
constexpr int kMostHttpFrame = (1 << 24) - 1;

std::string host_of(const std::string& address) {
  const std::string host = address.substr(0, address.rfind(':'));
  return host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
}

/// An end for gRPC's calls of another method.
class Refused final : public grpc::ServerGenericBidiReactor {
 public:
  explicit Refused(const grpc::Status& why) { Finish(why); }
  void OnDone() override { delete this; }
};

}  // namespace

Wire::Wire(Options options) : options_(std::move(options)) {
  hello_.set_job(options_.job);
  hello_.set_world_size(options_.world_size);
  hello_.set_service(kService);
  hello_.set_rank(options_.id);
  office_ = std::make_shared<Office>();
  office_->admission = {options_.job, options_.security.secret, options_.world_size, kService};
  office_->on_request = options_.on_request;
  listen();
}

void Wire::listen() {
  const std::string address = own_address(options_.interface_name);
  TAEDA_CHECK_AS(
      DistributedError, address != "0.0.0.0" && address != "::",
      "rpc::init_rpc: the others need an address to connect to, but '",
      options_.interface_name.empty() ? "TAEDA_DISTRIBUTED_INTERFACE" : options_.interface_name,
      "' is all interfaces; name one");
  check_reach(address, options_.security, "rpc::init_rpc: listening on");
  office_->gate =
      std::make_shared<grpc_link::Gate>("rpc::init_rpc", address, 0, options_.security.has_tls());
  grpc::ServerBuilder builder;
  grpc_link::limit_strangers(builder, kMostFrameBytes);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kMostHttpFrame);
  office_->gate->lead_to(builder, grpc_link::server_credentials(options_.security));
  builder.RegisterCallbackGenericService(this);
  server_ = builder.BuildAndStart();
  grpc_link::check_listening("rpc::init_rpc", address, 0, server_ ? "" : "gRPC gives no reason");
  address_ = endpoint(address, office_->gate->port());
  office_->gate->open();
}

Wire::~Wire() { stop(); }

void Wire::meet(int64_t id, const std::string& name, const std::string& address) {
  const std::string host = host_of(address);
  check_reach(host, options_.security, "rpc::init_rpc: connecting to");
  // A worker that stands still for a while is as good as one that answers late: calls have
  // timeouts.
  grpc::ChannelArguments arguments = grpc_link::channel_arguments(
      host, options_.security.has_tls(), kMostFrameBytes, grpc_link::kMostSilence);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kMostHttpFrame);
  std::lock_guard lock(mutex_);
  peers_[id] = {name,
                grpc::CreateCustomChannel(address, grpc_link::client_credentials(options_.security),
                                          arguments),
                nullptr};
}

/// A connection that was lost says little; that the next one cannot be made says that nobody is
/// there.
std::string Wire::loss_of(int64_t id) {
  std::shared_ptr<Caller> ended;
  {
    std::lock_guard lock(mutex_);
    if (stopped_) return {};
    Peer& peer = peers_.at(id);
    if (peer.caller && !peer.caller->has_ended()) {
      if (peer.caller->is_open()) peer.lost = false;
      return {};
    }
    if (peer.caller && std::exchange(peer.lost, true)) return peer.caller->why_ended();
    ended = peer.caller;
  }
  caller_for(id, ended);
  return {};
}

void Wire::call(int64_t to, Packet request, Done done) {
  if (const std::string why = objection(request); !why.empty()) return done({}, why);
  std::shared_ptr<Caller> caller;
  do {
    caller = caller_for(to, caller);
    if (!caller) return done({}, "this worker was shut down");
  } while (!caller->call(request, done));
}

/// The stream to a worker; a new one if there is none, or if it is `ended`.
std::shared_ptr<Caller> Wire::caller_for(int64_t to, const std::shared_ptr<Caller>& ended) {
  std::lock_guard lock(mutex_);
  if (stopped_) return nullptr;
  Peer& peer = peers_.at(to);
  if (!peer.caller || peer.caller == ended)
    peer.caller = Caller::open(peer.channel, hello_, options_.security.secret, peer.name, streams_);
  return peer.caller;
}

grpc::ServerGenericBidiReactor* Wire::CreateReactor(grpc::GenericCallbackServerContext* context) {
  if (context->method() != kMethod)
    return new Refused({grpc::StatusCode::UNIMPLEMENTED, "a worker has no such method"});
  const std::shared_ptr<Callee> callee = Callee::start(office_, context->peer());
  std::lock_guard lock(mutex_);
  if (stopped_) callee->close({grpc::StatusCode::UNAVAILABLE, "the worker was shut down"});
  std::erase_if(callees_, [](const std::weak_ptr<Callee>& c) { return c.expired(); });
  callees_.push_back(callee);
  return callee.get();
}

void Wire::stop() {
  std::map<int64_t, Peer> peers;
  std::vector<std::weak_ptr<Callee>> callees;
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(stopped_, true)) return;
    peers.swap(peers_);
    callees.swap(callees_);
  }
  office_->gate->close();
  for (const auto& [id, peer] : peers)
    if (peer.caller) peer.caller->close();
  for (const auto& weak : callees)
    if (const auto callee = weak.lock())
      callee->close({grpc::StatusCode::UNAVAILABLE, "the worker was shut down"});
  streams_->wait_until_none();
  server_->Shutdown(std::chrono::system_clock::now() + kStopTimeout);
  server_->Wait();
}

}  // namespace taeda::inline v0_2::distributed::grpc_rpc
