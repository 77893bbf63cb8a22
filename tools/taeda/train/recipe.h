// How weights change: optimizers and schedules by name, and weights to start from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "taeda/nn/module.h"
#include "taeda/optim/lr_scheduler.h"
#include "tools/taeda/train/options.h"

namespace taeda::tool {

constexpr const char* kOptimizers =
    "adam, adamw, sgd, momentum, nadam, radam, adamax, rmsprop, adagrad, adadelta, adafactor, lion";
constexpr const char* kSchedules = "one-cycle, constant, cosine, linear, step, exponential";

/// Throws UsageError for names that there are not, and numbers that do not go with them.
void check_recipe(const TrainOptions& options);
std::unique_ptr<optim::Optimizer> make_optimizer(const TrainOptions& options,
                                                 const std::vector<Tensor>& parameters);
/// Sets the rate of each step; an epoch has as many as given.
std::unique_ptr<optim::LRScheduler> make_schedule(const TrainOptions& options,
                                                  optim::Optimizer& optimizer,
                                                  int64_t steps_per_epoch);

/// What became of the weights in a file.
struct Pretrained {
  size_t loaded = 0, all = 0;  ///< tensors of the network
  /// Names that the file lacks, that the network lacks, and of tensors of other shapes, with both.
  std::vector<std::string> missing = {}, unexpected = {}, other_shape = {};
  /// "120 of 122 tensors; missing: ...".
  std::string text() const;
};
/// Gives the network what fits of a file that convert and inspect read; a checkpoint's model, or
/// names that all start with "module.", are found, too. Throws UsageError when nothing fits.
Pretrained load_pretrained(const std::string& path, nn::Module& network);

}  // namespace taeda::tool
