// Ten thousand connections that never say who they are: the job is served beside them, and they are
// cut off.

#if defined(TAEDA_HAS_GRPC) && !defined(__SANITIZE_THREAD__)  // missing_grpc() in stores.h

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "taeda/distributed/store/tcp_store.h"
#include "tests/distributed/process.h"
#include "tests/distributed/stores.h"

namespace taeda::distributed {
namespace {

constexpr int kIdle = 10'000;
/// How many of them, the first, are watched until they end: each takes as long as a greeting may.
constexpr size_t kWatched = 1'000;
/// Descriptors that a process has besides.
constexpr rlim_t kOthers = 500;

rlimit descriptor_limit() {
  rlimit limit;
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit;
}

sockaddr_in loopback(uint32_t number, int port) {
  sockaddr_in out = {};
  out.sin_family = AF_INET;
  out.sin_port = htons(static_cast<uint16_t>(port));
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK + number);
  return out;
}

/// A connection that half of the strangers begin to speak on; -1 where it fails.
int connect_and_idle(int number, int port) {
  const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  const linger reset = {.l_onoff = 1, .l_linger = 0};  // leaves no port behind that has to wait
  ::setsockopt(s, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  ::setsockopt(s, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  const sockaddr_in from = loopback(1 + static_cast<uint32_t>(number % 8), 0);
  const sockaddr_in to = loopback(0, port);
  if (::bind(s, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0) return -1;
  if (::connect(s, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return -1;
  if (number % 2) ::send(s, "PRI * HTTP/2.0\r\n", 16, MSG_NOSIGNAL);
  return s;
}

/// Waits until the server has ended the connection; false if it has not within a minute.
bool wait_for_end(int socket) {
  const timeval minute = {.tv_sec = 60, .tv_usec = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &minute, sizeof minute);
  char bytes[256];
  ssize_t n;
  do n = ::recv(socket, bytes, sizeof bytes, 0);
  while (n > 0 || (n < 0 && errno == EINTR));
  return n == 0 || errno == ECONNRESET;
}

const Role strangers("ten_thousand_strangers", [] {
  rlimit limit = descriptor_limit();
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  const int port = std::atoi(std::getenv("TAEDA_TEST_PORT"));
  std::vector<int> sockets;
  for (int i = 0; i < kIdle; ++i) {
    sockets.push_back(connect_and_idle(i, port));
    if (sockets.back() < 0) return std::printf("connection %d: error %d\n", i, errno), 1;
  }
  std::printf("connected\n");
  std::fflush(stdout);
  sockets.resize(kWatched);
  std::printf("%td ended\n", std::ranges::count_if(sockets, wait_for_end));
  return 0;
});

size_t open_descriptors() {
  size_t out = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++out;
  return out;
}

/// Every process of a job of three meets the others and leaves again.
void run_job(const TCPStoreOptions& options) {
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 3; ++rank)
    ranks.emplace_back([&, rank] {
      TCPStore store("localhost", options);
      store.set("rank" + std::to_string(rank), "here");
      for (int other = 0; other < 3; ++other)
        EXPECT_EQ(store.get("rank" + std::to_string(other)), "here");
    });
  for (std::thread& t : ranks) t.join();
}

TEST(IdleConnections, TenThousandKeepNobodyOutAndAreCutOff) {
  if (const rlimit limit = descriptor_limit(); limit.rlim_max < kIdle + kOthers)
    GTEST_SKIP() << "a process may have " << limit.rlim_max << " descriptors here (ulimit -Hn), "
                 << kIdle + kOthers << " are needed";
  const Security security = {.secret = kTestSecret};
  TCPStore server("localhost",
                  {.port = 0, .is_master = true, .job = "tests", .security = security});
  const TCPStoreOptions client = {.port = server.port(), .job = "tests", .security = security};
  TCPStore member("localhost", client);
  const size_t before = open_descriptors();
  Process idle("ten_thousand_strangers", {{"TAEDA_TEST_PORT", std::to_string(server.port())}});
  ASSERT_EQ(idle.line(std::chrono::seconds(60)), "connected");
  EXPECT_EQ(member.add("n", 1), 1);
  run_job(client);
  EXPECT_EQ(idle.line(std::chrono::seconds(60)), std::to_string(kWatched) + " ended");
  EXPECT_EQ(idle.wait(), 0);
  run_job(client);
  EXPECT_EQ(member.add("n", 1), 2);
  // Those that were not watched have ended with their process.
  for (int i = 0; i < 1000 && open_descriptors() > before + 100; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_LE(open_descriptors(), before + 100);
}

}  // namespace
}  // namespace taeda::distributed

#endif
