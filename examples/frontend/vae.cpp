// A variational autoencoder of small patterns (Kingma and Welling 2014).
#include "deterministic.h"

struct VAEImpl : torch::nn::Module {
  VAEImpl()
      : encode(register_module("encode", torch::nn::Linear(64, 32))),
        mean(register_module("mean", torch::nn::Linear(32, 4))),
        log_variance(register_module("log_variance", torch::nn::Linear(32, 4))),
        decode(register_module("decode", torch::nn::Linear(4, 32))),
        out(register_module("out", torch::nn::Linear(32, 64))) {}

  struct Output {
    torch::Tensor reconstruction, mean, log_variance;
  };
  Output forward(const torch::Tensor& x) {
    const torch::Tensor h = torch::relu(encode(x));
    Output o{{}, mean(h), log_variance(h)};
    torch::Tensor z = o.mean;
    if (is_training()) z = z + torch::randn_like(z) * (0.5 * o.log_variance).exp();
    o.reconstruction = torch::sigmoid(out(torch::relu(decode(z))));
    return o;
  }
  torch::nn::Linear encode, mean, log_variance, decode, out;
};
TORCH_MODULE(VAE);

torch::Tensor loss_of(const VAEImpl::Output& o, const torch::Tensor& x) {
  const torch::Tensor missed = torch::nn::functional::binary_cross_entropy(
      o.reconstruction, x,
      torch::nn::functional::BinaryCrossEntropyFuncOptions().reduction(torch::kSum));
  const torch::Tensor divergence =
      -0.5 * torch::sum(1 + o.log_variance - o.mean.pow(2) - o.log_variance.exp());
  return (missed + divergence) / x.size(0);
}

int main() {
  torch::manual_seed(2);
  VAE model;
  fill(*model);
  const torch::Tensor images = (waves({40, 64}) > 0).to(torch::kFloat) * 0.8 + 0.1;
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(1e-2));
  for (int64_t step = 0; step < 8; ++step) {
    model->zero_grad();
    torch::Tensor loss = loss_of(model->forward(images), images);
    loss.backward();
    optimizer.step();
    report("loss", step, loss);
  }
  model->eval();
  torch::NoGradGuard no_grad;
  report("test", 0, loss_of(model->forward(images), images));
}
