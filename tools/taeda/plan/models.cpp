#include "tools/taeda/plan/models.h"

#include <cctype>
#include <functional>
#include <sstream>

#include "taeda/amp/autocast.h"
#include "taeda/models/gpt.h"
#include "taeda/models/resnet.h"
#include "taeda/nn/any_module.h"
#include "taeda/ops/create.h"
#include "taeda/ops/loss.h"
#include "taeda/ops/shape.h"
#include "taeda/optim/adam.h"
#include "taeda/optim/sgd.h"
#include "tools/taeda/command.h"
#include "tools/taeda/train/networks.h"

namespace taeda::tool {

namespace {

using distributed::cost::TrainingStep;

constexpr int64_t kClasses = 1000;
constexpr int64_t kWidthOfHead = 64;

bool is_listed(const std::string& name, const std::string& list) {
  std::istringstream in(list);
  for (std::string known; in >> known;)
    if (known == name || known == name + ",") return true;
  return false;
}

/// Networks for the seed's small pictures; others are for ImageNet's.
bool is_small(const std::string& name) { return name == "cnn" || name == "lenet" || name == "mlp"; }

nn::AnyModule make_network(const PlannedModel& m) {
  if (m.name == "resnet50") return models::resnet50();
  if (m.name == "resnet101") return models::resnet101();
  if (m.name == "resnet152") return models::resnet152();
  if (m.name == "gpt")
    return models::GPT(models::GPTOptions{.vocab_size = m.vocabulary,
                                          .block_size = m.context,
                                          .n_layer = m.layers,
                                          .n_head = m.heads,
                                          .n_embd = m.width});
  if (is_small(m.name)) return make_picture_model(m.name, {1, 28, 28}, 10);
  return make_picture_model(m.name, {3, 224, 224}, kClasses);
}

/// Whether a pipeline can be cut before the module of this name: blocks, and what comes after them.
bool is_cut(const PlannedModel& m, const std::string& path) {
  if (m.name == "gpt")
    return path == "transformer.ln_f" ||
           (path.starts_with("transformer.h.") && path.find('.', 14) == std::string::npos);
  if (!m.name.starts_with("resnet")) return false;
  if (path == "avgpool") return true;
  const size_t dot = path.find('.');
  return path.starts_with("layer") && dot != std::string::npos &&
         path.find('.', dot + 1) == std::string::npos;
}

struct Batch {
  Tensor input, target;
};

Batch make_batch(const PlannedModel& m, Device device) {
  const TensorOptions numbers = TensorOptions(kLong).device(device);
  if (m.name == "gpt")
    return {zeros({m.batch, m.context}, numbers), zeros({m.batch * m.context}, numbers)};
  const std::vector<int64_t> sizes = is_small(m.name) ? std::vector<int64_t>{m.batch, 1, 28, 28}
                                                      : std::vector<int64_t>{m.batch, 3, 224, 224};
  return {zeros(sizes, TensorOptions(kFloat).device(device)), zeros({m.batch}, numbers)};
}

}  // namespace

void check_planned_model(PlannedModel& m) {
  check_flag(is_listed(m.name, kPlannedModels), "--model",
             (std::string("one of ") + kPlannedModels).c_str(), m.name);
  check_flag(is_listed(m.dtype, "float32 float16 bfloat16"), "--dtype",
             "one of float32, float16, bfloat16", m.dtype);
  if (m.batch == 0) m.batch = m.name == "gpt" ? 8 : is_small(m.name) ? 100 : 128;
  check_flag(m.batch > 0 && m.batch <= 1 << 20, "--batch", "from 1 to 1048576", m.batch);
  check_flag(m.layers > 0 && m.layers <= 1000, "--layers", "from 1 to 1000", m.layers);
  check_flag(m.context > 0 && m.context <= 1 << 20, "--context", "from 1 to 1048576", m.context);
  check_flag(m.vocabulary > 0 && m.vocabulary <= 1 << 20, "--vocabulary", "from 1 to 1048576",
             m.vocabulary);
  check_flag(m.width > 0 && m.width <= 1 << 16, "--width", "from 1 to 65536", m.width);
  if (m.heads == 0) m.heads = m.width % kWidthOfHead == 0 ? m.width / kWidthOfHead : 1;
  check_flag(m.heads > 0 && m.width % m.heads == 0, "--heads", "a divisor of --width", m.heads);
}

TrainingStep make_planned_step(const PlannedModel& m, Device device) {
  auto network = std::make_shared<nn::AnyModule>(make_network(m));
  (*network)->to(device);
  TrainingStep step{network->ptr(), {}, {}, {}};
  const Batch batch = make_batch(m, device);
  const bool lower = m.dtype != "float32";
  const ScalarType dtype = m.dtype == "float16" ? kHalf : kBFloat16;
  step.loss = [network, batch, device, lower, dtype] {
    const amp::autocast autocast(device, dtype, lower);
    const Tensor scores = network->forward(batch.input);
    return cross_entropy(scores.reshape({-1, scores.size(-1)}), batch.target);
  };
  const std::vector<Tensor> parameters = (*network)->parameters();
  if (m.name == "gpt")
    step.optimizer = std::make_shared<optim::AdamW>(parameters, optim::AdamWOptions(1e-4));
  else
    step.optimizer = std::make_shared<optim::SGD>(parameters, optim::SGDOptions(0.1).momentum(0.9));
  for (const auto& [path, module] : (*network)->named_modules())
    if (is_cut(m, path)) step.cuts.push_back(module);
  return step;
}

}  // namespace taeda::tool
