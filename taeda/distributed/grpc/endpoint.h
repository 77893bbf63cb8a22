// How servers listen and clients connect, whatever they say then.
#pragma once

#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace taeda::inline v0_2::distributed::grpc_link {

inline constexpr size_t kMostSessions = 8'192;
/// A peer that answers no ping for kPingTimeout, asked after kPingAfter of silence, is gone.
inline constexpr std::chrono::seconds kPingAfter(10), kPingTimeout(10);
inline constexpr std::chrono::seconds kMostSilence = kPingAfter + kPingTimeout;
/// For who tries again and again: the other side may not have begun to listen.
inline constexpr std::chrono::seconds kOneAttempt(2);

/// A connection of its own to `host`, whose certificate names it where there is TLS. Each attempt
/// to make it takes as long as `attempt` at most.
grpc::ChannelArguments channel_arguments(const std::string& host, bool tls, size_t most_frame,
                                         std::chrono::milliseconds attempt);

/// What keeps strangers, who need not speak gRPC at all, from filling memory or connections.
void limit_strangers(grpc::ServerBuilder& builder, size_t most_frame);

/// Throws DistributedError, saying what `what` may do, where this process cannot listen; for good
/// measure also with the reason of a failure that is known already.
void check_listening(const std::string& what, const std::string& address, uint16_t port,
                     const std::string& objection);

}  // namespace taeda::inline v0_2::distributed::grpc_link
