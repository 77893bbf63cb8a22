// How long a small call takes, and how fast a large tensor travels: two workers on loopback.
//
//     rpc [--mb 64] [--secret 1]
//
// With a secret every frame has a code.

#include <taeda/distributed/cluster/spawn.h>
#include <taeda/rpc/rpc.h>
#include <taeda/taeda.h>

#include <cstdio>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "processes.h"

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
double median_time(int times, const std::function<void()>& f) {
  for (int i = 0; i <= times / 10; ++i) f();
  std::vector<double> all;
  for (int i = 0; i < times; ++i) all.push_back(bench::seconds_of(1, f));
  return bench::median_of(std::move(all));
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

void run(int rank, int megabytes, int secret) {
  rpc::RpcBackendOptions options;
  options.security = distributed::Security{.secret = secret ? "known to the two workers" : ""};
  rpc::init_rpc(rank == 0 ? "a" : "b", rank, 2, options);
  if (rank == 0) measure(megabytes);
  rpc::shutdown();
}

}  // namespace

int main(int argc, char** argv) {
  const int megabytes = bench::option(argc, argv, "--mb", 64);
  const int secret = bench::option(argc, argv, "--secret", 0);
  distributed::spawn(run, std::tuple(megabytes, secret), /*nprocs=*/2);
  return 0;
}
