#include "taeda/distributed/grpc/endpoint.h"

#include <sys/resource.h>

#include <algorithm>

#include "taeda/base/error.h"
#include "taeda/distributed/grpc/handshake.h"
#include "taeda/distributed/network.h"

namespace taeda::inline v0_2::distributed::grpc_link {

namespace {

int milliseconds_of(std::chrono::milliseconds time) { return static_cast<int>(time.count()); }

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

}  // namespace

grpc::ChannelArguments channel_arguments(const std::string& host, bool tls, size_t most_frame,
                                         std::chrono::milliseconds attempt) {
  grpc::ChannelArguments out;
  out.SetMaxReceiveMessageSize(static_cast<int>(most_frame));
  out.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  out.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
  out.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  out.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  out.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, milliseconds_of(attempt));
  out.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, milliseconds_of(kPingAfter));
  out.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, milliseconds_of(kPingTimeout));
  out.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  if (tls) out.SetSslTargetNameOverride(host);
  return out;
}

void limit_strangers(grpc::ServerBuilder& builder, size_t most_frame) {
  raise_descriptor_limit();
  builder.SetMaxReceiveMessageSize(static_cast<int>(most_frame));
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // two servers on a port are a mistake
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 4);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 8 << 10);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             milliseconds_of(kGreetingTimeout));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, milliseconds_of(kGreetingTimeout));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, milliseconds_of(kPingAfter));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, milliseconds_of(kPingTimeout));
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             milliseconds_of(kPingAfter) / 2);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
}

void check_listening(const std::string& what, const std::string& address, uint16_t port,
                     const std::string& objection) {
  TAEDA_CHECK_AS(DistributedError, objection.empty(), what, ": the server cannot listen on ",
                 endpoint(address, port), " (", objection,
                 "). Another job may use the port: choose another one, or 0 to let the system "
                 "choose. An address that is not this machine's: name its interface in "
                 "TAEDA_DISTRIBUTED_INTERFACE");
}

}  // namespace taeda::inline v0_2::distributed::grpc_link
