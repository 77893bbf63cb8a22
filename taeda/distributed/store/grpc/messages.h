// What client and server agree on besides store.proto.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "store.grpc.pb.h"

namespace taeda::inline v0_2::distributed::grpc_store {

using taeda_store::Challenge;
using taeda_store::Frame;
using taeda_store::Hello;
using taeda_store::Proof;
using taeda_store::Request;
using taeda_store::Response;
using taeda_store::StoreService;
using taeda_store::Welcome;

inline constexpr uint32_t kVersion = 1;

inline constexpr size_t kMostKeyBytes = size_t{64} << 10;
inline constexpr size_t kMostValueBytes = size_t{8} << 20;
inline constexpr int kMostKeysOfRequest = 65'536;
/// Of a frame: a compare_set with two values, or many keys.
inline constexpr size_t kMostFrameBytes = size_t{20} << 20;
/// Of a frame before the sender proved who it is.
inline constexpr size_t kMostGreetingBytes = size_t{4} << 10;
/// Of the whole store.
inline constexpr size_t kMostKeys = 1'000'000;
inline constexpr size_t kMostBytes = size_t{1} << 30;
inline constexpr size_t kMostSessions = 8'192;
/// How long a client that has connected may take to prove who it is.
inline constexpr std::chrono::seconds kGreetingTimeout(10);
/// A peer that answers no ping for kPingTimeout, asked after kPingAfter of silence, is gone.
inline constexpr std::chrono::seconds kPingAfter(10), kPingTimeout(10);

/// Why no server would take the request; empty if it may. As said by operation.
std::string objection(const Request& request);

/// The operation's name in a program.
const char* name_of(taeda_store::Operation operation);

}  // namespace taeda::distributed::grpc_store
