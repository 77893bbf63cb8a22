// `taeda plan`: what a training step would take on a cluster that need not be there.
#include "tools/taeda/plan/plan.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "taeda/device/generator.h"
#include "taeda/device/sim.h"
#include "tools/taeda/command.h"

namespace taeda::tool {

namespace {

namespace cost = distributed::cost;

constexpr int64_t kMostDevices = int64_t{1} << 20;

/// "64xh100", or several of such with commas between; without a number one.
struct Devices {
  int64_t count = 0;
  std::vector<std::pair<int64_t, sim::CostModel>> kinds;  ///< each once
};

Devices parse_devices(const std::string& text) {
  Devices out;
  std::string dense = text;
  std::erase(dense, ' ');
  std::istringstream list(dense);
  for (std::string part; std::getline(list, part, ',');) {
    char* end = nullptr;
    const long long number = std::strtoll(part.c_str(), &end, 10);
    const bool numbered = end != part.c_str();
    check_flag(!part.empty() && (!numbered || *end == 'x'), "--devices",
               "numbers and devices, such as 64xh100 or 2xh100,2xa100", text);
    const int64_t count = numbered ? number : 1;
    check_flag(count > 0 && count <= kMostDevices, "--devices", "1 to 1048576 devices", text);
    const sim::CostModel model = sim::cost_model(numbered ? end + 1 : part.c_str());
    const auto known = std::ranges::find_if(
        out.kinds, [&](const auto& kind) { return kind.second.name == model.name; });
    if (known == out.kinds.end())
      out.kinds.emplace_back(count, model);
    else
      known->first += count;
    out.count += count;
  }
  check_flag(out.count > 0, "--devices", "numbers and devices, such as 64xh100", text);
  return out;
}

std::string names_of(const Devices& devices) {
  std::string out;
  for (const auto& [count, model] : devices.kinds)
    out += taeda::detail::concat(out.empty() ? "" : " and ", count, " ", model.name);
  return out;
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

/// A model on one simulated device, which computes nothing.
class Measured {
 public:
  /// Throws OutOfMemoryError where the weights do not fit.
  Measured(const PlanOptions& o, const sim::CostModel& device) : planned_(make(o, device)) {}

  /// A step with batches of this size; none where it does not fit.
  std::optional<cost::MeasuredStep> step(int64_t batch) {
    try {
      planned_.set_batch(batch);
      cost::MeasuredStep out = cost::measure_step(planned_.step, kDevice);
      // The first step makes the optimizer's state, which later ones find.
      state_ = std::max(state_, out.state_bytes);
      out.state_bytes = state_;
      return out;
    } catch (const OutOfMemoryError&) {
      planned_.step.optimizer->zero_grad();
      return {};
    }
  }
  std::vector<LayerUse> layers(int64_t batch) {
    planned_.set_batch(batch);
    return observe_layers(planned_.step, kDevice);
  }

 private:
  static PlannedStep make(const PlanOptions& o, const sim::CostModel& device) {
    sim::configure(1, {.memory = memory_of_pipeline(o, device),
                       .cost = scaled(device, o.utilization),
                       .compute = false});
    return make_planned_step(o.model, kDevice);
  }

  inline static const Device kDevice = Device("sim:0");
  PlannedStep planned_;
  int64_t state_ = 0;
};

[[noreturn]] void does_not_fit(const PlanOptions& o, const sim::CostModel& device, Measured* m) {
  int64_t fits = m ? o.model.batch : 0;
  while (fits > 0 && !m->step(fits)) fits /= 2;
  throw UsageError(taeda::detail::concat(
      o.model.name, fits > 0 ? taeda::detail::concat(" with --batch ", o.model.batch) : "",
      " does not fit into the memory of ", o.pipeline, " ", device.name, " (",
      bytes_text(device.memory), " each)",
      fits > 0 ? taeda::detail::concat(": take a smaller --batch (", fits, " fits)")
               : ": it needs more",
      o.model.name == "gpt" ? ", or more devices as --pipeline" : ""));
}

/// Of several kinds of devices the one that takes longest, for which all others wait.
sim::CostModel slowest(const PlanOptions& o, const Devices& devices) {
  double longest = -1;
  sim::CostModel out;
  for (const auto& [count, model] : devices.kinds) {
    if (devices.kinds.size() == 1) return model;
    const auto step = Measured(o, model).step(o.model.batch);
    const double seconds = step ? step->end : INFINITY;
    if (seconds > longest) out = model;
    longest = std::max(longest, seconds);
  }
  return out;
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

/// Memory is nearly a straight line over the batch, so two sizes tell how many samples fit. Time is
/// none, for small kernels take as long as smaller ones: powers of 2 are tried.
BatchAdvice advise(const Plan& plan, Measured& measured, const nn::parallel::BucketLimits& limits) {
  constexpr double kUsable = 0.95;  // of the memory: the rest is the driver's, and lost in gaps
  constexpr double kGood = 0.95;    // of the highest throughput
  const auto row_of = [&](int64_t batch) -> std::optional<PlanRow> {
    Plan with = plan;
    with.options.model.batch = batch;
    const auto step = measured.step(batch);
    if (!step) return {};
    with.step = *step;
    return plan_row(with, plan.rows.back().devices, limits);
  };
  const int64_t n = plan.options.model.batch, other = n > 1 ? n / 2 : 2;
  const auto here = static_cast<double>(plan.rows.back().memory);
  const std::optional<PlanRow> there = row_of(other);
  BatchAdvice out;
  out.largest = here <= plan.memory ? n : 0;
  if (there) {
    const double per_sample =
        (here - static_cast<double>(there->memory)) / static_cast<double>(n - other);
    const double room = (plan.memory * kUsable - here) / std::max(per_sample, 1.0);
    const double fits = std::clamp(static_cast<double>(n) + room, 0.0, double{kLargestBatch});
    out.largest = std::max(out.largest, static_cast<int64_t>(fits));
  }
  std::vector<double> rates;
  for (int64_t b = 1; b <= out.largest; b *= 2) {
    const std::optional<PlanRow> row = row_of(b);
    if (!row) break;
    rates.push_back(row->samples_per_second);
  }
  if (rates.empty()) return out;
  const double best = std::ranges::max(rates);
  size_t i = 0;
  while (rates[i] < kGood * best) ++i;
  out.suggested = int64_t{1} << i;
  out.samples_per_second = rates[i];
  out.share = rates[i] / best;
  return out;
}

/// What a layer takes with its gradients and the optimizer's state.
double bytes_of(const LayerUse& layer, const cost::MeasuredStep& step) {
  const double copies =
      static_cast<double>(step.parameter_bytes + step.gradient_bytes + step.state_bytes) /
      static_cast<double>(step.parameter_bytes);
  return static_cast<double>(layer.parameter_bytes) * copies +
         static_cast<double>(layer.kept_bytes);
}

Plan make_plan(const PlanOptions& o, const Devices& devices) {
  Plan plan;
  plan.options = o;
  plan.devices = names_of(devices);
  plan.device = slowest(o, devices);
  if (devices.kinds.size() > 1) plan.devices += ", all of which wait for " + plan.device.name;
  plan.memory = std::ranges::min(devices.kinds, {}, [](const auto& kind) {
                  return kind.second.memory;
                }).second.memory;
  plan.network = user_input([&] { return cost::network(o.network, plan.device); });
  user_input([&] { return pipeline_options(o, nn::parallel::kGradientLimits); });
  std::optional<Measured> measured;
  try {
    measured.emplace(o, plan.device);
  } catch (const OutOfMemoryError&) {
    does_not_fit(o, plan.device, nullptr);
  }
  const auto step = measured->step(o.model.batch);
  if (!step) does_not_fit(o, plan.device, &*measured);
  plan.step = *step;
  nn::parallel::BucketLimits limits = nn::parallel::kGradientLimits;
  limits.others = static_cast<int64_t>(o.bucket_mib * 0x1p20);
  plan.buckets = cost::make_gradient_buckets(plan.step.gradients, limits);
  for (int64_t n = o.pipeline; n < devices.count; n *= 2)
    plan.rows.push_back(user_input([&] { return plan_row(plan, n, limits); }));
  plan.rows.push_back(user_input([&] { return plan_row(plan, devices.count, limits); }));
  plan.layers = measured->layers(o.model.batch);
  std::ranges::stable_sort(plan.layers, std::ranges::greater(),
                           [&](const LayerUse& l) { return bytes_of(l, plan.step); });
  plan.advice = advise(plan, *measured, limits);
  return plan;
}

int run_plan(PlanOptions o) {
  user_input([&] { check_options(o); });
  const Devices devices = user_input([&] { return parse_devices(o.devices); });
  check_flag(devices.count % o.pipeline == 0, "--devices", "a multiple of --pipeline",
             devices.count);
  if (o.pipeline > 1 && devices.kinds.size() > 1)
    throw UsageError("--pipeline divides a model over devices of one kind, got " + o.devices);
  const Plan plan = make_plan(o, devices);
  if (o.json)
    print_plan_as_json(plan);
  else
    print_plan(plan);
  return 0;
}

}  // namespace

void add_plan(const Command& app) {
  const Command c = app.add_command(
      "plan", "Predict the step of a model on many devices",
      {"taeda plan resnet50 --devices 64xh100 --network ib400 --batch 256",
       "taeda plan out --devices 2xh100,2xa100     # the network of a run",
       "taeda plan gpt --dtype bfloat16 --devices 1024xh100 --json",
       "taeda plan gpt --layers 48 --width 1600 --devices 32xa100 --network ib200 "
       "--pipeline 4 --microbatches 16 --schedule interleaved",
       "taeda plan --devices 16xv100 --network latency=30us,bandwidth=1.25GB/s,adapters=1"});
  auto o = std::make_shared<PlanOptions>();
  c.add_option("model,--model", o->model.name,
               std::string("The folder of a run of taeda train, or one of ") + kPlannedModels);
  c.add_option("--dtype", o->model.dtype, "float32, or autocast to float16 or bfloat16");
  c.add_option("--batch", o->model.batch, "Samples per device and micro-batch; 0: a usual number");
  c.add_option("--layers", o->model.layers, "Layers of gpt");
  c.add_option("--width", o->model.width, "Width of gpt's layers");
  c.add_option("--heads", o->model.heads, "Heads of gpt's attention; 0: 64 wide ones");
  c.add_option("--context", o->model.context, "Tokens of a sample for gpt");
  c.add_option("--vocabulary", o->model.vocabulary, "Different tokens for gpt");
  c.add_option(
      "--devices", o->devices,
      "How many of which: b200, h200, h100, a100, l40s, rtx4090, v100, p100 or t4; a list with "
      "commas for several kinds");
  c.add_option("--network", o->network,
               "One of " + cost::network_names() +
                   "; settings may follow, or stand alone: latency=5us, bandwidth=12.5GB/s (of an "
                   "adapter), adapters=8 and node=8 (adapters and devices of a node)");
  c.add_option("--pipeline", o->pipeline, "Devices that share the model as a pipeline");
  c.add_option("--microbatches", o->micro_batches, "Of a pipeline; 0: four times its devices");
  c.add_option("--schedule", o->schedule, "Of a pipeline: gpipe, 1f1b or interleaved");
  c.add_option("--parts", o->parts, "Parts of the model on each device of interleaved; 1: two");
  c.add_option("--bucket-mib", o->bucket_mib, "Size of gradient buckets after the first");
  c.add_option("--utilization", o->utilization,
               "Share of the data sheet's rates that kernels reach");
  c.add_flag("--json", o->json, "Print JSON");
  c.on_call([o] { return run_plan(*o); });
}

}  // namespace taeda::tool
