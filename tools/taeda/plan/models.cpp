#include "tools/taeda/plan/models.h"

#include <filesystem>
#include <functional>
#include <sstream>

#include "taeda/amp/autocast.h"
#include "taeda/models/gpt.h"
#include "taeda/models/resnet.h"
#include "taeda/nn/any_module.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/optim/adam.h"
#include "taeda/optim/sgd.h"
#include "tools/taeda/command.h"
#include "tools/taeda/train/networks.h"
#include "tools/taeda/train/recipe.h"

namespace taeda::tool {

namespace {

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
  if (m.run) return m.run->about.make_network();
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
  if (m.run) return false;
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

Batch make_batch(const PlannedModel& m, int64_t n, Device device) {
  const TensorOptions numbers = TensorOptions(kLong).device(device),
                      floats = TensorOptions(kFloat).device(device);
  const auto texts = [&](int64_t context) {
    return Batch{zeros({n, context}, numbers), zeros({n * context}, numbers)};
  };
  const auto pictures = [&](int64_t channels, int64_t height, int64_t width) {
    return Batch{zeros({n, channels, height, width}, floats), zeros({n}, numbers)};
  };
  if (m.run) {
    const About& a = m.run->about;
    if (a.task == "text") return texts(a.context);
    if (a.task != "csv") return pictures(a.shape.channels, a.shape.height, a.shape.width);
    return {zeros({n, a.inputs()}, floats), zeros({n}, a.classes.empty() ? floats : numbers)};
  }
  if (m.name == "gpt") return texts(m.context);
  return is_small(m.name) ? pictures(1, 28, 28) : pictures(3, 224, 224);
}

Tensor loss_of(const PlannedModel& m, const Tensor& scores, const Tensor& target) {
  if (m.run && m.run->about.task == "csv" && m.run->about.classes.empty())
    return mse_loss(scores.squeeze(1), target);
  return cross_entropy(scores.reshape({-1, scores.size(-1)}), target);
}

std::shared_ptr<optim::Optimizer> optimizer_of(const PlannedModel& m,
                                               const std::vector<Tensor>& parameters) {
  if (m.run) return make_optimizer(options_of_run(*m.run), parameters);
  if (m.name == "gpt") return std::make_shared<optim::AdamW>(parameters, optim::AdamWOptions(1e-4));
  return std::make_shared<optim::SGD>(parameters, optim::SGDOptions(0.1).momentum(0.9));
}

}  // namespace

void check_planned_model(PlannedModel& m) {
  const bool known = is_listed(m.name, kPlannedModels);
  if (!known && std::filesystem::exists(m.name)) m.run = open_trained({.run = m.name}, kCPU);
  check_flag(known || m.run, "--model", (std::string("a run, or one of ") + kPlannedModels).c_str(),
             m.name);
  if (m.run && m.batch == 0) m.batch = options_of_run(*m.run).batch_size;
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

PlannedStep make_planned_step(const PlannedModel& m, Device device) {
  auto network = std::make_shared<nn::AnyModule>(make_network(m));
  (*network)->to(device);
  auto batch = std::make_shared<Batch>(make_batch(m, m.batch, device));
  PlannedStep out{{network->ptr(), {}, {}, {}}, {}};
  const bool lower = m.dtype != "float32";
  const ScalarType dtype = m.dtype == "float16" ? kHalf : kBFloat16;
  out.step.loss = [m, network, batch, device, lower, dtype] {
    const amp::autocast autocast(device, dtype, lower);
    return loss_of(m, network->forward(batch->input), batch->target);
  };
  out.set_batch = [m, batch, device](int64_t n) {
    *batch = {};
    *batch = make_batch(m, n, device);
  };
  out.step.optimizer = optimizer_of(m, (*network)->parameters());
  for (const auto& [path, module] : (*network)->named_modules())
    if (is_cut(m, path)) out.step.cuts.push_back(module);
  return out;
}

}  // namespace taeda::tool
