// A plan: what `taeda plan` was asked for, and what it found for each number of devices.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "taeda/distributed/cost/pipeline.h"
#include "tools/taeda/plan/layers.h"
#include "tools/taeda/plan/models.h"

namespace taeda::tool {

struct PlanOptions {
  PlannedModel model;
  std::string devices = "8xh100", network = "ib400", schedule = "1f1b";
  int64_t pipeline = 1, micro_batches = 0, parts = 1;
  double bucket_mib = 25, utilization = 1;
  bool json = false;
};

/// What a number of devices gives.
struct PlanRow {
  int64_t devices = 0;
  double seconds = 0, samples_per_second = 0, efficiency = 0, exposed = 0, bytes = 0, bubble = 0;
  int64_t memory = 0;
  std::optional<distributed::cost::DataParallelStep> data_parallel;
  std::optional<distributed::cost::PipelineStep> pipeline;
};

/// Larger batches are not looked at.
constexpr int64_t kLargestBatch = 1 << 20;

/// What a batch of another size would do.
struct BatchAdvice {
  int64_t largest = 0;    ///< that fits into a device's memory, of which a part stays free
  int64_t suggested = 0;  ///< the smallest power of 2 with nearly all of its throughput; 0: none
  double samples_per_second = 0;  ///< with the suggested one, on all devices
  double share = 0;               ///< of the highest throughput
};

struct Plan {
  PlanOptions options;
  std::string devices;  ///< "64 h100"
  sim::CostModel device;
  distributed::cost::Network network;
  distributed::cost::MeasuredStep step;  ///< of one device, or of a micro-batch of a pipeline
  std::vector<distributed::cost::Bucket> buckets;
  std::vector<PlanRow> rows;
  std::vector<LayerUse> layers;  ///< those that take most memory first
  BatchAdvice advice;
  double memory = 0;  ///< bytes of the smallest of the devices
};

/// In at most 80 columns.
void print_plan(const Plan& plan);
void print_plan_as_json(const Plan& plan);

}  // namespace taeda::tool
