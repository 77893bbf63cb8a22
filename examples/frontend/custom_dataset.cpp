// A dataset of one's own, transforms, and a loader with workers, for a small classifier.
#include "deterministic.h"

/// Points on three spirals, the number of the spiral as the label.
class Spirals : public torch::data::datasets::Dataset<Spirals> {
 public:
  torch::data::Example<> get(size_t index) override {
    const auto spiral = static_cast<int64_t>(index % 3);
    const double t = 0.2 + static_cast<double>(index / 3) / 40.0;
    const double angle = 4 * t + 2.1 * static_cast<double>(spiral);
    return {
        torch::tensor({t * std::cos(angle), t * std::sin(angle)}).to(torch::kFloat).view({2, 1, 1}),
        torch::tensor(spiral)};
  }
  torch::optional<size_t> size() const override { return 120; }
};

struct Net : torch::nn::Module {
  Net() {
    register_module("hidden", hidden);
    register_module("out", out);
  }
  torch::Tensor forward(torch::Tensor x) { return out(torch::relu(hidden(x.flatten(1)))); }
  torch::nn::Linear hidden{2, 16}, out{16, 3};
};

int main() {
  auto dataset = Spirals()
                     .map(torch::data::transforms::Normalize<>({0.1, -0.1}, {0.5, 0.5}))
                     .map(torch::data::transforms::Stack<>());
  const size_t examples = dataset.size().value();
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      std::move(dataset), torch::data::DataLoaderOptions().batch_size(32).workers(2));

  Net net;
  fill(net);
  torch::optim::SGD optimizer(net.parameters(), torch::optim::SGDOptions(0.2).momentum(0.9));
  for (int64_t epoch = 0; epoch < 5; ++epoch) {
    double total = 0;
    int64_t correct = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      const torch::Tensor scores = net.forward(batch.data);
      torch::Tensor loss = torch::nn::functional::cross_entropy(scores, batch.target);
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * static_cast<double>(batch.data.size(0));
      correct += scores.argmax(1).eq(batch.target).sum().item<int64_t>();
    }
    report("loss", epoch, total / static_cast<double>(examples));
    report("correct", epoch, static_cast<double>(correct));
  }
}
