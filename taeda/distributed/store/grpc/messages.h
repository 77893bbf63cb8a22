// What client and server agree on besides store.proto.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "store.grpc.pb.h"
#include "taeda/distributed/grpc/handshake.h"

namespace taeda::inline v0_2::distributed::grpc_store {

using grpc_link::FrameCodes;
using grpc_link::Hello;
using taeda_store::Frame;
using taeda_store::Request;
using taeda_store::Response;
using taeda_store::StoreService;

inline constexpr size_t kMostKeyBytes = size_t{64} << 10;
inline constexpr size_t kMostValueBytes = size_t{8} << 20;
inline constexpr int kMostKeysOfRequest = 65'536;
/// Of a frame: a compare_set with two values, or many keys.
inline constexpr size_t kMostFrameBytes = size_t{20} << 20;
/// Of the whole store.
inline constexpr size_t kMostKeys = 1'000'000;
inline constexpr size_t kMostBytes = size_t{1} << 30;

/// Why no server would take the request; empty if it may. As said by operation.
std::string objection(const Request& request);

/// The operation's name in a program.
const char* name_of(taeda_store::Operation operation);

}  // namespace taeda::inline v0_2::distributed::grpc_store
