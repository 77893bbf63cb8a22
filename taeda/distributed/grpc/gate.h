// Where a server's clients come in: listens, and hands connections to gRPC.
//
// Note [What a stranger may send]
// gRPC reads all that a connection sends, and before 1.60 nothing bounds what a stream costs that
// is begun and reset at once: the reading thread queues kilobytes for each and reads on, and nobody
// counts it as a client before its turn comes. So the gate holds on to each connection (a second
// descriptor) until its client has proved who it is, sees how many bytes have arrived (the system
// counts them), and ends those that send more than a greeting is long, that begin one stream after
// the other, or that take too long. What had arrived and was not read is lost with the connection.
// A connection that has said nothing never gets to gRPC. One that does is handed over by a thread
// of its own, on which gRPC may begin to read, and goes on while there is anything to read: so the
// gate still sees and ends it. Of members, who may send as much as they like, the gate counts the
// streams.
#pragma once

#include <grpcpp/server_builder.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace taeda::inline v0_2::distributed::grpc_link {

/// How many bytes a connection may bring before its client has proved who it is: HTTP/2's own and
/// two greetings; with TLS also certificates.
inline constexpr uint64_t kMostUnprovenBytes = uint64_t{16} << 10;
inline constexpr uint64_t kMostUnprovenTlsBytes = uint64_t{256} << 10;
/// How many streams it may begin until then, and a member's in the same time; a client of ours
/// begins one for each connection, and another one where it was not answered in time.
inline constexpr int kMostStreams = 8;

class Gate {
 public:
  /// Listens there. Throws DistributedError, with `what` as its subject, where it cannot.
  Gate(const std::string& what, const std::string& address, uint16_t port, bool tls);
  ~Gate();  ///< close()
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  uint16_t port() const { return port_; }

  /// Makes the server that is being built take the connections.
  void lead_to(grpc::ServerBuilder& builder, std::shared_ptr<grpc::ServerCredentials> credentials);
  /// Lets clients in; the server has started.
  void open();
  /// Lets nobody in any more. Before the server ends.
  void close();

  /// A stream begins on the connection of `peer`, as gRPC calls it. Any thread may call it.
  void begin_stream(const std::string& peer);
  /// Its client has proved who it is. Any thread may call it.
  void proved(const std::string& peer);

 private:
  using Clock = std::chrono::steady_clock;
  struct Guest {
    int socket = -1;
    std::string peer;
    Clock::time_point until;  ///< when it must have proved itself; of a member, `streams` is over
    bool inside = false;      ///< gRPC has it, too
    int streams = 0;          ///< that it has begun in that time
  };
  using Guests = std::map<uint64_t, Guest>;

  void work();
  void hand_over();
  int turn();
  void accept_all();
  bool make_room();
  void look_at(uint64_t number, uint32_t events);
  void turn_away(uint64_t number);
  void forget(uint64_t number);
  Guests& house_of(uint64_t number) { return members_.contains(number) ? members_ : guests_; }

  const uint64_t most_bytes_;
  uint16_t port_ = 0;
  int listener_ = -1, events_ = -1, wake_ = -1;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::mutex mutex_;
  Guests guests_;                           ///< in the order in which they came, and are to end
  Guests members_;                          ///< who have proved who they are
  std::map<std::string, uint64_t> inside_;  ///< those that gRPC has, by peer
  uint64_t last_ = 0;
  std::vector<int> to_hand_over_;  ///< sockets
  std::condition_variable something_to_hand_over_;
  bool closed_ = false;
  std::thread thread_, usher_;
};

}  // namespace taeda::inline v0_2::distributed::grpc_link
