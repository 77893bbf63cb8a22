// What a plan says.
#include <algorithm>
#include <cstdio>

#include "taeda/log/table.h"
#include "taeda/log/terminal.h"
#include "tools/taeda/command.h"
#include "tools/taeda/json.h"
#include "tools/taeda/plan/plan.h"

namespace taeda::tool {

namespace {

using distributed::cost::Bucket;
using distributed::cost::DataParallelStep;
using distributed::cost::PipelineStep;
using logging::fixed;
using taeda::detail::concat;

constexpr double kMega = 1e6, kGiga = 1e9;
/// Below this a plan says where the time goes.
constexpr double kWorthSaying = 0.99;

std::string milliseconds(double seconds) {
  return fixed(seconds * 1e3, seconds < 1e-3 ? 3 : 2) + " ms";
}
std::string megabytes(double bytes) { return fixed(bytes / kMega, bytes < kMega ? 2 : 1) + " MB"; }

/// Lines of at most 80 columns, or of a narrower terminal.
std::string wrapped(const std::string& text) {
  return paragraph(text, std::min<size_t>(80, logging::terminal_width(stdout)));
}

/// How long before the end of backward.
std::string when(double seconds) {
  return seconds < 1e-6 ? "when backward ends" : milliseconds(seconds) + " before backward ends";
}

std::string why_exposed(const Plan& plan, const DataParallelStep& s) {
  std::string out;
  if (const double after = s.exposed - s.broadcast; after > 0) {
    const Bucket& last = s.buckets.back();
    const double backward = plan.step.backward_end - plan.step.forward_end;
    out = last.begin > last.ready
              ? concat("the last bucket (", megabytes(last.bytes), ") waits ",
                       milliseconds(last.begin - last.ready), " for those before it and takes ",
                       milliseconds(last.end - last.begin), "; all ", s.buckets.size(), " take ",
                       milliseconds(s.communication - s.broadcast), ", backward ",
                       milliseconds(backward))
              : concat("the last bucket (", megabytes(last.bytes), ") is complete ",
                       when(plan.step.backward_end - last.ready), " and takes ",
                       milliseconds(last.end - last.begin));
  }
  if (s.broadcast > 0)
    out += concat(out.empty() ? "" : "; ", milliseconds(s.broadcast),
                  " before forward for buffers of ",
                  megabytes(static_cast<double>(plan.step.buffer_bytes)));
  return out;
}

std::string where_lost(const Plan& plan, const PlanRow& row) {
  const std::string who = concat(row.devices, row.devices == 1 ? " device" : " devices", ", ",
                                 logging::percent(row.efficiency, 1), ": ");
  if (row.data_parallel)
    return concat(who, milliseconds(row.exposed),
                  " of communication are not hidden: ", why_exposed(plan, *row.data_parallel));
  const PipelineStep& s = *row.pipeline;
  std::string out =
      concat(who, "devices stand idle for ", logging::percent(s.bubble, 1), " of the pipeline");
  if (s.largest_part > 1.01)
    out += concat(", whose largest stage has ", fixed(s.largest_part, 2), " times the mean work");
  if (s.exposed > 0)
    out += concat("; all_reduce goes on for ", milliseconds(s.exposed), " after it");
  return out;
}

/// The largest number of devices, and the first one below 90%.
std::vector<const PlanRow*> worth_explaining(const Plan& plan) {
  std::vector<const PlanRow*> out;
  for (const PlanRow& row : plan.rows) {
    const bool last = &row == &plan.rows.back();
    const bool first_low = out.empty() && row.efficiency < 0.9;
    if ((last || first_low) && row.efficiency < kWorthSaying) out.push_back(&row);
  }
  return out;
}

void print_heading(const Plan& plan) {
  const PlanOptions& o = plan.options;
  const distributed::cost::MeasuredStep& s = plan.step;
  std::string heading = concat(o.model.name, " in ", o.model.dtype, ", ", o.model.batch,
                               o.pipeline > 1 ? " samples per micro-batch" : " samples per device",
                               ", on up to ", plan.devices, ", network ", plan.network.name);
  if (o.pipeline > 1)
    heading += concat("; pipelines of ", o.pipeline, " devices, ", o.micro_batches,
                      " micro-batches, ", o.schedule);
  std::printf("%s", wrapped(heading).c_str());
  std::printf("%s\n", wrapped(concat("one device: forward ", milliseconds(s.forward_end),
                                     ", backward ", milliseconds(s.backward_end - s.forward_end),
                                     ", optimizer ", milliseconds(s.end - s.backward_end), "; ",
                                     fixed(s.flops * 1e-12, 2), " TFLOP of products; gradients of ",
                                     megabytes(static_cast<double>(s.gradient_bytes)), " in ",
                                     plan.buckets.size(),
                                     plan.buckets.size() == 1 ? " bucket" : " buckets"))
                          .c_str());
}

std::string name_of(const LayerUse& layer) {
  return layer.path.empty() ? "(between layers)" : layer.path;
}

void print_layers(const Plan& plan) {
  constexpr size_t kShown = 6;
  logging::Table table({"largest layers", "weights MB", "activations MB", "forward ms"});
  for (size_t i = 0; i < std::min(kShown, plan.layers.size()); ++i) {
    const LayerUse& l = plan.layers[i];
    table.row({name_of(l), fixed(static_cast<double>(l.parameter_bytes) / kMega, 2),
               fixed(static_cast<double>(l.kept_bytes) / kMega, 2),
               fixed(l.forward_seconds * 1e3, 3)});
  }
  std::printf("\n%s", table.str().c_str());
}

std::string memory_text(const Plan& plan) {
  const distributed::cost::MeasuredStep& s = plan.step;
  const auto part = [](int64_t bytes) { return megabytes(static_cast<double>(bytes)); };
  const int64_t rest = s.peak_bytes - s.parameter_bytes - s.gradient_bytes - s.state_bytes;
  return concat("memory of the model: weights ", part(s.parameter_bytes), ", gradients ",
                part(s.gradient_bytes), ", optimizer ", part(s.state_bytes),
                ", activations and the rest ", part(std::max<int64_t>(0, rest)));
}

std::string advice_text(const Plan& plan) {
  const BatchAdvice& a = plan.advice;
  const char* of = plan.options.pipeline > 1 ? "micro-batch" : "batch";
  const std::string memory = fixed(plan.memory / kGiga, 0) + " GB";
  if (a.largest < 1) return concat("no ", of, " fits into ", memory);
  const std::string fit =
      concat(logging::with_commas(a.largest), a.largest == kLargestBatch ? " and more" : "",
             " samples fit into ", memory);
  if (a.suggested < 1) return fit;
  return concat("suggested --batch ", a.suggested, ": ",
                logging::with_commas(static_cast<long long>(a.samples_per_second)), " samples/s, ",
                logging::percent(a.share, 0), " of the most; ", fit);
}

Json json_of(const Bucket& b) {
  return {{"bytes", b.bytes},
          {"ready_seconds", b.ready},
          {"begin_seconds", b.begin},
          {"end_seconds", b.end},
          {"algorithm", b.algorithm}};
}

/// Null for none.
Json list_of(const std::vector<Bucket>& buckets) {
  Json out;
  for (const Bucket& b : buckets) out.push_back(json_of(b));
  return out;
}

Json json_of(const Plan& plan, const PlanRow& row) {
  Json out = {{"devices", row.devices},
              {"step_seconds", row.seconds},
              {"samples_per_second", row.samples_per_second},
              {"efficiency", row.efficiency},
              {"exposed_communication_seconds", row.exposed},
              {"bytes_sent_per_device", row.bytes},
              {"bubble", row.bubble},
              {"memory_per_device", row.memory}};
  if (row.data_parallel) {
    out.set("communication_seconds", row.data_parallel->communication);
    if (const Json buckets = list_of(row.data_parallel->buckets); !buckets.is_null())
      out.set("buckets", buckets);
  }
  if (row.efficiency < kWorthSaying) out.set("lost", where_lost(plan, row));
  return out;
}

}  // namespace

void print_plan(const Plan& plan) {
  print_heading(plan);
  const bool pipeline = plan.options.pipeline > 1;
  std::vector<std::string> header = {"n", "step ms", "samples/s", "eff.", "wait ms", "sent MB"};
  if (pipeline) header.push_back("bubble");
  header.push_back("mem. GB");
  logging::Table table(header);
  for (const PlanRow& r : plan.rows) {
    std::vector<std::string> cells = {
        std::to_string(r.devices),      fixed(r.seconds * 1e3, 2),
        fixed(r.samples_per_second, 0), logging::percent(r.efficiency, 1),
        fixed(r.exposed * 1e3, 2),      fixed(r.bytes / kMega, 1)};
    if (pipeline) cells.push_back(logging::percent(r.bubble, 1));
    cells.push_back(fixed(static_cast<double>(r.memory) / kGiga, 2));
    table.row(cells);
  }
  std::printf("%s", table.str().c_str());
  for (const PlanRow* row : worth_explaining(plan))
    std::printf("%s", wrapped(where_lost(plan, *row)).c_str());
  const PlanRow& largest = plan.rows.back();
  if (static_cast<double>(largest.memory) > plan.memory)
    std::printf("does not fit: a device has %s GB\n", fixed(plan.memory / kGiga, 0).c_str());
  print_layers(plan);
  std::printf("%s", wrapped(memory_text(plan)).c_str());
  std::printf("%s", wrapped(advice_text(plan)).c_str());
}

void print_plan_as_json(const Plan& plan) {
  const distributed::cost::MeasuredStep& s = plan.step;
  const PlanOptions& o = plan.options;
  Json out = {{"model", o.model.name},
              {"dtype", o.model.dtype},
              {"batch", o.model.batch},
              {"device", plan.device.name},
              {"network", plan.network.name},
              {"utilization", o.utilization},
              {"forward_seconds", s.forward_end},
              {"backward_seconds", s.backward_end - s.forward_end},
              {"optimizer_seconds", s.end - s.backward_end},
              {"flops", s.flops},
              {"parameter_bytes", s.parameter_bytes},
              {"gradient_bytes", s.gradient_bytes},
              {"buffer_bytes", s.buffer_bytes},
              {"state_bytes", s.state_bytes},
              {"peak_bytes", s.peak_bytes},
              {"device_memory", plan.memory}};
  if (o.pipeline > 1)
    out.set("pipeline", {{"stages", o.pipeline},
                         {"micro_batches", o.micro_batches},
                         {"schedule", o.schedule},
                         {"parts_per_stage", o.parts}});
  Json rows, layers;
  for (const PlanRow& row : plan.rows) rows.push_back(json_of(plan, row));
  for (const LayerUse& l : plan.layers)
    layers.push_back({{"path", l.path},
                      {"parameter_bytes", l.parameter_bytes},
                      {"activation_bytes", l.kept_bytes},
                      {"forward_seconds", l.forward_seconds}});
  if (!rows.is_null()) out.set("rows", rows);
  if (!layers.is_null()) out.set("layers", layers);
  out.set("batch_advice", {{"largest", plan.advice.largest},
                           {"suggested", plan.advice.suggested},
                           {"samples_per_second", plan.advice.samples_per_second},
                           {"share_of_best", plan.advice.share}});
  print_json(out);
}

}  // namespace taeda::tool
