// What `taeda plan` can plan: networks by name, on a simulated device.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "taeda/distributed/cost/measured_step.h"
#include "tools/taeda/use/trained.h"

namespace taeda::tool {

struct PlannedModel {
  std::string name = "resnet50";
  std::string dtype = "float32";    ///< or "float16", "bfloat16": autocast
  int64_t batch = 0;                ///< samples per device and micro-batch; 0: a usual one
  std::optional<Trained> run = {};  ///< where the name is a run's
  // Of "gpt".
  int64_t layers = 12, width = 768, heads = 0, context = 1024, vocabulary = 50257;
};

/// Names, comma-separated.
constexpr const char* kPlannedModels =
    "cnn, lenet, mlp, resnet18, vgg, mobilenet_v2, resnet50, resnet101, resnet152, gpt";

/// Throws UsageError for a name, dtype or size that cannot be.
void check_planned_model(PlannedModel& model);

struct PlannedStep {
  distributed::cost::TrainingStep step;
  std::function<void(int64_t)> set_batch;  ///< samples of the next calls of `step.loss`
};
/// The network on `device`, with a batch, and the optimizer of its run or the one that it is
/// usually trained with: SGD with momentum, or AdamW for text.
PlannedStep make_planned_step(const PlannedModel& model, Device device);

}  // namespace taeda::tool
