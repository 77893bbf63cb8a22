#include "taeda/distributed/cost/pipeline.h"

#include <algorithm>
#include <numeric>

#include "taeda/base/error.h"
#include "taeda/parallel/pipe/balance.h"

namespace taeda::inline v0_2::distributed::cost {

namespace {

/// When what each action needs has arrived, and what the devices did so far.
class PipelineClock {
 public:
  PipelineClock(const std::vector<PartCost>& parts, size_t stages, size_t micro_batches,
                const std::function<double(size_t)>& send)
      : parts_(parts),
        send_(send),
        forward_(parts.size(), std::vector<double>(micro_batches)),
        backward_(forward_),
        kept_(stages, 0) {
    run.busy.resize(stages);
    run.done.resize(stages);
    run.kept_bytes.resize(stages);
    run.last_backward.resize(parts.size());
  }

  void perform(size_t device, const PipelineAction& a) {
    const PartCost& part = parts_[a.stage];
    const double arrived = (a.backward ? backward_ : forward_)[a.stage][a.micro_batch];
    const double seconds = a.backward ? part.backward : part.forward;
    const double begin = std::max(run.done[device], arrived), end = begin + seconds;
    run.done[device] = end;
    run.busy[device] += seconds;
    run.seconds = std::max(run.seconds, end);
    kept_[device] += a.backward ? -part.kept_bytes : part.kept_bytes;
    run.kept_bytes[device] = std::max(run.kept_bytes[device], kept_[device]);
    if (a.backward) run.last_backward[a.stage] = begin;
    pass_on(a, end);
  }

  PipelineRun run;

 private:
  void pass_on(const PipelineAction& a, double end) {
    if (a.backward) {
      if (a.stage > 0) backward_[a.stage - 1][a.micro_batch] = end + send_(a.stage - 1);
    } else if (a.stage + 1 < parts_.size()) {
      forward_[a.stage + 1][a.micro_batch] = end + send_(a.stage);
    } else {
      backward_[a.stage][a.micro_batch] = end;
    }
  }

  const std::vector<PartCost>& parts_;
  const std::function<double(size_t)>& send_;
  std::vector<std::vector<double>> forward_, backward_;  ///< arrival, by part and micro-batch
  std::vector<int64_t> kept_;
};

/// Neighbouring measured parts as `count` of about equal time: where each begins, and the end.
std::vector<size_t> cut(const MeasuredStep& step, int64_t count) {
  TAEDA_CHECK_VALUE(count <= static_cast<int64_t>(step.parts.size()), "the pipeline needs ", count,
                    " parts, but the model can be cut into no more than ", step.parts.size());
  std::vector<double> costs;
  for (const Part& p : step.parts) costs.push_back(p.forward + p.backward);
  std::vector<size_t> begins = {0};
  for (const int64_t length : nn::balance_costs(costs, count))
    begins.push_back(begins.back() + static_cast<size_t>(length));
  return begins;
}

/// A run of measured parts.
struct Stretch {
  PartCost cost;
  double backward_begin = 0;
  int64_t parameter_bytes = 0, input_bytes = 0;
};

Stretch stretch(const MeasuredStep& step, size_t begin, size_t end) {
  Stretch out;
  for (size_t i = begin; i < end; ++i) {
    const Part& p = step.parts[i];
    out.cost.forward += p.forward;
    out.cost.backward += p.backward;
    out.cost.kept_bytes += p.kept_bytes;
    out.parameter_bytes += p.parameter_bytes;
  }
  out.input_bytes = step.parts[begin].input_bytes;
  out.backward_begin = step.parts[end - 1].backward_begin;
  return out;
}

/// Gradients that come while the stretch goes backward, on the clock of a run in which its last
/// backward begins at `begin`.
std::vector<Gradient> gradients_of(const MeasuredStep& step, const Stretch& part, double begin) {
  std::vector<Gradient> out;
  for (Gradient g : step.gradients) {
    g.ready -= part.backward_begin;
    if (g.ready <= 0 || g.ready > part.cost.backward) continue;
    g.ready += begin;
    out.push_back(std::move(g));
  }
  return out;
}

/// All that a step asks about its stages.
class Pipelines {
 public:
  Pipelines(const MeasuredStep& step, int64_t devices, const Network& network,
            const PipelineOptions& o)
      : step_(step),
        network_(network),
        options_(o),
        stages_(static_cast<size_t>(o.stages)),
        replicas_(devices / o.stages) {
    const std::vector<size_t> begins = cut(step, o.stages * o.parts_per_stage);
    for (size_t i = 0; i + 1 < begins.size(); ++i) {
      parts_.push_back(stretch(step, begins[i], begins[i + 1]));
      costs_.push_back(parts_.back().cost);
    }
  }

  PipelineStep run() {
    const auto send = [this](size_t part) { return send_seconds_after(part); };
    const PipelineRun run = run_pipeline(costs_, stages_, micro_batches(), options_.schedule, send);
    PipelineStep out;
    out.bubble = run.bubble();
    double reduced = 0;
    for (size_t s = 0; s < stages_; ++s) finish_stage(s, run, out, reduced);
    out.exposed = std::max(0.0, reduced - run.seconds);
    out.one_device = static_cast<double>(options_.micro_batches) * step_.backward_end + step_.end -
                     step_.backward_end;
    out.largest_part = *std::ranges::max_element(run.busy) * static_cast<double>(stages_) /
                       std::accumulate(run.busy.begin(), run.busy.end(), 0.0);
    return out;
  }

 private:
  size_t micro_batches() const { return static_cast<size_t>(options_.micro_batches); }
  double send_seconds_after(size_t part) const {
    const auto from = static_cast<int64_t>(part % stages_) * replicas_;
    const auto to = static_cast<int64_t>((part + 1) % stages_) * replicas_;
    return send_seconds(static_cast<double>(parts_[part + 1].input_bytes), from, to, network_);
  }
  double sent_between_stages(size_t stage) const {
    double bytes = 0;
    for (size_t i = stage; i < parts_.size(); i += stages_) {
      if (i + 1 < parts_.size()) bytes += static_cast<double>(parts_[i + 1].input_bytes);
      if (i > 0) bytes += static_cast<double>(parts_[i].input_bytes);
    }
    return stages_ == 1 ? 0 : bytes * static_cast<double>(options_.micro_batches);
  }

  /// What is left when the stage's micro-batches are done: gradients and the optimizer.
  void finish_stage(size_t stage, const PipelineRun& run, PipelineStep& out, double& reduced) {
    std::vector<Bucket> buckets;
    int64_t parameters = 0;
    for (size_t i = stage; i < parts_.size(); i += stages_) {
      parameters += parts_[i].parameter_bytes;
      for (Bucket& b : make_gradient_buckets(gradients_of(step_, parts_[i], run.last_backward[i]),
                                             options_.limits))
        buckets.push_back(std::move(b));
    }
    const double bytes = reduce_in_order(buckets, replicas_, network_);
    const double last = buckets.empty() ? 0 : buckets.back().end;
    const double share =
        static_cast<double>(parameters) / static_cast<double>(step_.gradient_bytes);
    const double optimizer = (step_.end - step_.backward_end) * share;
    reduced = std::max(reduced, last);
    out.seconds = std::max(out.seconds, std::max(run.done[stage], last) + optimizer);
    out.bytes = std::max(out.bytes, bytes + sent_between_stages(stage));
    const auto kept_for_all =
        static_cast<double>(step_.parameter_bytes + step_.gradient_bytes + step_.state_bytes);
    out.memory =
        std::max(out.memory, static_cast<int64_t>(kept_for_all * share) + run.kept_bytes[stage]);
  }

  const MeasuredStep& step_;
  const Network& network_;
  const PipelineOptions& options_;
  const size_t stages_;
  const int64_t replicas_;
  std::vector<Stretch> parts_;
  std::vector<PartCost> costs_;
};

}  // namespace

double PipelineRun::bubble() const {
  return 1 - std::accumulate(busy.begin(), busy.end(), 0.0) /
                 (seconds * static_cast<double>(busy.size()));
}

PipelineRun run_pipeline(const std::vector<PartCost>& parts, size_t stages, size_t micro_batches,
                         Schedule schedule, const std::function<double(size_t)>& send) {
  TAEDA_CHECK_VALUE(stages > 0 && !parts.empty() && parts.size() % stages == 0, "a pipeline of ",
                    stages, " stages cannot have ", parts.size(), " parts");
  TAEDA_CHECK_VALUE(micro_batches > 0, "a pipeline needs a micro-batch");
  std::vector<std::vector<PipelineAction>> actions;
  for (size_t s = 0; s < stages; ++s)
    actions.push_back(pipeline_actions(schedule, s, stages, micro_batches, parts.size() / stages));
  PipelineClock clock(parts, stages, micro_batches, send);
  nn::detail::run_orders(actions,
                         [&](const PipelineAction& a) { clock.perform(a.stage % stages, a); });
  return clock.run;
}

PipelineStep pipeline_step(const MeasuredStep& step, int64_t devices, const Network& network,
                           const PipelineOptions& options) {
  TAEDA_CHECK_VALUE(options.stages > 0 && devices > 0 && devices % options.stages == 0,
                    "pipelines of ", options.stages, " stages do not fit on ", devices,
                    " devices without a rest");
  return Pipelines(step, devices, network, options).run();
}

}  // namespace taeda::inline v0_2::distributed::cost
