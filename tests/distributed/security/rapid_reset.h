// Strangers who begin one stream after the other and end each at once, which HTTP/2 lets them do
// without waiting for anybody.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace taeda::distributed {

/// HTTP/2, as far as it takes to begin streams and to reset them.
class Resetter {
 public:
  Resetter(int port, const std::string& path) : Resetter(connected(port), path, 1) {
    send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(kSettings, 0, 0, ""));
  }
  /// Goes on where somebody else has begun, with streams from number `stream` on.
  Resetter(int socket, std::string path, uint32_t stream)
      : socket_(socket), path_(std::move(path)), first_(stream), stream_(stream) {}
  ~Resetter() { ::close(socket_); }
  Resetter(const Resetter&) = delete;
  Resetter& operator=(const Resetter&) = delete;

  /// A connection that takes five seconds for a word at most; -1 where there is none.
  static int connected(int port) {
    const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience = {.tv_sec = 5, .tv_usec = 0};
    ::setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (::connect(s, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return -1;
    return s;
  }

  /// Whether the other side takes it still.
  bool begin_and_reset(int streams) {
    std::string out;
    for (int i = 0; i < streams; ++i, stream_ += 2)
      out += frame(kHeaders, kEndHeaders, stream_, headers()) +
             frame(kReset, 0, stream_, std::string("\0\0\0\x08", 4));
    return send(out);
  }
  /// Whether the other side ends the connection within five seconds.
  bool is_ended() const {
    const timeval patience = {.tv_sec = 5, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    char bytes[4096];
    ssize_t n;
    do n = ::recv(socket_, bytes, sizeof bytes, 0);
    while (n > 0);
    return n == 0 || errno == ECONNRESET;
  }

 private:
  static constexpr char kHeaders = 1, kReset = 3, kSettings = 4, kEndHeaders = 4;

  bool send(const std::string& bytes) const {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  static std::string frame(char type, char flags, uint32_t stream, const std::string& payload) {
    std::string out;
    for (int shift = 16; shift >= 0; shift -= 8) out += static_cast<char>(payload.size() >> shift);
    out += {type, flags};
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(stream >> shift);
    return out + payload;
  }
  /// In full once, then by their places in the table that both sides keep: the latest.
  std::string headers() const {
    if (stream_ > first_) return "\x83\x86\xc1\xc0\xbf\xbe";
    std::string out = "\x83\x86";  // POST, http
    const std::vector<std::pair<std::string, std::string>> fields = {
        {":path", path_},
        {":authority", "x"},
        {"te", "trailers"},
        {"content-type", "application/grpc"}};
    for (const auto& [name, value] : fields) out += "\x40" + text(name) + text(value);
    return out;
  }
  static std::string text(const std::string& s) { return static_cast<char>(s.size()) + s; }

  const int socket_;
  const std::string path_;
  const uint32_t first_;
  uint32_t stream_;
};

inline size_t resident_mebibytes() {
  size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE)) >> 20;
}

/// How many streams one connection could begin, up to `most`.
inline int streams_of_one_connection(int port, const std::string& path, int most) {
  Resetter stranger(port, path);
  constexpr int kAtOnce = 100;
  for (int n = 0; n < most; n += kAtOnce)
    if (!stranger.begin_and_reset(kAtOnce)) return n;
  return most;
}

/// By how many MiB this process grows while four strangers do nothing else, and come again when
/// they are turned away.
inline size_t growth_under_attack(int port, const std::string& path) {
  const size_t before = resident_mebibytes();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  std::vector<std::thread> strangers;
  for (int i = 0; i < 4; ++i)
    strangers.emplace_back([&] {
      while (std::chrono::steady_clock::now() < end) {
        Resetter stranger(port, path);
        while (std::chrono::steady_clock::now() < end && stranger.begin_and_reset(500)) {
        }
      }
    });
  for (std::thread& t : strangers) t.join();
  const size_t after = resident_mebibytes();
  return after > before ? after - before : 0;
}

/// More than all of it together comes to, and less than a quarter of what one second would be.
constexpr size_t kMostGrowth = 200;
constexpr int kManyStreams = 200'000;

}  // namespace taeda::distributed
