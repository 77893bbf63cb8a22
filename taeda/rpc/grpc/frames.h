// What workers' streams carry after the greetings (grpc/handshake.proto): messages in frames.
//
//     frame   [code: 32 bytes, where there is a secret] kind: 1 byte, message's number: 8 bytes,
//     rest Begin   size of the head: 8 bytes, number of bodies: 4, size of each: 8; then data More
//     data
//
// The data of a message is its head and its bodies, one after the other. Frames of several messages
// alternate, so that a short one does not wait for a long one. Numbers are little-endian. What a
// client asks under a number the server answers under the same one.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "taeda/distributed/grpc/authentication.h"
#include "taeda/rpc/archive.h"

namespace taeda::inline v0_2::distributed::grpc_rpc {

using grpc_link::FrameCodes;
using rpc::Packet;

/// Data of one frame.
inline constexpr size_t kPieceBytes = size_t{1} << 20;
inline constexpr size_t kMostBodies = 100'000;
/// A frame at most: its data, and the sizes of a message's bodies.
inline constexpr size_t kMostFrameBytes = kPieceBytes + 8 * kMostBodies + 64;
inline constexpr uint64_t kMostMessageBytes = uint64_t{1} << 40;
/// Messages of one stream that have begun and not ended.
inline constexpr size_t kMostUnfinished = 4096;

/// Why a message cannot be sent; empty if it can.
std::string objection(const Packet& packet);

/// Messages that are to be sent.
class Outgoing {
 public:
  Outgoing() : codes_({}, FrameCodes::From::kClient) {}

  void use(FrameCodes codes) { codes_ = std::move(codes); }
  void add(uint64_t number, Packet packet);
  bool empty() const { return messages_.empty(); }
  void clear() { messages_.clear(); }
  /// The next frame. The data is the tensors' own memory, which gRPC keeps until it is written.
  grpc::ByteBuffer next();

 private:
  struct Message {
    uint64_t number;
    std::string begin;  ///< what a Begin has before its data; empty once it was sent
    std::deque<grpc::Slice> data;
  };

  std::deque<Message> messages_;
  FrameCodes codes_;
};

/// Messages that are on their way here. Nothing is allocated for what has not come.
class Incoming {
 public:
  struct Message {
    uint64_t number;
    Packet packet;
  };

  Incoming() : codes_({}, FrameCodes::From::kClient) {}

  void use(FrameCodes codes) { codes_ = std::move(codes); }
  /// Takes a frame; true, with the message, if it was the last of one. Throws DistributedError for
  /// a frame that is none.
  bool take(const grpc::ByteBuffer& frame, Message* message);

 private:
  struct Partial {
    uint64_t head_size = 0;
    std::deque<uint64_t> body_sizes;  ///< of those that are not complete
    Packet packet;
    std::vector<grpc::Slice> body;  ///< what has come of the first of them
    uint64_t body_bytes = 0;

    void add(grpc::Slice data);
    void complete_bodies();
    bool complete() const { return packet.head.size() == head_size && body_sizes.empty(); }
  };

  Partial& begin(uint64_t number, class SliceReader& in);

  std::map<uint64_t, Partial> partial_;
  FrameCodes codes_;
};

}  // namespace taeda::inline v0_2::distributed::grpc_rpc
