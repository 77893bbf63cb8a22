// A library that is written for libtorch.
#include <torch/torch.h>

#include "tests/frontend/two_libraries/said.h"

namespace theirs {

struct NetImpl : torch::nn::Module {
  NetImpl() : fc(register_module("fc", torch::nn::Linear(2, 3))) {}
  torch::nn::Linear fc;
};
TORCH_MODULE(Net);

struct Eight : torch::data::datasets::Dataset<Eight, int64_t> {
  explicit Eight(size_t index) : bad(index) {}
  int64_t get(size_t i) override {
    if (i == bad) throw std::runtime_error("badness");
    return static_cast<int64_t>(i);
  }
  torch::optional<size_t> size() const override { return 8; }
  size_t bad;
};

}  // namespace theirs

Said written_for_libtorch() {
  using namespace theirs;
  Said said;
  const Net net;
  said.name = net->name();
  said.text = text_of(net);
  const torch::nn::Sequential layers(torch::nn::Linear(2, 3));
  said.text_of_clone = text_of(*layers->clone());
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(1.0));
  torch::optim::StepLR schedule(optimizer, 3, 0.5);
  said.rates = rates_of(optimizer, schedule);
  torch::manual_seed(7);
  auto loader =
      torch::data::make_data_loader(Eight(99), torch::data::DataLoaderOptions().batch_size(8));
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const auto& batch : *loader) said.orders.push_back(batch);
  torch::manual_seed(7);
  torch::nn::Linear(2, 3)->clone();
  said.after_clone = torch::rand({1}).item<double>();
  try {
    auto bad = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Eight(1));
    for (const auto& batch : *bad) (void)batch;
  } catch (const std::exception& e) {
    said.error = e.what();
  }
  said.shared = text_of_taedas_layer();
  return said;
}
