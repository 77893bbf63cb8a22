// A library that is written for Taeda.
#include "tests/frontend/two_libraries/said.h"

namespace ours {

using namespace taeda;

struct NetImpl : nn::Module {
  NetImpl() : fc(register_module("fc", nn::Linear(2, 3))) {}
  nn::Linear fc;
};
TAEDA_MODULE(Net);

struct Eight : data::datasets::Dataset<Eight, int64_t> {
  explicit Eight(size_t index) : bad(index) {}
  int64_t get(size_t i) override {
    if (i == bad) throw std::runtime_error("badness");
    return static_cast<int64_t>(i);
  }
  std::optional<size_t> size() const override { return 8; }
  size_t bad;
};

}  // namespace ours

Said written_for_taeda() {
  using namespace ours;
  Said said;
  const Net net;
  said.name = net->name();
  said.text = text_of(net);
  const nn::Sequential layers(nn::Linear(2, 3));
  said.text_of_clone = text_of(*layers->clone());
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(1.0));
  optim::StepLR schedule(optimizer, 3, 0.5);
  said.rates = rates_of(optimizer, schedule);
  manual_seed(7);
  data::DataLoader loader(Eight(99), {.batch_size = 8, .shuffle = true});
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const Tensor& batch : loader) {
      const auto* numbers = batch.data_ptr<int64_t>();
      said.orders.emplace_back(numbers, numbers + batch.numel());
    }
  manual_seed(7);
  nn::Linear(2, 3)->clone();
  said.after_clone = rand({1}).item<double>();
  try {
    data::DataLoader bad(Eight(1));
    for (const Tensor& batch : bad) (void)batch;
  } catch (const std::exception& e) {
    said.error = e.what();
  }
  said.shared = text_of_taedas_layer();
  return said;
}
