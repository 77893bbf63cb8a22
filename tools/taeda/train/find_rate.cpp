#include "tools/taeda/train/find_rate.h"

#include <cmath>
#include <cstdio>
#include <vector>

#include "taeda/amp/autocast.h"
#include "taeda/device/generator.h"
#include "taeda/io/interrupt.h"
#include "taeda/log/chart.h"
#include "taeda/log/terminal.h"
#include "taeda/training/rate_finder.h"
#include "tools/taeda/command.h"
#include "tools/taeda/json.h"
#include "tools/taeda/train/recipe.h"

namespace taeda::tool {

namespace {

/// The run's batches, one after the other, epoch after epoch.
class Batches {
 public:
  Batches(const TrainOptions& options, const Task& task)
      : loader_(task.train_loader({.batch_size = static_cast<size_t>(options.batch_size),
                                   .shuffle = true,
                                   .num_workers = static_cast<int>(options.workers),
                                   .seed = static_cast<uint64_t>(options.seed)})),
        at_(loader_.begin()) {}
  data::Example<> next() {
    if (at_ == loader_.end()) at_ = loader_.begin();
    data::Example<> out = *at_;
    ++at_;
    return out;
  }

 private:
  Loader loader_;
  decltype(std::declval<Loader&>().begin()) at_;
};

training::RateTrial try_rates(const TrainOptions& options, Device device, const Task& task) {
  nn::AnyModule network = user_input([&] {
    nn::AnyModule made = task.about.make_network();
    made->to(device);
    if (!options.pretrained.empty()) load_pretrained(options.pretrained, *made);
    return made;
  });
  const auto optimizer = make_optimizer(options, network->parameters());
  Batches batches(options, task);
  const io::InterruptGuard interrupts;
  return training::find_rate(*network.ptr(), *optimizer, [&]() -> Tensor {
    if (io::InterruptGuard::requested()) return {};
    const data::Example<> batch = batches.next();
    // Gradients of float16 would need a scaler.
    const amp::autocast autocast(device, {}, options.amp && device.is_cpu());
    return task.loss(network.forward(batch.data.to(device)), batch.target.to(device));
  });
}

}  // namespace

int find_rate(const TrainOptions& options, Device device, const Task& task) {
  manual_seed(static_cast<uint64_t>(options.seed));
  const training::RateTrial trial = try_rates(options, device, task);
  if (!trial.suggestion)
    throw Error("--find-lr: the loss falls at no rate" +
                std::string(trial.losses.size() < 3 ? " (too few steps)" : ""));
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", *trial.suggestion);
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
  std::printf("%s%s\nthe loss falls fastest at %s: --lr %s\n", paragraph(task.title).c_str(),
              chart.text(logging::terminal_width(stdout), kRows).c_str(), text, text);
  return 0;
}

}  // namespace taeda::tool
