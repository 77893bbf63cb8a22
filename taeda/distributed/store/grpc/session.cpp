#include "taeda/distributed/store/grpc/session.h"

#include "taeda/distributed/grpc/endpoint.h"

namespace taeda::inline v0_2::distributed::grpc_store {

namespace {

using grpc::Status;
using grpc::StatusCode;

/// A client that reads nothing is not read from either, once so much waits for it.
constexpr size_t kMostWaitingBytes = size_t{32} << 20;

}  // namespace

Members::MemberPtr Members::enter(const std::string& name, bool* is_new) {
  std::lock_guard lock(mutex_);
  if (known_.size() >= kMostKept)  // those that have no connection
    std::erase_if(known_, [](const auto& entry) { return entry.second.use_count() == 1; });
  const auto [entry, added] = known_.try_emplace(name);
  *is_new = added || name.empty();
  if (*is_new) entry->second = std::make_shared<Member>();
  return entry->second;
}

std::shared_ptr<Session> Session::start(std::shared_ptr<House> house, const std::string& peer) {
  house->gate->begin_stream(peer);
  auto session = std::make_shared<Session>(std::move(house), peer);
  session->self_ = session;
  if (session->house_->sessions > grpc_link::kMostSessions) {
    session->close(
        {StatusCode::RESOURCE_EXHAUSTED,
         "the server has " + std::to_string(grpc_link::kMostSessions) + " clients already"});
    return session;
  }
  session->greeting_ends_.Set(
      std::chrono::system_clock::now() + grpc_link::kGreetingTimeout,
      [weak = std::weak_ptr<Session>(session)](bool over) {
        const auto self = weak.lock();
        if (self && over)
          self->close({StatusCode::DEADLINE_EXCEEDED, "the client did not say who it is in time"});
      });
  session->StartRead(&session->incoming_);
  return session;
}

Session::Session(std::shared_ptr<House> house, std::string peer)
    : house_(std::move(house)),
      peer_(std::move(peer)),
      incoming_codes_({}, FrameCodes::From::kClient),
      outgoing_codes_({}, FrameCodes::From::kServer) {
  ++house_->sessions;
}

Session::~Session() { --house_->sessions; }

void Session::send(const google::protobuf::MessageLite& message) {
  send_payload(message.SerializeAsString());
}

void Session::send_payload(std::string payload) {
  {
    std::lock_guard lock(mutex_);
    if (end_) return;
    Frame& frame = waiting_.emplace_back();
    frame.set_payload(std::move(payload));
    frame.set_code(outgoing_codes_.next(frame.payload()));
    waiting_bytes_ += frame.payload().size();
    if (writing_) return;
    take_next_frame();
  }
  StartWrite(&outgoing_);
}

void Session::take_next_frame() {
  writing_ = true;
  outgoing_ = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= outgoing_.payload().size();
}

void Session::close(const Status& status, bool after_sending) {
  {
    std::lock_guard lock(mutex_);
    if (!after_sending) waiting_.clear();
    if (end_) return;
    end_ = status;
    if (writing_) return;  // OnWriteDone finishes
  }
  Finish(status);
}

void Session::OnWriteDone(bool ok) {
  if (!ok) close({StatusCode::UNAVAILABLE, "the client is gone"});
  bool finish = false, write = false, read = false;
  {
    std::lock_guard lock(mutex_);
    writing_ = false;
    if (!waiting_.empty()) {
      take_next_frame();
      write = true;
    }
    finish = end_ && !write;
    if (!end_ && reading_paused_ && waiting_bytes_ <= kMostWaitingBytes) {
      reading_paused_ = false;
      read = true;
    }
  }
  if (finish) Finish(*end_);
  if (write) StartWrite(&outgoing_);
  if (read) StartRead(&incoming_);
}

void Session::OnReadDone(bool ok) {
  if (!ok) return close(Status::OK);  // the client has left
  if (const Status status = receive(incoming_); !status.ok()) return close(status);
  if (may_read()) StartRead(&incoming_);
}

bool Session::may_read() {
  std::lock_guard lock(mutex_);
  if (end_) return false;
  reading_paused_ = waiting_bytes_ > kMostWaitingBytes;
  return !reading_paused_;
}

void Session::OnCancel() { close(Status::CANCELLED); }

void Session::OnDone() {
  greeting_ends_.Cancel();
  house_->state.remove(this);
  const std::shared_ptr<Session> last = std::move(self_);
}

Status Session::receive(const Frame& frame) {
  return handshake_.over() ? receive_request(frame) : receive_greeting(frame);
}

Status Session::receive_greeting(const Frame& frame) {
  if (frame.ByteSizeLong() > grpc_link::kMostGreetingBytes)
    return {StatusCode::INVALID_ARGUMENT, "a greeting that is too long"};
  std::string answer;
  const Status status = handshake_.receive(house_->admission, frame.payload(), &answer);
  if (!status.ok()) return status;
  send_payload(std::move(answer));
  if (!handshake_.over()) return Status::OK;
  greeting_ends_.Cancel();
  house_->gate->proved(peer_);
  const std::string key = handshake_.session_key(house_->admission);
  incoming_codes_ = FrameCodes(key, FrameCodes::From::kClient);
  {
    std::lock_guard lock(mutex_);
    outgoing_codes_ = FrameCodes(key, FrameCodes::From::kServer);
  }
  bool is_new = true;
  member_ = house_->members.enter(handshake_.client().member(), &is_new);
  if (is_new) house_->state.add_worker();
  return Status::OK;
}

Status Session::receive_request(const Frame& frame) {
  if (!grpc_link::same_code(frame.code(), incoming_codes_.next(frame.payload())))
    return {StatusCode::UNAUTHENTICATED, "a frame whose code is wrong"};
  Request request;
  if (!request.ParseFromString(frame.payload()) || request.number() == 0)
    return {StatusCode::INVALID_ARGUMENT, "a request that is none"};
  house_->state.handle(
      this, request, [self = shared_from_this()](const Response& r) { self->send(r); },
      &member_->history);
  return Status::OK;
}

}  // namespace taeda::inline v0_2::distributed::grpc_store
