// How long a small call takes, and how fast a large tensor travels: two workers on loopback.
//
//     rpc [--mb 64] [--secret]
//
// The program starts itself again as the second worker. With --secret every frame has a code.

#include <spawn.h>
#include <sys/wait.h>
#include <taeda/distributed/rpc/rpc.h>
#include <taeda/taeda.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace taeda;
namespace rpc = distributed::rpc;

int64_t next_number(int64_t x) { return x + 1; }
void take(const Tensor&) {}
Tensor give(int64_t bytes) { return zeros({bytes}, kByte); }
TAEDA_RPC_FUNCTION(next_number);
TAEDA_RPC_FUNCTION(take);
TAEDA_RPC_FUNCTION(give);

/// The median time of a call, in seconds, after a few that do not count.
template <class F>
double median_time(int times, F&& f) {
  std::vector<double> all;
  for (int i = 0; i < times + times / 10 + 1; ++i) {
    const auto start = std::chrono::steady_clock::now();
    f();
    all.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  all.erase(all.begin(), all.begin() + times / 10 + 1);
  std::nth_element(all.begin(), all.begin() + times / 2, all.end());
  return all[static_cast<size_t>(times / 2)];
}

void measure(int64_t megabytes) {
  const double call = median_time(2000, [] { rpc::rpc_sync("b", next_number, {1}); });
  const double many = median_time(20, [] {
    std::vector<rpc::Future<int64_t>> calls;
    for (int i = 0; i < 1000; ++i) calls.push_back(rpc::rpc_async("b", next_number, {i}));
    rpc::wait_all(calls);
  });
  const int64_t bytes = megabytes << 20;
  const Tensor large = zeros({bytes}, kByte);
  const double there = median_time(20, [&] { rpc::rpc_sync("b", take, {large}); });
  const double back = median_time(20, [&] { rpc::rpc_sync("b", give, {bytes}); });
  std::printf("rpc_sync of an integer: %.0f us\n", call * 1e6);
  std::printf("1000 rpc_async of an integer: %.0f us, %.1f us each\n", many * 1e6, many * 1e3);
  std::printf("tensor of %ld MiB, there: %.1f ms, %.2f GB/s\n", static_cast<long>(megabytes),
              there * 1e3, static_cast<double>(bytes) / there / 1e9);
  std::printf("tensor of %ld MiB, back:  %.1f ms, %.2f GB/s\n", static_cast<long>(megabytes),
              back * 1e3, static_cast<double>(bytes) / back / 1e9);
}

rpc::RpcBackendOptions options_for(const std::string& meeting, bool secret) {
  rpc::RpcBackendOptions out = {.init_method = "file://" + meeting};
  out.security = distributed::Security{.secret = secret ? "known to the two workers" : ""};
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  int64_t megabytes = 64;
  bool secret = false;
  std::string meeting;  // of the second worker
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--secret") secret = true;
    if (name == "--mb" && i + 1 < argc) megabytes = std::atol(argv[i + 1]);
    if (name == "--second" && i + 1 < argc) meeting = argv[i + 1];
  }
  if (!meeting.empty()) {
    rpc::init_rpc("b", 1, 2, options_for(meeting, secret));
    rpc::shutdown();
    return 0;
  }
  meeting = "/tmp/taeda_rpc_" + std::to_string(::getpid());
  std::vector<std::string> texts = {argv[0], "--second", meeting};
  if (secret) texts.push_back("--secret");
  std::vector<char*> arguments;
  for (std::string& text : texts) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  pid_t second = 0;
  if (::posix_spawn(&second, "/proc/self/exe", nullptr, nullptr, arguments.data(), environ) != 0)
    return 1;
  rpc::init_rpc("a", 0, 2, options_for(meeting, secret));
  measure(megabytes);
  rpc::shutdown();
  ::waitpid(second, nullptr, 0);
  return 0;
}
