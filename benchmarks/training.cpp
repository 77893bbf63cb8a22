// Training steps: forward, loss, backward, optimizer.
#include "harness.h"
#include "models.h"

namespace F = torch::nn::functional;
using torch::Tensor;

namespace {

template <class Model>
void classifier(bench::Runner& r, const std::string& name, Model model, const Tensor& x,
                int64_t classes) {
  const std::string inference = "infer/" + name.substr(name.find('/') + 1);
  if (!r.wants(name) && !r.wants(inference)) return;
  const Tensor target = torch::randint(0, classes, {x.size(0)}, torch::kLong);
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(1e-3));
  r.run(name, [&] {
    optimizer.zero_grad();
    F::cross_entropy(model->forward(x), target).backward();
    optimizer.step();
  });
  torch::NoGradGuard guard;
  r.run(inference, [&] { bench::keep(model->forward(x)); });
}

void gpt(bench::Runner& r) {
  if (!r.wants("train/gpt_4x256_b8_t128")) return;
  models::Gpt model(512, 128, 4, 256, 4);
  const Tensor ids = torch::randint(0, 512, {8, 129}, torch::kLong);
  const Tensor x = ids.narrow(1, 0, 128), y = ids.narrow(1, 1, 128).reshape({-1});
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(1e-4));
  r.run("train/gpt_4x256_b8_t128", [&] {
    optimizer.zero_grad();
    F::cross_entropy(model->forward(x).view({-1, 512}), y).backward();
    optimizer.step();
  });
}

/// Sequences of 64 steps; the loss is the mean square of the distance to a target.
void lstm(bench::Runner& r) {
  if (!r.wants("train/lstm_2x256_t64_b32") && !r.wants("infer/lstm_2x256_t64_b32")) return;
  torch::nn::LSTM model(torch::nn::LSTMOptions(256, 256).num_layers(2));
  const Tensor x = torch::rand({64, 32, 256}), target = torch::rand({64, 32, 256});
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(1e-3));
  r.run("train/lstm_2x256_t64_b32", [&] {
    optimizer.zero_grad();
    torch::mse_loss(std::get<0>(model->forward(x)), target).backward();
    optimizer.step();
  });
  torch::NoGradGuard guard;
  r.run("infer/lstm_2x256_t64_b32", [&] { bench::keep(std::get<0>(model->forward(x))); });
}

std::vector<Tensor> small_parameters(int64_t n) {
  std::vector<Tensor> out;
  for (int64_t i = 0; i < n; ++i) {
    out.push_back(torch::ones({10}).requires_grad_());
    out.back().mutable_grad() = torch::ones({10}) * 1e-3;
  }
  return out;
}

void optimizers(bench::Runner& r) {
  torch::optim::SGD sgd(small_parameters(100), torch::optim::SGDOptions(1e-3));
  r.run("optimizer/sgd_100x10", [&] { sgd.step(); });
  torch::optim::SGD momentum(small_parameters(100), torch::optim::SGDOptions(1e-3).momentum(0.9));
  r.run("optimizer/sgd_momentum_100x10", [&] { momentum.step(); });
  torch::optim::Adam adam(small_parameters(100), torch::optim::AdamOptions(1e-3));
  r.run("optimizer/adam_100x10", [&] { adam.step(); });
}

}  // namespace

int main(int argc, char** argv) {
  bench::Runner runner(bench::parse(argc, argv));
  torch::manual_seed(0);
  optimizers(runner);
  classifier(runner, "train/mlp_b64", models::Mlp(), torch::rand({64, 100}), 10);
  classifier(runner, "train/lenet_b64", models::LeNet(), torch::rand({64, 1, 28, 28}), 10);
  classifier(runner, "train/lenet_b1000", models::LeNet(), torch::rand({1000, 1, 28, 28}), 10);
  classifier(runner, "train/smallcnn_b32", models::SmallCnn(), torch::rand({32, 3, 32, 32}), 10);
  classifier(runner, "train/resnet18_32px_b32", models::ResNet18(), torch::rand({32, 3, 32, 32}),
             1000);
  classifier(runner, "train/resnet18_224px_b4", models::ResNet18(), torch::rand({4, 3, 224, 224}),
             1000);
  gpt(runner);
  lstm(runner);
}
