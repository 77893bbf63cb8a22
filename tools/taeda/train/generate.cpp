#include "tools/taeda/train/generate.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "taeda/device/generator.h"
#include "taeda/models/gpt.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/tensor/grad_mode.h"
#include "tools/taeda/train/classification.h"

namespace taeda::tool {

namespace {

/// Leaves the k largest scores; of equal ones the first.
std::vector<int64_t> likeliest(const Tensor& scores, int64_t k) {
  const auto* s = scores.data_ptr<float>();
  std::vector<int64_t> out(static_cast<size_t>(scores.numel()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int64_t>(i);
  std::stable_sort(out.begin(), out.end(), [s](int64_t a, int64_t b) { return s[a] > s[b]; });
  out.resize(std::min(out.size(), static_cast<size_t>(k)));
  return out;
}

int64_t draw(const Tensor& scores, const GenerateOptions& options, const Generator& random) {
  if (options.temperature == 0) return likeliest(scores, 1)[0];
  const int64_t k = options.top_k == 0 ? scores.numel() : options.top_k;
  const std::vector<int64_t> choices = likeliest(scores, k);
  std::vector<double> values;
  for (int64_t c : choices) values.push_back(scores.data_ptr<float>()[c] / options.temperature);
  const Tensor likely = tensor(values, kDouble).softmax(0);
  double left = random.uniform();
  size_t next = 0;
  for (; next + 1 < choices.size(); ++next)
    if ((left -= likely.data_ptr<double>()[next]) < 0) break;
  return choices[next];
}

/// Scores of what follows a text that grows by a token from call to call.
class NextScores {
 public:
  NextScores(nn::AnyModule& network, Device device, int64_t context)
      : network_(network), device_(device), context_(context) {
    gpt_ = network.ptr()->as<models::GPT>();
    if (gpt_) cache_ = gpt_->make_cache();
  }
  Tensor operator()(const std::vector<int64_t>& tokens) {
    const auto length = static_cast<int64_t>(tokens.size());
    const int64_t seen = std::min(length, context_);
    // Behind the context each token moves to another position: nothing that was kept is right.
    if (length > context_) cache_.reset();
    const int64_t known = cache_ ? cache_->length() : 0;
    const Tensor input = tensor(std::vector<int64_t>(tokens.end() - (seen - known), tokens.end()))
                             .unsqueeze(0)
                             .to(device_);
    const Tensor scores = cache_ ? gpt_->forward(input, *cache_) : network_.forward(input);
    return scores.select(1, -1).select(0, 0).to(kFloat).cpu().contiguous();
  }

 private:
  nn::AnyModule& network_;
  Device device_;
  int64_t context_;
  models::GPTImpl* gpt_;
  std::optional<models::KeyValueCache> cache_;
};

}  // namespace

void generate_text(nn::AnyModule& network, Device device, const About& about, const Tensor& start,
                   const GenerateOptions& options, const std::function<void(char)>& take) {
  const NoGradGuard no_grad;
  const Generator random(kCPU, options.seed);
  std::vector<int64_t> tokens = to_vector(start);
  NextScores scores(network, device, about.context);
  for (int64_t i = 0; i < options.length; ++i) {
    tokens.push_back(draw(scores(tokens), options, random));
    take(about.vocabulary[static_cast<size_t>(tokens.back())]);
  }
}

}  // namespace taeda::tool
