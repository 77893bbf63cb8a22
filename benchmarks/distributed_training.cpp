// Training in several processes: what DistributedDataParallel itself costs, and how much faster
// processes of one thread are than one. `distributed_training [--ranks N] [--rounds N]`, one JSON
// line a case. Not for libtorch: it includes Taeda's headers.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

#include "models.h"
#include "processes.h"
#include "taeda/distributed/cluster/spawn.h"
#include "taeda/distributed/distributed.h"

namespace {

namespace F = torch::nn::functional;
namespace dist = taeda::distributed;
using bench::median_of;
using bench::seconds_of;
using torch::Tensor;

/// One training step of anything that gives logits.
template <class Model>
std::function<void()> step_of(Model model, const Tensor& x) {
  const Tensor target = torch::randint(0, 10, {x.size(0)}, torch::kLong);
  auto optimizer =
      std::make_shared<torch::optim::Adam>(model->parameters(), torch::optim::AdamOptions(1e-3));
  return [model, x, target, optimizer]() mutable {
    optimizer->zero_grad();
    F::cross_entropy(model(x), target).backward();
    optimizer->step();
  };
}

/// A hook that gives back what it got: exchanging costs nothing.
std::future<Tensor> free_of_charge(int, dist::GradBucket& bucket) {
  std::promise<Tensor> done;
  done.set_value(bucket.buffer());
  return done.get_future();
}

/// Steps of a model alone and in DistributedDataParallel, in turn.
template <class Model>
void overhead(const char* name, const Tensor& x, int rounds) {
  Model plain, wrapped;
  dist::DistributedDataParallel ddp(wrapped.ptr());
  ddp->register_comm_hook(0, free_of_charge);
  const auto alone = step_of(plain, x), through = step_of(ddp, x);
  const int calls = std::max(1, static_cast<int>(0.05 / seconds_of(3, alone)));
  std::vector<double> a, b, ratio;
  for (int round = -1; round < rounds; ++round) {
    const double s = seconds_of(calls, alone), t = seconds_of(calls, through);
    if (round < 0) continue;
    a.push_back(s);
    b.push_back(t);
    ratio.push_back(t / s);
  }
  std::printf("{\"case\": \"overhead/%s\", \"step_us\": %.1f, \"ddp_us\": %.1f, \"ratio\": %.4f}\n",
              name, 1e6 * median_of(a), 1e6 * median_of(b), median_of(ratio));
}

void measure_overhead(int, int rounds) {
  torch::set_num_threads(1);
  dist::init_process_group("gloo");
  overhead<models::Mlp>("mlp_b64", torch::rand({64, 100}), rounds);
  overhead<models::LeNet>("lenet_b64", torch::rand({64, 1, 28, 28}), rounds);
  overhead<models::LeNet>("lenet_b1000", torch::rand({1000, 1, 28, 28}), rounds);
  overhead<models::ResNet18>("resnet18_b32", torch::rand({32, 3, 32, 32}), std::min(rounds, 5));
  dist::destroy_process_group();
}

/// Images a second of all ranks, for the seed's CNN; each rank has a batch of its own. Rank 0 also
/// steps alone while the others wait, and all step without exchanging anything: what the machine
/// allows.
void measure_scaling(int rank, int rounds) {
  torch::set_num_threads(1);
  dist::init_process_group("gloo");
  const int ranks = dist::get_world_size();
  for (const int64_t batch : {64, 256, 1000}) {
    const Tensor x = torch::rand({batch, 1, 28, 28});
    models::LeNet plain, shared;
    dist::DistributedDataParallel ddp(shared.ptr());
    const auto alone = step_of(plain, x), together = step_of(ddp, x);
    const int calls = std::max(2, static_cast<int>(20000 / batch / 4));
    std::vector<double> one, apart, all;
    for (int round = -1; round < rounds; ++round) {
      dist::barrier();
      const double s = rank == 0 ? seconds_of(calls, alone) : 0;
      dist::barrier();
      const double a = seconds_of(calls, alone);
      dist::barrier();
      const double t = seconds_of(calls, together);
      if (round < 0) continue;
      one.push_back(s);
      apart.push_back(a);
      all.push_back(t);
    }
    const double n = static_cast<double>(batch);
    if (rank == 0)
      std::printf(
          "{\"case\": \"scaling/lenet_b%ld\", \"ranks\": %d, \"one_images_s\": %.0f, "
          "\"all_images_s\": %.0f, \"ratio\": %.3f, \"ratio_without_exchange\": %.3f}\n",
          static_cast<long>(batch), ranks, n / median_of(one), n * ranks / median_of(all),
          ranks * median_of(one) / median_of(all), ranks * median_of(one) / median_of(apart));
  }
  dist::destroy_process_group();
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = bench::option(argc, argv, "--rounds", 15);
  dist::spawn(measure_overhead, std::tuple(rounds), 1);
  dist::spawn(measure_scaling, std::tuple(rounds), bench::option(argc, argv, "--ranks", 2));
}
