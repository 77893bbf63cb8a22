#include "taeda/parallel/pipe/schedule.h"

#include <algorithm>

namespace taeda::inline v0_2::nn::detail {

std::vector<Action> actions_of(PipeSchedule schedule, size_t stage, size_t stages,
                               size_t micro_batches) {
  std::vector<Action> out;
  if (schedule == PipeSchedule::GPipe) {
    for (size_t i = 0; i < micro_batches; ++i) out.push_back({false, i});
    for (size_t i = micro_batches; i-- > 0;) out.push_back({true, i});
    return out;
  }
  // The last stage goes back at once; each one before has one more micro-batch on its way.
  const size_t ahead = std::min(stages - 1 - stage, micro_batches);
  for (size_t i = 0; i < ahead; ++i) out.push_back({false, i});
  for (size_t i = 0; i < micro_batches; ++i) {
    if (ahead + i < micro_batches) out.push_back({false, ahead + i});
    out.push_back({true, i});
  }
  return out;
}

void run_schedule(PipeSchedule schedule, size_t stages, size_t micro_batches,
                  const std::function<void(size_t stage, const Action& action)>& run) {
  std::vector<std::vector<Action>> actions;
  for (size_t s = 0; s < stages; ++s)
    actions.push_back(actions_of(schedule, s, stages, micro_batches));
  std::vector<size_t> next(stages, 0);
  // done[2 s + b][i]: stage s has run micro-batch i forward (b = 0) or backward (b = 1).
  std::vector<std::vector<bool>> done(stages * 2, std::vector<bool>(micro_batches, false));
  const auto ready = [&](size_t s, const Action& a) -> bool {
    if (!a.backward) return s == 0 || done[(s - 1) * 2][a.micro_batch];
    return s + 1 == stages ? done[s * 2][a.micro_batch] : done[(s + 1) * 2 + 1][a.micro_batch];
  };
  for (size_t left = stages * micro_batches * 2; left > 0;)
    for (size_t s = stages; s-- > 0;) {
      if (next[s] == actions[s].size() || !ready(s, actions[s][next[s]])) continue;
      const Action& a = actions[s][next[s]++];
      run(s, a);
      done[s * 2 + (a.backward ? 1 : 0)][a.micro_batch] = true;
      --left;
    }
}

}  // namespace taeda::nn::detail
