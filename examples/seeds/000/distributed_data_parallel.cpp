// DistributedDataParallel with addresses from the environment, as a launcher sets them; here the
// program starts its processes itself. Without --device on the CPU, as the tutorial's wrapper says.
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

void train(int rank, const std::string& device_name) {
  const Device device = device_of_rank(Device(device_name), rank);
  manual_seed(0);
  LinearRegression linear(2, 5);
  linear->to(device);
  distributed::init_process_group(device.is_cuda() ? "nccl" : "gloo");
  nn::parallel::DistributedDataParallelCPU model(linear);

  optim::SGD optimizer(model->parameters(), 0.1);
  manual_seed(static_cast<uint64_t>(rank));
  const Tensor x = randn({16, 2}).to(device);
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
  const Tensor all = zeros({distributed::get_world_size(), 5, 2}, device);
  distributed::all_gather_into_tensor(all, weight);
  if (rank == 0) {
    std::cout << model << "\n";
    std::cout << "processes: " << distributed::get_world_size() << "\n";
    std::cout << "same on all: " << std::boolalpha << all.select(0, 0).equal(all.select(0, 1))
              << "\nloss: " << four_decimals(first) << " -> " << four_decimals(last) << " on "
              << device << "\n";
  }
  distributed::destroy_process_group();
}

}  // namespace

int main(int argc, char** argv) {
  return seeds::run([&] {
    const Arguments arguments(argc, argv, {{"device", "cpu"}});
    distributed::spawn(train, std::tuple(arguments["device"]), 2);
  });
}
