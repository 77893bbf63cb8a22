#include "taeda/parallel/pipe/meter.h"

#include "taeda/base/error.h"

namespace taeda::inline v0_2::nn::detail {

Meter::Meter(bool on, const std::vector<std::shared_ptr<Stage>>& stages) : on_(on) {
  for (const auto& s : stages) {
    Times& t = stages_.emplace_back();
    t.stream = current_stream(s->device());
    t.modules = s->modules().size();
    if (on_) t.begin.record(t.stream);
  }
}

void Meter::start(size_t stage) {
  if (!on_) return;
  Times& t = stages_[stage];
  t.busy.emplace_back(Event(true), Event(true));
  t.busy.back().first.record(t.stream);
}

void Meter::stop(size_t stage) {
  if (on_) stages_[stage].busy.back().second.record(stages_[stage].stream);
}

void Meter::finish() {
  for (Times& t : stages_)
    if (on_) t.end.record(t.stream);
}

PipeReport Meter::report() const {
  TAEDA_CHECK(on_, "Pipe: the last step was not measured; set options().measure(true) before it");
  PipeReport out;
  out.schedule = schedule;
  out.micro_batches = static_cast<int64_t>(micro_batches);
  out.backward = backward;
  for (const Times& t : stages_) {
    t.end.synchronize();
    PipeReport::Stage& s = out.stages.emplace_back();
    s.device = t.stream.device();
    s.modules = t.modules;
    s.kept = t.kept.most;
    s.total_ms = t.begin.elapsed_time(t.end);
    for (const auto& [start, end] : t.busy) s.busy_ms += start.elapsed_time(end);
  }
  return out;
}

}  // namespace taeda::nn::detail
