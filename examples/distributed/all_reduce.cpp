// Processes that add their gradients, and find out what a rank that calls something else called.
//
//     all_reduce FILE RANK WORLD_SIZE [--mistake]
//
// Start it once for each rank, with a FILE that does not exist yet: there they meet.

#include <taeda/distributed/distributed.h>
#include <taeda/taeda.h>

#include <cstdlib>
#include <iostream>
#include <string>

namespace dist = taeda::distributed;

namespace {

/// Every rank's share of one model's gradient; the average is the same on all of them, bit for bit.
void train_a_little(int rank) {
  taeda::manual_seed(0);
  taeda::nn::Linear model(4, 2);
  taeda::mse_loss(model(taeda::full({8, 4}, rank + 1.0)), taeda::zeros({8, 2})).backward();
  std::vector<dist::WorkPtr> works;
  for (const taeda::Tensor& p : model->parameters())
    works.push_back(dist::all_reduce(p.grad(), dist::ReduceOp::AVG, {}, /*async_op=*/true));
  for (const auto& work : works) work->wait();
  std::cout << "rank " << rank << ": sum of averaged gradients "
            << model->weight.grad().sum().item<float>() << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: all_reduce FILE RANK WORLD_SIZE [--mistake]\n";
    return 2;
  }
  const int rank = std::atoi(argv[2]), size = std::atoi(argv[3]);
  try {
    dist::init_process_group("gloo", {.world_size = size,
                                      .rank = rank,
                                      .store = std::make_shared<dist::FileStore>(argv[1], size)});
    train_a_little(rank);
    if (argc > 4 && rank == 0)
      dist::broadcast(taeda::ones({3}), 0);
    else
      dist::all_reduce(taeda::ones({3}));
    dist::barrier();
    dist::destroy_process_group();
    std::cout << "rank " << rank << ": done" << std::endl;
  } catch (const taeda::Error& e) {
    std::cout << "error: " << e.what() << std::endl;
    return 1;
  }
  return 0;
}
