// all_reduce through Taeda's process group beside Gloo's own algorithm called directly, in turn,
// in the same processes: `collectives [--ranks N] [--rounds N]`. Prints medians and their ratio, as
// one JSON line a size. Not for libtorch: it includes Taeda's and Gloo's headers.

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "taeda/distributed/distributed.h"
#include "taeda/taeda.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Rank {
  int rank, size, rounds;
  std::string folder;  ///< that all ranks share
};

/// Microseconds of one call of `f`, of several in a row.
double time_of(int calls, const std::function<void()>& f) {
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) f();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / calls;
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

std::shared_ptr<gloo::Context> connect_gloo(const Rank& me) {
  gloo::transport::tcp::attr attr("127.0.0.1");
  auto device = gloo::transport::tcp::CreateDevice(attr);
  auto context = std::make_shared<gloo::rendezvous::Context>(me.rank, me.size);
  gloo::rendezvous::FileStore store(me.folder);
  context->connectFullMesh(store, device);
  return context;
}

void gloo_all_reduce(const std::shared_ptr<gloo::Context>& context, float* data, size_t n) {
  gloo::AllreduceOptions options(context);
  options.setOutput(data, n);
  options.setReduceFunction(
      [](void* c, const void* a, const void* b, size_t n) { gloo::sum<float>(c, a, b, n); });
  gloo::allreduce(options);
}

void run(const Rank& me) {
  const auto context = connect_gloo(me);
  const auto store = std::make_shared<taeda::distributed::FileStore>(me.folder + "/store", me.size);
  taeda::distributed::init_process_group("gloo",
                                         {.world_size = me.size, .rank = me.rank, .store = store});
  for (int64_t bytes = 1 << 10; bytes <= 64 << 20; bytes *= 4) {
    const taeda::Tensor data = taeda::zeros({bytes / 4});
    const auto direct = [&] {
      gloo_all_reduce(context, data.data_ptr<float>(), static_cast<size_t>(data.numel()));
    };
    const auto through = [&] { taeda::distributed::all_reduce(data); };
    const int calls = static_cast<int>(std::clamp<int64_t>((4 << 20) / bytes, 1, 200));
    std::vector<double> gloo, taeda;
    for (int round = -1; round < me.rounds; ++round) {
      const double g = time_of(calls, direct), t = time_of(calls, through);
      if (round < 0) continue;  // the first touches memory
      gloo.push_back(g);
      taeda.push_back(t);
    }
    if (me.rank == 0)
      std::printf(
          "{\"bytes\": %ld, \"ranks\": %d, \"gloo_us\": %.1f, \"taeda_us\": %.1f, "
          "\"taeda_of_gloo\": %.3f}\n",
          static_cast<long>(bytes), me.size, median(gloo), median(taeda),
          median(gloo) / median(taeda));
  }
  taeda::distributed::destroy_process_group();
}

/// This program as one of the other ranks.
pid_t start(char** arguments, const Rank& rank) {
  ::setenv("TAEDA_BENCH_RANK", std::to_string(rank.rank).c_str(), 1);
  pid_t id = 0;
  if (::posix_spawn(&id, "/proc/self/exe", nullptr, nullptr, arguments, environ) != 0)
    throw taeda::Error("cannot start another rank");
  return id;
}

int option(int argc, char** argv, const std::string& name, int otherwise) {
  for (int i = 1; i + 1 < argc; i += 2)
    if (name == argv[i]) return std::atoi(argv[i + 1]);
  return otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  taeda::set_num_threads(1);
  Rank me{0, option(argc, argv, "--ranks", 2), option(argc, argv, "--rounds", 15), ""};
  if (const char* rank = std::getenv("TAEDA_BENCH_RANK")) {
    me.rank = std::atoi(rank);
    me.folder = std::getenv("TAEDA_BENCH_FOLDER");
    run(me);
    return 0;
  }
  char folder[] = "/tmp/taeda_collectives_XXXXXX";
  if (!::mkdtemp(folder)) return 1;
  me.folder = folder;
  ::setenv("TAEDA_BENCH_FOLDER", folder, 1);
  std::vector<pid_t> others;
  for (Rank other = me; ++other.rank < other.size;) others.push_back(start(argv, other));
  run(me);
  int failed = 0;
  for (const pid_t id : others) {
    int status = 0;
    ::waitpid(id, &status, 0);
    failed |= status;
  }
  std::filesystem::remove_all(folder);
  return failed != 0;
}
