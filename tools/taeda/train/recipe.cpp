#include "tools/taeda/train/recipe.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "taeda/base/nearest.h"
#include "taeda/optim/adafactor.h"
#include "taeda/optim/adagrad.h"
#include "taeda/optim/adam.h"
#include "taeda/optim/adam_family.h"
#include "taeda/optim/adaptive.h"
#include "taeda/optim/lion.h"
#include "taeda/optim/rates.h"
#include "taeda/optim/rmsprop.h"
#include "taeda/optim/sgd.h"
#include "tools/taeda/command.h"
#include "tools/taeda/tensor_file.h"

namespace taeda::tool {

namespace {

using taeda::detail::concat;

constexpr double kMomentum = 0.9;  // of the optimizer "momentum"

template <class Kind, class Options>
std::unique_ptr<optim::Optimizer> make(const TrainOptions& o, const std::vector<Tensor>& parameters,
                                       Options options) {
  if (!std::isnan(o.weight_decay)) options.weight_decay(o.weight_decay);
  if constexpr (requires { options.momentum(kMomentum); })
    if (!std::isnan(o.momentum)) options.momentum(o.momentum);
  return std::make_unique<Kind>(parameters, options);
}

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> out;
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find(", ", at), list.size());
    out.push_back(list.substr(at, end - at));
    at = end + 2;
  }
  return out;
}

void check_choice(const char* flag, const std::string& list, const std::string& got) {
  const std::vector<std::string> names = names_in(list);
  if (std::find(names.begin(), names.end(), got) != names.end()) return;
  const std::string nearest = nearest_name(got, names);
  throw UsageError(concat(flag, " must be one of ", list, ", got ", got,
                          nearest.empty() ? "" : "; did you mean " + nearest + "?"));
}

/// What the rate is multiplied with at a step, without warm-up.
double factor_of(const TrainOptions& o, int64_t step, int64_t warmup, int64_t steps_per_epoch) {
  const int64_t epoch = step / steps_per_epoch, all = o.epochs * steps_per_epoch;
  const double done =
      static_cast<double>(step - warmup) / static_cast<double>(std::max<int64_t>(1, all - warmup));
  const int64_t every = o.step_size > 0 ? o.step_size : std::max<int64_t>(1, (o.epochs + 2) / 3);
  const auto epochs = static_cast<double>(epoch);
  if (o.schedule == "linear") return optim::rates::linear(done, 1, 0, 1);
  if (o.schedule == "cosine") return optim::rates::cosine(std::min(1.0, done), 1);
  if (o.schedule == "step")
    return optim::rates::stepped(epochs, static_cast<double>(every), o.gamma);
  if (o.schedule == "exponential") return optim::rates::stepped(epochs, 1, o.gamma);
  return 1;
}

}  // namespace

void check_recipe(const TrainOptions& o) {
  check_choice("--optimizer", kOptimizers, o.optimizer);
  check_choice("--schedule", kSchedules, o.schedule);
  const bool one_cycle = o.schedule == "one-cycle";
  const auto fits = [](double value, double least, double most) {
    return std::isnan(value) || (value >= least && value <= most);
  };
  check_flag(fits(o.weight_decay, 0, 1e6), "--weight-decay", "0 or more", o.weight_decay);
  check_flag(fits(o.momentum, 0, 1 - 1e-9), "--momentum", "from 0 to less than 1", o.momentum);
  check_flag(std::isnan(o.max_norm) || o.max_norm > 0, "--max-norm", "positive", o.max_norm);
  if (!std::isnan(o.momentum) && o.optimizer != "sgd" && o.optimizer != "momentum" &&
      o.optimizer != "rmsprop")
    throw UsageError("--momentum goes with --optimizer sgd, momentum and rmsprop, not " +
                     o.optimizer);
  const std::string below = concat("less than --epochs (", o.epochs, ")");
  check_flag(fits(o.warmup, 0, static_cast<double>(o.epochs) - 1e-9), "--warmup",
             ("0 or more, and " + below).c_str(), o.warmup);
  check_flag(!one_cycle || o.warmup != 0, "--warmup", "positive with --schedule one-cycle",
             o.warmup);
  check_flag(o.step_size >= 0, "--step-size", "0 or more", o.step_size);
  check_flag(o.gamma > 0 && o.gamma <= 1, "--gamma", "more than 0 and at most 1", o.gamma);
  check_flag(o.early_stopping >= 0, "--early-stopping", "0 or more", o.early_stopping);
}

std::unique_ptr<optim::Optimizer> make_optimizer(const TrainOptions& o,
                                                 const std::vector<Tensor>& p) {
  const std::string& name = o.optimizer;
  const double lr = o.lr;
  if (name == "sgd") return make<optim::SGD>(o, p, optim::SGDOptions(lr));
  if (name == "momentum") return make<optim::SGD>(o, p, optim::SGDOptions(lr).momentum(kMomentum));
  if (name == "adamw") return make<optim::AdamW>(o, p, optim::AdamWOptions(lr));
  if (name == "nadam") return make<optim::NAdam>(o, p, optim::NAdamOptions(lr));
  if (name == "radam") return make<optim::RAdam>(o, p, optim::RAdamOptions(lr));
  if (name == "adamax") return make<optim::Adamax>(o, p, optim::AdamaxOptions(lr));
  if (name == "rmsprop") return make<optim::RMSprop>(o, p, optim::RMSpropOptions(lr));
  if (name == "adagrad") return make<optim::Adagrad>(o, p, optim::AdagradOptions(lr));
  if (name == "adadelta") return make<optim::Adadelta>(o, p, optim::AdadeltaOptions(lr));
  if (name == "adafactor") return make<optim::Adafactor>(o, p, optim::AdafactorOptions(lr));
  if (name == "lion") return make<optim::Lion>(o, p, optim::LionOptions(lr));
  return make<optim::Adam>(o, p, optim::AdamOptions(lr));
}

std::unique_ptr<optim::LRScheduler> make_schedule(const TrainOptions& o,
                                                  optim::Optimizer& optimizer,
                                                  int64_t steps_per_epoch) {
  const bool warm = !std::isnan(o.warmup);
  if (o.schedule == "one-cycle") {
    const double* momentum = optimizer.param_groups()[0].options().momentum_like();
    // An optimizer without momentum shall not get one.
    optim::OneCycleLROptions cycle{.max_lr = o.lr,
                                   .total_steps = o.epochs * steps_per_epoch,
                                   .cycle_momentum = momentum && *momentum > 0};
    if (warm) cycle.pct_start = o.warmup / static_cast<double>(o.epochs);
    return std::make_unique<optim::OneCycleLR>(optimizer, cycle);
  }
  const auto warmup = static_cast<int64_t>(
      warm ? std::llround(o.warmup * static_cast<double>(steps_per_epoch)) : 0);
  return std::make_unique<optim::LambdaLR>(optimizer, [=](int64_t step) {
    if (step < warmup) return static_cast<double>(step + 1) / static_cast<double>(warmup + 1);
    return factor_of(o, step, warmup, steps_per_epoch);
  });
}

namespace {

using State = OrderedDict<std::string, Tensor>;

/// The names in a file as the network may have them: as they are, below "model." in a checkpoint,
/// behind what wrappers put before them, or without it.
struct Renaming {
  std::string without, with;
  std::string operator()(const std::string& name) const {
    return name.starts_with(without) ? with + name.substr(without.size()) : "";
  }
};
const Renaming kRenamings[] = {{"", ""},         {"model.", ""},         {"module.", ""},
                               {"", "network."}, {"model.network.", ""}, {"network.", ""}};

std::string some(const std::vector<std::string>& names) {
  constexpr size_t kShown = 5;
  std::string out;
  for (size_t i = 0; i < std::min(kShown, names.size()); ++i)
    out += (out.empty() ? "" : ", ") + names[i];
  return out + (names.size() > kShown ? concat(" and ", names.size() - kShown, " more") : "");
}

}  // namespace

std::string Pretrained::text() const {
  std::string out = concat(loaded, " of ", all, " tensors");
  if (!missing.empty()) out += "; missing: " + some(missing);
  if (!unexpected.empty()) out += "; not used: " + some(unexpected);
  if (!other_shape.empty()) out += "; of another shape: " + some(other_shape);
  return out;
}

Pretrained load_pretrained(const std::string& path, nn::Module& network) {
  const io::NamedTensors file = read_tensors(path).tensors;
  const State own = network.state_dict();
  const Renaming* best = kRenamings;
  size_t most = 0;
  for (const Renaming& renaming : kRenamings) {
    const auto fits = std::count_if(file.begin(), file.end(), [&](const auto& item) {
      return own.contains(renaming(item.first));
    });
    if (static_cast<size_t>(fits) <= most) continue;
    most = static_cast<size_t>(fits);
    best = &renaming;
  }
  Pretrained out{.all = own.size()};
  State chosen;
  for (const auto& [name, tensor] : file) {
    const std::string key = (*best)(name);
    // The rest of a checkpoint (optimizer, random numbers) is not meant for the network.
    if (key.empty() && most > 0) continue;
    if (!own.contains(key))
      out.unexpected.push_back(name);
    else if (own[key].sizes() != tensor.sizes())
      out.other_shape.push_back(concat(key, " ", tensor.sizes(), " (here ", own[key].sizes(), ")"));
    else
      chosen.insert(key, tensor);
  }
  out.loaded = chosen.size();
  const nn::IncompatibleKeys keys = network.load_state_dict(chosen, /*strict=*/false);
  for (const std::string& name : keys.missing)
    if (std::none_of(out.other_shape.begin(), out.other_shape.end(),
                     [&](const std::string& s) { return s.starts_with(name + " "); }))
      out.missing.push_back(name);
  if (out.loaded == 0)
    throw UsageError("--pretrained " + path + ": nothing in it fits the network: " + out.text());
  return out;
}

}  // namespace taeda::tool
