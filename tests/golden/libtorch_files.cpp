// Writes the files of tests/io/data that libtorch's torch::save makes, into the current folder.
// Build against libtorch 1.13:
//   g++ -std=c++17 -I/usr/include/torch/csrc/api/include libtorch_files.cpp -ltorch -ltorch_cpu
//   -lc10
#include <torch/script.h>
#include <torch/torch.h>

#include <fstream>

struct Net : torch::nn::Module {
  Net() {
    fc = register_module("fc", torch::nn::Linear(3, 2));
    bn = register_module("bn", torch::nn::BatchNorm1d(2));
    scale = register_parameter("scale", torch::full({2}, 0.5));
    count = register_buffer("count", torch::arange(4));
  }
  torch::nn::Linear fc{nullptr};
  torch::nn::BatchNorm1d bn{nullptr};
  torch::Tensor scale, count;
};

int main() {
  torch::NoGradGuard no_grad;
  const auto net = std::make_shared<Net>();
  int k = 0;
  for (auto& p : net->parameters()) p.copy_(torch::arange(p.numel()).reshape(p.sizes()) + 10 * k++);
  torch::save(net, "libtorch_module.pt");
  torch::save(torch::arange(6).reshape({2, 3}).to(torch::kFloat), "libtorch_tensor.pt");
  const std::vector<torch::Tensor> two = {torch::ones(2), torch::arange(3)};
  torch::save(two, "libtorch_tensors.pt");
  const auto bytes = torch::pickle_save(torch::IValue(two));
  std::ofstream("libtorch_pickle.pt", std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}
