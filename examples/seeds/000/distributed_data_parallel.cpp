// DistributedDataParallel with addresses from the environment, as a launcher sets them; here the
// program starts its processes itself.
#include <taeda/distributed/distributed.h>

#include "../common.h"

namespace {

using namespace seeds;

struct LinearRegressionImpl : nn::Cloneable<LinearRegressionImpl> {
  LinearRegressionImpl(int64_t input_size, int64_t output_size)
      : input_size(input_size), output_size(output_size) {
    reset();
  }
  void reset() override { linear = register_module("linear", nn::Linear(input_size, output_size)); }
  Tensor forward(const Tensor& x) { return linear(x); }

  int64_t input_size, output_size;
  nn::Linear linear{nullptr};
};
TAEDA_MODULE(LinearRegression);

void train(int rank) {
  manual_seed(0);
  LinearRegression linear(2, 5);
  distributed::init_process_group("nccl");
  nn::parallel::DistributedDataParallelCPU model(linear);

  optim::SGD optimizer(model->parameters(), 0.1);
  manual_seed(static_cast<uint64_t>(rank));
  const Tensor x = randn({16, 2});
  const Tensor y = x.sum(1, true).expand({16, 5});
  double first = 0, last = 0;
  for (int step = 0; step < 50; ++step) {
    optimizer.zero_grad();
    const Tensor loss = mse_loss(model(x), y);
    loss.backward();
    optimizer.step();
    (step == 0 ? first : last) = loss.item<double>();
  }
  // Every rank has the same parameters, though each saw data of its own.
  const Tensor weight = linear->linear->weight.detach();
  const Tensor all = zeros({distributed::get_world_size(), 5, 2});
  distributed::all_gather_into_tensor(all, weight);
  if (rank == 0) {
    std::cout << model << "\n";
    std::cout << "processes: " << distributed::get_world_size() << "\n";
    std::cout << "same on all: " << std::boolalpha << all.select(0, 0).equal(all.select(0, 1))
              << "\ntrained: " << (last < 0.1 * first) << "\n";
  }
  distributed::destroy_process_group();
}

}  // namespace

int main() {
  return seeds::run([] { distributed::spawn(train, 2); });
}
