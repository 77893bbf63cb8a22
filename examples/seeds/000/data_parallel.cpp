// A linear model wrapped in DataParallel: how it prints, and training on the first --device-ids
// GPUs (1 as in the tutorial).
#include "../common.h"

struct LinearRegressionImpl : taeda::nn::Cloneable<LinearRegressionImpl> {
  LinearRegressionImpl(int64_t input_size, int64_t output_size)
      : input_size(input_size), output_size(output_size) {
    reset();
  }
  void reset() override {
    linear = register_module("linear", taeda::nn::Linear(input_size, output_size));
  }
  taeda::Tensor forward(const taeda::Tensor& x) { return linear(x); }

  int64_t input_size, output_size;
  taeda::nn::Linear linear{nullptr};
};
TAEDA_MODULE(LinearRegression);

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Arguments arguments(argc, argv, {device_option(), {"device-ids", "1"}});
    const Device device = arguments.device();
    LinearRegression linear_regression(2, 5);
    std::cout << linear_regression << "\n";

    nn::DataParallel model(linear_regression, gpus(device, arguments.number("device-ids")));
    std::cout << model << "\n";

    model->to(device);
    const Tensor input = randn({8, 2}).to(device);
    const Tensor target = input.matmul(randn({2, 5}).to(device));
    optim::SGD optimizer(model->parameters(), optim::SGDOptions(0.1));
    nn::MSELoss criterion;
    float first = 0, last = 0;
    for (int step = 0; step < 50; ++step) {
      optimizer.zero_grad();
      const Tensor loss = criterion(model(input), target);
      loss.backward();
      optimizer.step();
      last = loss.item<float>();
      if (step == 0) first = last;
    }
    std::cout << "devices: " << model->devices().size() << "\n";
    std::cout << "loss: " << four_decimals(first) << " -> " << four_decimals(last) << "\n";
  });
}
