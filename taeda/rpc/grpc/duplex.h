// One side of a stream between two workers.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/distributed/grpc/handshake.h"
#include "taeda/rpc/grpc/frames.h"

namespace taeda::inline v0_2::distributed::grpc_rpc {

/// A greeting as a frame, and back.
grpc::ByteBuffer frame_of(const std::string& greeting);
std::string text_of(const grpc::ByteBuffer& frame);

/// What client and server have in common: greetings one at a time, then messages in any number.
/// `Reactor` is gRPC's for either side; it calls the On... functions, one read and one write at a
/// time, and nothing here waits.
template <class Reactor>
class Duplex : public Reactor {
 public:
  /// Sends a message as soon as the greetings are over; false if the stream has ended.
  bool send(uint64_t number, Packet packet) {
    {
      std::lock_guard lock(mutex_);
      if (end_) return false;
      outgoing_.add(number, std::move(packet));
      if (writing_ || !open_) return true;
      take_next();
    }
    this->StartWrite(&frame_);
    return true;
  }

  /// Whether the greetings are over.
  bool is_open() {
    std::lock_guard lock(mutex_);
    return open_;
  }

  void OnReadDone(bool ok) override {
    if (!ok) return end({grpc::StatusCode::UNAVAILABLE, "the connection was closed"});
    if (const grpc::Status status = read(); !status.ok()) return end(status);
    if (!ended()) this->StartRead(&incoming_frame_);
  }

  void OnWriteDone(bool ok) override {
    bool write = false;
    {
      std::lock_guard lock(mutex_);
      writing_ = false;
      if (!ok && !end_) end_ = {grpc::StatusCode::UNAVAILABLE, "the connection was closed"};
      write = !end_ && (greeting_ || (open_ && !outgoing_.empty()));
      if (write) take_next();
    }
    if (write)
      this->StartWrite(&frame_);
    else
      let_go_if_ended();
  }

 protected:
  /// Takes a greeting; what is to be said then, and whether that was the last.
  virtual grpc::Status receive_greeting(const std::string& text, std::optional<std::string>* answer,
                                        bool* over) = 0;
  virtual void receive(uint64_t number, Packet packet) = 0;
  /// No write is under way and none begins any more.
  virtual void let_go(const grpc::Status& why) = 0;

  void greet(const std::string& text) {
    {
      std::lock_guard lock(mutex_);
      if (end_) return;
      greeting_ = text;
      if (writing_) return;
      take_next();
    }
    this->StartWrite(&frame_);
  }
  void use_key(const std::string& key, FrameCodes::From own, FrameCodes::From other) {
    std::lock_guard lock(mutex_);
    outgoing_.use(FrameCodes(key, own));
    incoming_.use(FrameCodes(key, other));
  }
  void end(const grpc::Status& why) {
    {
      std::lock_guard lock(mutex_);
      if (!end_) end_ = why;
      outgoing_.clear();
      greeting_.reset();
    }
    let_go_if_ended();
  }

  grpc::ByteBuffer incoming_frame_;

 private:
  bool ended() {
    std::lock_guard lock(mutex_);
    return end_.has_value();
  }

  grpc::Status read() {
    try {
      if (!greeted_) return read_greeting();
      Incoming::Message message;
      if (incoming_.take(incoming_frame_, &message))
        receive(message.number, std::move(message.packet));
      return grpc::Status::OK;
    } catch (const std::exception& e) {
      return {grpc::StatusCode::INVALID_ARGUMENT, e.what()};
    }
  }

  grpc::Status read_greeting() {
    if (incoming_frame_.Length() > grpc_link::kMostGreetingBytes)
      return {grpc::StatusCode::INVALID_ARGUMENT, "a greeting that is too long"};
    std::optional<std::string> answer;
    bool over = false;
    const grpc::Status status = receive_greeting(text_of(incoming_frame_), &answer, &over);
    if (!status.ok()) return status;
    if (answer) greet(*answer);
    if (over) open();
    return status;
  }

  /// Messages may be sent; what waits for that is.
  void open() {
    greeted_ = true;
    {
      std::lock_guard lock(mutex_);
      open_ = true;
      if (writing_ || end_ || outgoing_.empty()) return;
      take_next();
    }
    this->StartWrite(&frame_);
  }

  /// With the lock held.
  void take_next() {
    writing_ = true;
    frame_ = greeting_ ? frame_of(*std::exchange(greeting_, {})) : outgoing_.next();
  }

  void let_go_if_ended() {
    {
      std::lock_guard lock(mutex_);
      if (!end_ || writing_ || gone_) return;
      gone_ = true;
    }
    let_go(*end_);
  }

  bool greeted_ = false;  ///< touched by reads alone
  Incoming incoming_;

  std::mutex mutex_;
  Outgoing outgoing_;
  std::optional<std::string> greeting_;
  grpc::ByteBuffer frame_;  ///< being written
  bool open_ = false, writing_ = false, gone_ = false;
  std::optional<grpc::Status> end_;
};

}  // namespace taeda::inline v0_2::distributed::grpc_rpc
