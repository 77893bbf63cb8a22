// all_reduce through Taeda's process group beside Gloo's own algorithm called directly, in turn,
// in the same processes: `collectives [--ranks N] [--rounds N]`. Prints medians and their ratio, as
// one JSON line a size. Not for libtorch: it includes Taeda's and Gloo's headers.

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "processes.h"
#include "taeda/distributed/distributed.h"
#include "taeda/taeda.h"

namespace {

/// Microseconds of one call of `f`, of several in a row.
double time_of(int calls, const std::function<void()>& f) {
  return 1e6 * bench::seconds_of(calls, f);
}

std::shared_ptr<gloo::Context> connect_gloo(int rank, int size, const std::string& folder) {
  gloo::transport::tcp::attr attr("127.0.0.1");
  auto device = gloo::transport::tcp::CreateDevice(attr);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
  gloo::rendezvous::FileStore store(folder);
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

void measure(int rank, int size, const std::string& folder, int rounds) {
  taeda::set_num_threads(1);
  const auto context = connect_gloo(rank, size, folder);
  taeda::distributed::init_process_group("gloo");
  for (int64_t bytes = 1 << 10; bytes <= 64 << 20; bytes *= 4) {
    const taeda::Tensor data = taeda::zeros({bytes / 4});
    const auto direct = [&] {
      gloo_all_reduce(context, data.data_ptr<float>(), static_cast<size_t>(data.numel()));
    };
    const auto through = [&] { taeda::distributed::all_reduce(data); };
    const int calls = static_cast<int>(std::clamp<int64_t>((4 << 20) / bytes, 1, 200));
    std::vector<double> gloo, taeda;
    for (int round = -1; round < rounds; ++round) {
      const double g = time_of(calls, direct), t = time_of(calls, through);
      if (round < 0) continue;  // the first touches memory
      gloo.push_back(g);
      taeda.push_back(t);
    }
    if (rank == 0)
      std::printf(
          "{\"bytes\": %ld, \"ranks\": %d, \"gloo_us\": %.1f, \"taeda_us\": %.1f, "
          "\"taeda_of_gloo\": %.3f}\n",
          static_cast<long>(bytes), size, bench::median_of(gloo), bench::median_of(taeda),
          bench::median_of(gloo) / bench::median_of(taeda));
  }
  taeda::distributed::destroy_process_group();
}

}  // namespace

int main(int argc, char** argv) {
  const int size = bench::option(argc, argv, "--ranks", 2);
  const int rounds = bench::option(argc, argv, "--rounds", 15);
  char folder[] = "/tmp/taeda_collectives_XXXXXX";
  if (!::mkdtemp(folder)) return 1;
  taeda::distributed::spawn(measure, std::tuple(size, std::string(folder), rounds), size);
  std::filesystem::remove_all(folder);
}
