#include "tools/taeda/train/find_rate.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "taeda/amp/autocast.h"
#include "taeda/device/generator.h"
#include "taeda/io/interrupt.h"
#include "taeda/log/chart.h"
#include "taeda/log/terminal.h"
#include "tools/taeda/command.h"
#include "tools/taeda/train/recipe.h"

namespace taeda::tool {

namespace {

constexpr double kLowest = 1e-7, kHighest = 10;
constexpr int64_t kSteps = 200;
constexpr double kSmoothing = 0.9;  // how much of the mean stays from step to step
constexpr double kDiverged = 4;     // times the lowest loss

struct Trial {
  std::vector<double> rates, losses;  ///< losses smoothed
};

class Trials {
 public:
  Trials(const TrainOptions& options, Device device, const Task& task)
      : options_(options), device_(device), task_(task), network_(task.about.make_network()) {
    network_->to(device);
    if (!options.pretrained.empty()) load_pretrained(options.pretrained, *network_);
    optimizer_ = make_optimizer(options, network_->parameters());
  }

  Trial run() {
    Loader loader = task_.train_loader({.batch_size = static_cast<size_t>(options_.batch_size),
                                        .shuffle = true,
                                        .num_workers = static_cast<int>(options_.workers),
                                        .seed = static_cast<uint64_t>(options_.seed)});
    const io::InterruptGuard interrupts;
    Trial out;
    while (true)
      for (auto& batch : loader) {
        if (io::InterruptGuard::requested()) return out;
        const auto n = static_cast<double>(out.rates.size());
        const double rate =
            kLowest * std::pow(kHighest / kLowest, n / static_cast<double>(kSteps - 1));
        if (!add(out, rate, step(batch, rate)) || out.rates.size() == kSteps) return out;
      }
  }

 private:
  double step(const data::Example<>& batch, double rate) {
    for (optim::OptimizerParamGroup& group : optimizer_->param_groups()) group.set_lr(rate);
    Tensor loss;
    {
      // Gradients of float16 would need a scaler.
      const amp::autocast autocast(device_, {}, options_.amp && device_.is_cpu());
      loss = task_.loss(network_.forward(batch.data.to(device_)), batch.target.to(device_));
    }
    optimizer_->zero_grad();
    loss.backward();
    optimizer_->step();
    return loss.item<double>();
  }

  /// Whether there is more to see.
  bool add(Trial& out, double rate, double loss) {
    mean_ = kSmoothing * mean_ + (1 - kSmoothing) * loss;
    const double smooth =
        mean_ / (1 - std::pow(kSmoothing, static_cast<double>(out.losses.size() + 1)));
    if (!std::isfinite(smooth)) return false;
    lowest_ = out.losses.empty() ? smooth : std::min(lowest_, smooth);
    out.rates.push_back(rate);
    out.losses.push_back(smooth);
    return smooth <= kDiverged * lowest_;
  }

  const TrainOptions& options_;
  const Device device_;
  const Task& task_;
  nn::AnyModule network_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  double mean_ = 0, lowest_ = 0;
};

/// Where the loss falls fastest over the logarithm of the rate, before its lowest point.
size_t steepest(const Trial& t) {
  const auto lowest = std::min_element(t.losses.begin(), t.losses.end()) - t.losses.begin();
  size_t best = 0;
  double fall = 0;
  for (size_t i = 1; i + 1 <= static_cast<size_t>(lowest); ++i) {
    const double here = t.losses[i - 1] - t.losses[i + 1];
    if (here <= fall) continue;
    fall = here;
    best = i;
  }
  return best;
}

/// Two digits are all that such a curve can tell.
double rounded(double rate) {
  const double unit = std::pow(10, std::floor(std::log10(rate)) - 1);
  return std::round(rate / unit) * unit;
}

}  // namespace

int find_rate(const TrainOptions& options, Device device, const Task& task) {
  manual_seed(static_cast<uint64_t>(options.seed));
  const Trial trial = user_input([&] { return Trials(options, device, task); }).run();
  const size_t at = trial.losses.size() < 3 ? 0 : steepest(trial);
  if (at == 0)
    throw Error("--find-lr: the loss falls at no rate" +
                std::string(trial.losses.size() < 3 ? " (too few steps)" : ""));
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", rounded(trial.rates[at]));
  if (options.json) {
    print_json({{"rates", trial.rates}, {"losses", trial.losses}, {"suggestion", std::stod(text)}});
    return 0;
  }
  logging::Curve curve{"loss, smoothed", {}, trial.losses};
  for (const double rate : trial.rates) curve.x.push_back(std::log10(rate));
  const logging::Chart chart{.title = "loss over rates",
                             .curves = {curve},
                             .x_label = "learning rate, as a power of 10",
                             .y_label = "loss"};
  constexpr size_t kRows = 16;
  std::printf("%s\n%s\nthe loss falls fastest at %s: --lr %s\n", task.title.c_str(),
              chart.text(logging::terminal_width(stdout), kRows).c_str(), text, text);
  return 0;
}

}  // namespace taeda::tool
