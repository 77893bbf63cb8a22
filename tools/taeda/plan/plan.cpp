// `taeda plan`: what a training step would take on a cluster that need not be there.
#include "tools/taeda/plan/plan.h"

#include <algorithm>
#include <cstdlib>

#include "taeda/device/generator.h"
#include "taeda/device/sim.h"
#include "tools/taeda/command.h"

namespace taeda::tool {

namespace {

namespace cost = distributed::cost;

constexpr int64_t kMostDevices = int64_t{1} << 20;

/// "64xh100".
struct DeviceList {
  int64_t count;
  sim::CostModel model;
};

DeviceList parse_devices(const std::string& text) {
  char* end = nullptr;
  const long long count = std::strtoll(text.c_str(), &end, 10);
  check_flag(end != text.c_str() && *end == 'x' && count > 0 && count <= kMostDevices, "--devices",
             "a number and a device, such as 64xh100", text);
  return {count, sim::cost_model(end + 1)};
}

/// The model with rates that are a share of the data sheet's.
sim::CostModel scaled(sim::CostModel m, double share) {
  m.memory_bandwidth *= share;
  m.float64 *= share;
  m.float32 *= share;
  m.half *= share;
  return m;
}

void check_options(PlanOptions& o) {
  check_planned_model(o.model);
  check_flag(o.pipeline > 0 && o.pipeline <= 1024, "--pipeline", "from 1 to 1024", o.pipeline);
  check_flag(o.parts > 0 && o.parts <= 64, "--parts", "from 1 to 64", o.parts);
  check_flag(o.micro_batches >= 0 && o.micro_batches <= 1 << 16, "--microbatches",
             "from 1 to 65536", o.micro_batches);
  check_flag(o.bucket_mib > 0, "--bucket-mib", "above 0", o.bucket_mib);
  check_flag(o.utilization > 0 && o.utilization <= 1, "--utilization", "above 0 and at most 1",
             o.utilization);
  if (o.schedule == "interleaved" && o.parts == 1) o.parts = 2;
  check_flag(o.parts == 1 || o.schedule == "interleaved", "--parts",
             "1 unless --schedule is interleaved", o.parts);
  if (o.micro_batches == 0) o.micro_batches = o.pipeline == 1 ? 1 : 4 * o.pipeline;
  check_flag(o.pipeline > 1 || o.micro_batches == 1, "--microbatches", "1 without --pipeline",
             o.micro_batches);
}

/// The memory of all devices that share the model; more than a host can make models for is not
/// needed, and addresses are not endless.
size_t memory_of_pipeline(const PlanOptions& o, const sim::CostModel& device) {
  return static_cast<size_t>(std::min(device.memory * static_cast<double>(o.pipeline), 0x1p40));
}

/// A step of the whole model on one simulated device. Nothing is computed.
cost::MeasuredStep measure(const PlanOptions& o, const sim::CostModel& device) {
  const size_t memory = memory_of_pipeline(o, device);
  sim::configure(1, {.memory = memory, .cost = scaled(device, o.utilization), .compute = false});
  try {
    return cost::measure_step(make_planned_step(o.model, Device("sim:0")), Device("sim:0"));
  } catch (const OutOfMemoryError&) {
    throw UsageError(taeda::detail::concat(
        o.model.name, " with --batch ", o.model.batch, " does not fit into the memory of ",
        o.pipeline, " ", device.name, " (", bytes_text(device.memory),
        " each): take a smaller "
        "--batch",
        o.model.name == "gpt" ? ", or more devices as --pipeline" : ""));
  }
}

cost::PipelineOptions pipeline_options(const PlanOptions& o, const nn::parallel::BucketLimits& l) {
  return {o.pipeline, o.micro_batches, cost::schedule_of_name(o.schedule), o.parts, l};
}

PlanRow plan_row(const Plan& plan, int64_t devices, const nn::parallel::BucketLimits& limits) {
  const PlanOptions& o = plan.options;
  PlanRow row;
  row.devices = devices;
  const auto replicas = static_cast<double>(devices / o.pipeline);
  const auto samples = static_cast<double>(o.model.batch * o.micro_batches) * replicas;
  if (o.pipeline == 1) {
    auto s = cost::data_parallel_step(plan.step, devices, plan.network, limits);
    row.seconds = s.seconds;
    row.efficiency = plan.step.end / s.seconds;
    row.exposed = s.exposed;
    row.bytes = s.bytes;
    row.memory = s.memory;
    row.data_parallel = std::move(s);
  } else {
    const auto s =
        cost::pipeline_step(plan.step, devices, plan.network, pipeline_options(o, limits));
    row.seconds = s.seconds;
    row.efficiency = s.one_device / (s.seconds * static_cast<double>(o.pipeline));
    row.exposed = s.exposed;
    row.bytes = s.bytes;
    row.bubble = s.bubble;
    row.memory = s.memory;
    row.pipeline = s;
  }
  row.samples_per_second = samples / row.seconds;
  return row;
}

int run_plan(PlanOptions o) {
  check_options(o);
  Plan plan;
  const DeviceList devices = user_input([&] { return parse_devices(o.devices); });
  check_flag(devices.count % o.pipeline == 0, "--devices", "a multiple of --pipeline",
             devices.count);
  plan.options = o;
  plan.device = devices.model;
  plan.network = user_input([&] { return cost::network(o.network, devices.model); });
  user_input([&] { return pipeline_options(o, nn::parallel::kGradientLimits); });
  plan.step = measure(o, devices.model);
  nn::parallel::BucketLimits limits = nn::parallel::kGradientLimits;
  limits.others = static_cast<int64_t>(o.bucket_mib * 0x1p20);
  plan.buckets = cost::make_gradient_buckets(plan.step.gradients, limits);
  for (int64_t n = o.pipeline; n < devices.count; n *= 2)
    plan.rows.push_back(user_input([&] { return plan_row(plan, n, limits); }));
  plan.rows.push_back(user_input([&] { return plan_row(plan, devices.count, limits); }));
  if (o.json)
    print_plan_as_json(plan);
  else
    print_plan(plan);
  return 0;
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  CLI::App* c = add_command(
      app, "plan", "Predict the step of a model on many devices",
      {"taeda plan --model resnet50 --devices 64xh100 --network ib400 --batch 256",
       "taeda plan --model gpt --dtype bfloat16 --devices 1024xh100 --json",
       "taeda plan --model gpt --layers 48 --width 1600 --devices 32xa100 --network ib200 "
       "--pipeline 4 --microbatches 16 --schedule interleaved",
       "taeda plan --devices 16xv100 --network latency=30us,bandwidth=1.25GB/s,adapters=1"});
  auto o = std::make_shared<PlanOptions>();
  add_option(*c, "--model", o->model.name, std::string("One of ") + kPlannedModels);
  add_option(*c, "--dtype", o->model.dtype, "float32, or autocast to float16 or bfloat16");
  add_option(*c, "--batch", o->model.batch,
             "Samples per device and micro-batch; 0: a usual number");
  add_option(*c, "--layers", o->model.layers, "Layers of gpt");
  add_option(*c, "--width", o->model.width, "Width of gpt's layers");
  add_option(*c, "--heads", o->model.heads, "Heads of gpt's attention; 0: 64 wide ones");
  add_option(*c, "--context", o->model.context, "Tokens of a sample for gpt");
  add_option(*c, "--vocabulary", o->model.vocabulary, "Different tokens for gpt");
  add_option(*c, "--devices", o->devices, "How many of which: h100, a100, v100, p100 or t4");
  add_option(*c, "--network", o->network,
             "One of " + cost::network_names() +
                 "; settings may follow, or stand alone: latency=5us, bandwidth=12.5GB/s (of an "
                 "adapter), adapters=8 and node=8 (adapters and devices of a node)");
  add_option(*c, "--pipeline", o->pipeline, "Devices that share the model as a pipeline");
  add_option(*c, "--microbatches", o->micro_batches, "Of a pipeline; 0: four times its devices");
  add_option(*c, "--schedule", o->schedule, "Of a pipeline: gpipe, 1f1b or interleaved");
  add_option(*c, "--parts", o->parts, "Parts of the model on each device of interleaved; 1: two");
  add_option(*c, "--bucket-mib", o->bucket_mib, "Size of gradient buckets after the first");
  add_option(*c, "--utilization", o->utilization,
             "Share of the data sheet's rates that kernels reach");
  c->add_flag("--json", o->json, "Print JSON");
  c->callback([&action, o] { action = [o] { return run_plan(*o); }; });
}

}  // namespace taeda::tool
