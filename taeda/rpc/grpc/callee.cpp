#include "taeda/rpc/grpc/callee.h"

#include "taeda/distributed/grpc/endpoint.h"

namespace taeda::inline v0_2::distributed::grpc_rpc {

using grpc::Status;
using grpc::StatusCode;

std::shared_ptr<Callee> Callee::start(std::shared_ptr<Office> office, const std::string& peer) {
  office->gate->begin_stream(peer);
  auto callee = std::make_shared<Callee>(std::move(office), peer);
  callee->self_ = callee;
  if (callee->office_->streams > grpc_link::kMostSessions) {
    callee->end(
        {StatusCode::RESOURCE_EXHAUSTED,
         "the worker has " + std::to_string(grpc_link::kMostSessions) + " connections already"});
    return callee;
  }
  callee->greeting_ends_.Set(
      std::chrono::system_clock::now() + grpc_link::kGreetingTimeout,
      [weak = std::weak_ptr<Callee>(callee)](bool over) {
        const auto self = weak.lock();
        if (self && over)
          self->end({StatusCode::DEADLINE_EXCEEDED, "the client did not say who it is in time"});
      });
  callee->StartRead(&callee->incoming_frame_);
  return callee;
}

Callee::Callee(std::shared_ptr<Office> office, std::string peer)
    : office_(std::move(office)), peer_(std::move(peer)) {
  ++office_->streams;
}
Callee::~Callee() { --office_->streams; }

Status Callee::receive_greeting(const std::string& text, std::optional<std::string>* answer,
                                bool* over) {
  const Status status = handshake_.receive(office_->admission, text, &answer->emplace());
  if (!status.ok() || !handshake_.over()) return status;
  const int64_t rank = handshake_.client().rank();
  if (rank < 0 || rank >= office_->admission.world_size)
    return {StatusCode::FAILED_PRECONDITION, "there is no worker " + std::to_string(rank)};
  greeting_ends_.Cancel();
  office_->gate->proved(peer_);
  use_key(handshake_.session_key(office_->admission), FrameCodes::From::kServer,
          FrameCodes::From::kClient);
  *over = true;
  return status;
}

void Callee::receive(uint64_t number, Packet packet) {
  office_->on_request(handshake_.client().rank(), std::move(packet),
                      [weak = std::weak_ptr<Callee>(self_), number](Packet answer) {
                        if (const auto self = weak.lock()) self->send(number, std::move(answer));
                      });
}

void Callee::OnDone() {
  greeting_ends_.Cancel();
  const std::shared_ptr<Callee> last = std::move(self_);
}

}  // namespace taeda::inline v0_2::distributed::grpc_rpc
