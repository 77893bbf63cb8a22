#include "taeda/distributed/store/grpc/connection.h"

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::grpc_store {

namespace {

/// How long a server that lives may take to confirm that a request was taken back.
constexpr std::chrono::milliseconds kGrace(1000);
/// With a request's number, that of the one which takes it back.
constexpr uint64_t kCancels = uint64_t{1} << 63;

}  // namespace

Connection::Connection(const std::shared_ptr<grpc::Channel>& channel)
    : channel_(channel),
      stub_(StoreService::NewStub(channel)),
      incoming_codes_({}, FrameCodes::From::kServer),
      outgoing_codes_({}, FrameCodes::From::kClient) {
  stub_->async()->Join(&context_, this);
  AddHold();  // until end(): threads of the program write
  StartRead(&incoming_);
  StartCall();
}

Connection::~Connection() {
  end();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_.has_value(); });
}

/// No write begins any more; gRPC may end the stream.
void Connection::end() {
  {
    std::lock_guard lock(mutex_);
    if (ending_) return;
    ending_ = true;
    waiting_.clear();
    if (writing_) {  // OnWriteDone lets go
      context_.TryCancel();
      return;
    }
  }
  context_.TryCancel();
  RemoveHold();
}

void Connection::send_payload(std::string payload) {
  {
    std::lock_guard lock(mutex_);
    if (ending_) return;
    Frame frame;
    frame.set_payload(std::move(payload));
    frame.set_code(outgoing_codes_.next(frame.payload()));
    waiting_.push_back(std::move(frame));
    if (writing_) return;
    writing_ = true;
    outgoing_ = std::move(waiting_.front());
    waiting_.pop_front();
  }
  StartWrite(&outgoing_);
}

void Connection::OnWriteDone(bool ok) {
  bool write = false, let_go = false;
  {
    std::lock_guard lock(mutex_);
    if (!ok) waiting_.clear();  // the read fails, too
    write = ok && !ending_ && !waiting_.empty();
    writing_ = write;
    let_go = ending_;
    if (write) {
      outgoing_ = std::move(waiting_.front());
      waiting_.pop_front();
    }
  }
  if (write) StartWrite(&outgoing_);
  if (let_go) RemoveHold();
}

void Connection::OnReadDone(bool ok) {
  if (!ok) return end();
  {
    std::lock_guard lock(mutex_);
    if (greeting_) {
      greetings_received_.push_back(std::move(*incoming_.mutable_payload()));
    } else {
      Response response;
      if (!grpc_link::same_code(incoming_.code(), incoming_codes_.next(incoming_.payload())) ||
          !response.ParseFromString(incoming_.payload())) {
        ok = false;
        distrusted_ = true;
      } else if (const auto it = calls_.find(response.number()); it != calls_.end()) {
        it->second = std::move(response);
      }
    }
    changed_.notify_all();
  }
  if (!ok) return end();
  StartRead(&incoming_);
}

void Connection::OnDone(const grpc::Status& status) {
  std::lock_guard lock(mutex_);
  done_ = status;
  changed_.notify_all();
}

grpc::Status Connection::status() const {
  std::lock_guard lock(mutex_);
  if (distrusted_) return {grpc::StatusCode::UNAUTHENTICATED, "a frame whose code is wrong"};
  return done_.value_or(grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED, "no answer"));
}

std::optional<std::string> Connection::next_greeting(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [&] { return !greetings_received_.empty() || done_; });
  if (greetings_received_.empty()) return {};
  std::string out = std::move(greetings_received_.front());
  greetings_received_.pop_front();
  return out;
}

bool Connection::greet(Hello hello, const std::string& secret, Clock::time_point deadline) {
  grpc_link::ClientHandshake handshake(std::move(hello), secret);
  send_payload(handshake.hello());
  const std::optional<std::string> challenge = next_greeting(deadline);
  if (!challenge) return false;
  send_payload(handshake.prove(*challenge));
  const std::optional<std::string> welcome = next_greeting(deadline);
  if (!welcome) return false;
  handshake.believe(*welcome);
  server_ = handshake.server();
  const std::string key = handshake.session_key();
  std::lock_guard lock(mutex_);
  incoming_codes_ = FrameCodes(key, FrameCodes::From::kServer);
  outgoing_codes_ = FrameCodes(key, FrameCodes::From::kClient);
  greeting_ = false;
  return true;
}

std::optional<Response> Connection::call(const Request& request, Clock::time_point deadline) {
  const uint64_t number = request.number();
  {
    std::lock_guard lock(mutex_);
    calls_[number];
  }
  send_payload(request.SerializeAsString());
  std::unique_lock lock(mutex_);
  const auto answered = [&] { return calls_[number] || done_; };
  if (!changed_.wait_until(lock, deadline, answered)) {
    Request cancel;
    cancel.set_number(kCancels | number);
    cancel.set_operation(taeda_store::CANCEL);
    cancel.set_amount(static_cast<int64_t>(number));
    lock.unlock();
    send_payload(cancel.SerializeAsString());
    lock.lock();
    changed_.wait_until(lock, std::max(Clock::now(), deadline) + kGrace, answered);
  }
  std::optional<Response> out = std::move(calls_[number]);
  calls_.erase(number);
  return out;
}

}  // namespace taeda::inline v0_2::distributed::grpc_store
