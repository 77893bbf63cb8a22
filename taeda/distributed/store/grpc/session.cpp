#include "taeda/distributed/store/grpc/session.h"

namespace taeda::inline v0_2::distributed::grpc_store {

namespace {

using grpc::Status;
using grpc::StatusCode;

/// A client that reads nothing is not read from either, once so much waits for it.
constexpr size_t kMostWaitingBytes = size_t{32} << 20;

std::string or_unnamed(const std::string& job) {
  return job.empty() ? "a job without a name" : "job '" + job + "'";
}

}  // namespace

std::shared_ptr<Session> Session::start(std::shared_ptr<House> house) {
  auto session = std::make_shared<Session>(std::move(house));
  session->self_ = session;
  if (session->house_->sessions > kMostSessions) {
    session->close({StatusCode::RESOURCE_EXHAUSTED,
                    "the server has " + std::to_string(kMostSessions) + " clients already"});
    return session;
  }
  session->greeting_ends_.Set(
      std::chrono::system_clock::now() + kGreetingTimeout,
      [weak = std::weak_ptr<Session>(session)](bool over) {
        const auto self = weak.lock();
        if (self && over)
          self->close({StatusCode::DEADLINE_EXCEEDED, "the client did not say who it is in time"});
      });
  session->StartRead(&session->incoming_);
  return session;
}

Session::Session(std::shared_ptr<House> house)
    : house_(std::move(house)),
      incoming_codes_({}, FrameCodes::From::kClient),
      outgoing_codes_({}, FrameCodes::From::kServer) {
  ++house_->sessions;
}

Session::~Session() { --house_->sessions; }

void Session::send(const google::protobuf::MessageLite& message) {
  {
    std::lock_guard lock(mutex_);
    if (end_) return;
    Frame& frame = waiting_.emplace_back();
    frame.set_payload(message.SerializeAsString());
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
  const Expects expects = [&] {
    std::lock_guard lock(mutex_);
    return expects_;
  }();
  if (expects == Expects::kRequests) return receive_request(frame);
  if (frame.ByteSizeLong() > kMostGreetingBytes)
    return {StatusCode::INVALID_ARGUMENT, "a greeting that is too long"};
  return expects == Expects::kHello ? receive_hello(frame.payload())
                                    : receive_proof(frame.payload());
}

Status Session::receive_hello(const std::string& payload) {
  if (!hello_.ParseFromString(payload) || hello_.nonce().size() < 16)
    return {StatusCode::INVALID_ARGUMENT, "not a client of a TCPStore"};
  Challenge challenge;
  challenge.set_version(kVersion);
  challenge.set_nonce(new_nonce());
  challenge.set_wants_secret(!house_->secret.empty());
  greetings_ = {payload, challenge.SerializeAsString()};
  {
    std::lock_guard lock(mutex_);
    expects_ = Expects::kProof;
  }
  send(challenge);
  return Status::OK;
}

Status Session::receive_proof(const std::string& payload) {
  Proof proof;
  if (!proof.ParseFromString(payload))
    return {StatusCode::INVALID_ARGUMENT, "not a client of a TCPStore"};
  Welcome welcome;
  const std::string& secret = house_->secret;
  if (!secret.empty()) {
    if (!same_code(proof.code(), greetings_.client_proof(secret)))
      return {StatusCode::UNAUTHENTICATED, "this process does not know the job's secret"};
    welcome.set_code(greetings_.server_proof(secret));
  }
  if (const Status status = refusal(hello_); !status.ok()) return status;
  greeting_ends_.Cancel();
  send(welcome);
  const std::string key = greetings_.session_key(secret);
  incoming_codes_ = FrameCodes(key, FrameCodes::From::kClient);
  {
    std::lock_guard lock(mutex_);
    outgoing_codes_ = FrameCodes(key, FrameCodes::From::kServer);
    expects_ = Expects::kRequests;
  }
  house_->state.add_worker();
  return Status::OK;
}

/// Why a process that may be believed does not belong here.
Status Session::refusal(const Hello& hello) const {
  if (hello.version() != kVersion)
    return {StatusCode::FAILED_PRECONDITION,
            "it speaks version " + std::to_string(kVersion) + " of the store's protocol, this " +
                "process version " + std::to_string(hello.version())};
  if (hello.job() != house_->job)
    return {StatusCode::FAILED_PRECONDITION, "it serves " + or_unnamed(house_->job) +
                                                 ", but this process belongs to " +
                                                 or_unnamed(hello.job())};
  if (hello.world_size() > 0 && house_->world_size > 0 && hello.world_size() != house_->world_size)
    return {StatusCode::FAILED_PRECONDITION,
            "it serves a job of world size " + std::to_string(house_->world_size) +
                ", but this process was told " + std::to_string(hello.world_size())};
  return Status::OK;
}

Status Session::receive_request(const Frame& frame) {
  if (!same_code(frame.code(), incoming_codes_.next(frame.payload())))
    return {StatusCode::UNAUTHENTICATED, "a frame whose code is wrong"};
  Request request;
  if (!request.ParseFromString(frame.payload()) || request.number() == 0)
    return {StatusCode::INVALID_ARGUMENT, "a request that is none"};
  house_->state.handle(this, request,
                       [self = shared_from_this()](const Response& r) { self->send(r); });
  return Status::OK;
}

}  // namespace taeda::distributed::grpc_store
