// A transformer that learns a text by heart, letter by letter (Vaswani et al. 2017).
#include <cstring>
#include <vector>

#include "deterministic.h"

namespace nn = torch::nn;

/// (length, 1, width): sines and cosines of falling frequency.
torch::Tensor positions(int64_t length, int64_t width) {
  const auto at = torch::arange(length, torch::kFloat).unsqueeze(1);
  const auto rate =
      torch::exp(torch::arange(0, width, 2, torch::kFloat) * (-std::log(10000.0) / width));
  torch::Tensor out = torch::zeros({length, width});
  using torch::indexing::None;
  using torch::indexing::Slice;
  out.index_put_({Slice(), Slice(0, None, 2)}, torch::sin(at * rate));
  out.index_put_({Slice(), Slice(1, None, 2)}, torch::cos(at * rate));
  return out.unsqueeze(1);
}

struct LanguageModelImpl : nn::Module {
  LanguageModelImpl(int64_t letters, int64_t width)
      : embed(letters, width),
        encoder(nn::TransformerEncoderOptions(
            nn::TransformerEncoderLayerOptions(width, 2).dim_feedforward(32).dropout(0.0), 2)),
        head(width, letters) {
    register_module("embed", embed);
    register_module("encoder", encoder);
    register_module("head", head);
  }
  torch::Tensor forward(const torch::Tensor& text) {
    const int64_t length = text.size(0), width = embed->options.embedding_dim();
    const torch::Tensor mask = torch::full({length, length}, -1e9).triu(1);
    torch::Tensor x = embed(text) * std::sqrt(static_cast<double>(width));
    x = x + positions(length, width);
    return head(encoder(x, mask));
  }
  nn::Embedding embed;
  nn::TransformerEncoder encoder;
  nn::Linear head;
};
TORCH_MODULE(LanguageModel);

int main() {
  const char* const text = "the quick brown fox jumps over the lazy dog and runs away again";
  std::vector<int64_t> letters;
  for (const char* c = text; *c; ++c) letters.push_back(*c == ' ' ? 26 : *c - 'a');
  const int64_t length = 15, n = static_cast<int64_t>(letters.size());
  std::vector<torch::Tensor> inputs, targets;
  const torch::Tensor all = torch::tensor(letters);
  for (int64_t start = 0; start + length < n; start += 12) {
    inputs.push_back(all.slice(0, start, start + length));
    targets.push_back(all.slice(0, start + 1, start + length + 1));
  }
  const torch::Tensor x = torch::stack(inputs, 1), y = torch::stack(targets, 1);

  LanguageModel model(27, 16);
  fill(*model);
  torch::optim::AdamW optimizer(model->parameters(),
                                torch::optim::AdamWOptions(1e-2).weight_decay(0.01));
  for (int64_t step = 0; step < 10; ++step) {
    optimizer.zero_grad();
    const torch::Tensor logits = model(x);
    torch::Tensor loss = nn::functional::cross_entropy(logits.reshape({-1, 27}), y.reshape(-1));
    loss.backward();
    report("norm", step, nn::utils::clip_grad_norm_(model->parameters(), 1.0));
    optimizer.step();
    report("loss", step, loss);
  }
  torch::NoGradGuard no_grad;
  const torch::Tensor best = std::get<1>(model(x).max(2));
  report("correct", 0, best.eq(y).sum().to(torch::kDouble));
}
