// The network of examples 6, 7 and 9: two linear layers with a ReLU between them.
#pragma once

#include "../common.h"

namespace seeds {

struct SimpleNetImpl : nn::Cloneable<SimpleNetImpl> {
  SimpleNetImpl(int64_t inputs, int64_t outputs) : inputs(inputs), outputs(outputs) { reset(); }
  void reset() override {
    fc1 = register_module("fc1", nn::Linear(inputs, 50));
    relu = register_module("relu", nn::ReLU());
    fc2 = register_module("fc2", nn::Linear(50, outputs));
  }
  Tensor forward(const Tensor& x) { return fc2(relu(fc1(x))); }

  int64_t inputs, outputs;
  nn::Linear fc1{nullptr}, fc2{nullptr};
  nn::ReLU relu{nullptr};
};
TAEDA_MODULE(SimpleNet);

/// Trains on one random batch, with Adam and cross entropy, and prints the loss of each epoch.
template <class Model>
void train_on_noise(Model& model, Device device, int64_t batch_size, int epochs) {
  nn::CrossEntropyLoss criterion;
  optim::Adam optimizer(model->parameters(), optim::AdamOptions(0.001));
  const Tensor inputs = randn({batch_size, 100}).to(device);
  const Tensor labels = randint(0, 10, {batch_size}).to(device);
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    const Tensor loss = criterion(model(inputs), labels);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::cout << "Epoch [" << epoch << "/" << epochs
              << "], Loss: " << four_decimals(loss.template item<float>()) << "\n";
  }
}

}  // namespace seeds
