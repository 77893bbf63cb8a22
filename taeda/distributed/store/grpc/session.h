// One client, as the server sees it.
#pragma once

#include <grpcpp/alarm.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "taeda/distributed/grpc/endpoint.h"
#include "taeda/distributed/grpc/gate.h"
#include "taeda/distributed/grpc/handshake.h"
#include "taeda/distributed/store/grpc/messages.h"
#include "taeda/distributed/store/grpc/state.h"

namespace taeda::inline v0_2::distributed::grpc_store {

/// Who has been let in, by what their greetings call them.
class Members {
 public:
  struct Member {
    History history;
  };
  using MemberPtr = std::shared_ptr<Member>;

  /// The one with that name; `*is_new` where it was not there.
  MemberPtr enter(const std::string& name, bool* is_new);

 private:
  static constexpr size_t kMostKept = 2 * grpc_link::kMostSessions;

  std::mutex mutex_;
  std::map<std::string, MemberPtr> known_;
};

/// What all sessions of a server have in common.
struct House {
  grpc_link::Admission admission;
  State state;
  std::atomic<size_t> sessions{0};
  Members members;
  const std::shared_ptr<grpc_link::Gate> gate;

  House(grpc_link::Admission whom, std::shared_ptr<grpc_link::Gate> where)
      : admission(std::move(whom)), gate(std::move(where)) {}
};

/// The stream of one client. gRPC calls the On... functions, one read and one write at a time; the
/// object lives until OnDone.
class Session final : public grpc::ServerBidiReactor<Frame, Frame>,
                      public std::enable_shared_from_this<Session> {
 public:
  /// Begins to listen to the client.
  static std::shared_ptr<Session> start(std::shared_ptr<House> house, const std::string& peer);
  Session(std::shared_ptr<House> house, std::string peer);
  ~Session() override;

  void send(const google::protobuf::MessageLite& message);
  /// Ends the stream with a reason that the client is told, before what waits to be sent, or after.
  void close(const grpc::Status& status, bool after_sending = false);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  grpc::Status receive(const Frame& frame);
  grpc::Status receive_greeting(const Frame& frame);
  grpc::Status receive_request(const Frame& frame);
  void send_payload(std::string payload);
  void take_next_frame();
  bool may_read();

  const std::shared_ptr<House> house_;
  const std::string peer_;         // as gRPC calls it
  std::shared_ptr<Session> self_;  // until OnDone
  grpc::Alarm greeting_ends_;

  // Touched by reads alone.
  Frame incoming_;
  grpc_link::ServerHandshake handshake_;
  FrameCodes incoming_codes_;
  Members::MemberPtr member_;

  std::mutex mutex_;
  FrameCodes outgoing_codes_;
  std::deque<Frame> waiting_;  // to be sent
  size_t waiting_bytes_ = 0;
  Frame outgoing_;
  bool writing_ = false, reading_paused_ = false;
  std::optional<grpc::Status> end_;
};

}  // namespace taeda::inline v0_2::distributed::grpc_store
