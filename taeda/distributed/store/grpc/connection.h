// One client's stream to the server of a store.
#pragma once

#include <grpcpp/channel.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "taeda/distributed/grpc/handshake.h"
#include "taeda/distributed/store/grpc/messages.h"

namespace taeda::inline v0_2::distributed::grpc_store {

/// Greets the server, then carries requests of any number of threads at a time. gRPC calls the
/// On... functions; nothing of what they do waits.
class Connection final : public grpc::ClientBidiReactor<Frame, Frame> {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Connection(const std::shared_ptr<grpc::Channel>& channel);
  /// Ends the stream and waits until gRPC has let go of it.
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Says who this process is and checks who the server is. False, with status(), if the stream
  /// ended or nothing came until `deadline`. Throws DistributedError if the server is not to be
  /// trusted.
  bool greet(Hello hello, const std::string& secret, Clock::time_point deadline);

  /// Which server that is; after greet().
  const std::string& server() const { return server_; }

  /// Sends a request, which has a number, and waits for its response; none, with status(), when the
  /// stream ended. At `deadline` the request is taken back, which the server confirms; where it
  /// does not, there is no response either.
  std::optional<Response> call(const Request& request, Clock::time_point deadline);

  /// Why the stream ended; "no answer" with code DEADLINE_EXCEEDED while it has not.
  grpc::Status status() const;

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  void send_payload(std::string payload);
  void end();
  std::optional<std::string> next_greeting(Clock::time_point deadline);

  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<StoreService::Stub> stub_;
  grpc::ClientContext context_;
  Frame incoming_, outgoing_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool greeting_ = true;
  std::deque<std::string> greetings_received_;
  std::map<uint64_t, std::optional<Response>> calls_;
  std::string server_;
  FrameCodes incoming_codes_, outgoing_codes_;
  std::deque<Frame> waiting_;  // to be sent
  bool writing_ = false, ending_ = false;
  bool distrusted_ = false;  // a frame was not the server's
  std::optional<grpc::Status> done_;
};

}  // namespace taeda::inline v0_2::distributed::grpc_store
