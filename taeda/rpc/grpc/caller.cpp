#include "taeda/rpc/grpc/caller.h"

#include <utility>

namespace taeda::inline v0_2::distributed::grpc_rpc {

using grpc::Status;
using grpc::StatusCode;

void OpenStreams::enter() {
  std::lock_guard lock(mutex_);
  ++count_;
}

void OpenStreams::leave() {
  std::lock_guard lock(mutex_);
  if (--count_ == 0) changed_.notify_all();
}

void OpenStreams::wait_until_none() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return count_ == 0; });
}

std::shared_ptr<Caller> Caller::open(const std::shared_ptr<grpc::Channel>& channel,
                                     const grpc_link::Hello& hello, const std::string& secret,
                                     const std::string& name,
                                     const std::shared_ptr<OpenStreams>& streams) {
  auto caller = std::make_shared<Caller>(channel, hello, secret, name, streams);
  streams->enter();
  caller->self_ = caller;
  caller->stub_.PrepareBidiStreamingCall(&caller->context_, kMethod, {}, caller.get());
  caller->AddHold();  // until let_go(): threads of the program write
  caller->StartRead(&caller->incoming_frame_);
  caller->greet(caller->handshake_.hello());
  caller->StartCall();
  return caller;
}

Caller::Caller(const std::shared_ptr<grpc::Channel>& channel, const grpc_link::Hello& hello,
               const std::string& secret, std::string name, std::shared_ptr<OpenStreams> streams)
    : channel_(channel),
      name_(std::move(name)),
      streams_(std::move(streams)),
      stub_(channel),
      handshake_(hello, secret) {}

bool Caller::call(Packet& request, Done& done) {
  uint64_t number = 0;
  {
    std::lock_guard lock(calls_mutex_);
    if (done_) return false;
    number = ++last_number_;
    calls_[number] = std::move(done);
  }
  send(number, std::move(request));  // where the stream has ended OnDone answers
  return true;
}

bool Caller::has_ended() {
  std::lock_guard lock(calls_mutex_);
  return done_;
}

std::string Caller::why_ended() {
  std::lock_guard lock(calls_mutex_);
  return why_;
}

grpc::Status Caller::receive_greeting(const std::string& text, std::optional<std::string>* answer,
                                      bool* over) {
  if (!std::exchange(proved_, true)) {
    *answer = handshake_.prove(text);
    return Status::OK;
  }
  handshake_.believe(text);
  use_key(handshake_.session_key(), FrameCodes::From::kClient, FrameCodes::From::kServer);
  *over = true;
  return Status::OK;
}

void Caller::receive(uint64_t number, Packet packet) {
  Done done;
  {
    std::lock_guard lock(calls_mutex_);
    if (const auto call = calls_.find(number); call != calls_.end()) {
      done = std::move(call->second);
      calls_.erase(call);
    }
  }
  if (done) done(std::move(packet), "");
}

void Caller::let_go(const Status& why) {
  {
    std::lock_guard lock(calls_mutex_);
    if (why.error_code() != StatusCode::UNAVAILABLE) own_reason_ = why;
  }
  context_.TryCancel();
  RemoveHold();
}

void Caller::OnDone(const Status& status) {
  std::shared_ptr<Caller> last = std::move(self_);
  std::map<uint64_t, Done> left;
  std::string error;
  {
    std::lock_guard lock(calls_mutex_);
    const bool refused = own_reason_ || (status.error_code() != StatusCode::UNAVAILABLE &&
                                         status.error_code() != StatusCode::CANCELLED);
    error = "the connection to worker " + name_ + (refused ? " ended: " : " is gone: ") +
            (own_reason_ ? own_reason_->error_message() : status.error_message());
    done_ = true;
    why_ = error;
    left.swap(calls_);
  }
  for (const auto& [number, done] : left) done({}, error);
  const std::shared_ptr<OpenStreams> streams = streams_;
  last.reset();
  streams->leave();
}

}  // namespace taeda::inline v0_2::distributed::grpc_rpc
