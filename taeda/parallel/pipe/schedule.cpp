#include "taeda/parallel/pipe/schedule.h"

#include <algorithm>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::nn::detail {

Order order_of(PipeSchedule schedule, size_t worker, size_t workers, size_t micro_batches) {
  Order out;
  if (schedule == PipeSchedule::GPipe) {
    for (size_t i = 0; i < micro_batches; ++i) out.push_back({worker, false, i});
    for (size_t i = micro_batches; i-- > 0;) out.push_back({worker, true, i});
    return out;
  }
  // The last stage goes back at once; each one before has one more micro-batch on its way.
  const size_t ahead = std::min(workers - 1 - worker, micro_batches);
  for (size_t i = 0; i < ahead; ++i) out.push_back({worker, false, i});
  for (size_t i = 0; i < micro_batches; ++i) {
    if (ahead + i < micro_batches) out.push_back({worker, false, ahead + i});
    out.push_back({worker, true, i});
  }
  return out;
}

Order interleaved_order_of(size_t worker, size_t workers, size_t stages_per_worker,
                           size_t micro_batches) {
  const size_t rounds = std::max<size_t>(1, micro_batches / workers);
  TAEDA_CHECK_VALUE(micro_batches % rounds == 0,
                    "Interleaved 1F1B requires the number of microbatches to be a multiple of the "
                    "number of rounds (",
                    rounds, "), but got ", micro_batches, ".");
  const size_t per_round = micro_batches / rounds, all = stages_per_worker * micro_batches;
  // The last worker goes back as soon as its last stage has been forward once; every one before it
  // has two more forward passes on their way.
  const size_t ahead =
      std::min(all, (stages_per_worker - 1) * per_round + 2 * (workers - 1 - worker));
  const auto action = [&](bool backward, size_t n) -> StageAction {
    const size_t turn = (n / per_round) % stages_per_worker;
    const size_t local = backward ? stages_per_worker - 1 - turn : turn;
    const size_t round = n / (per_round * stages_per_worker);
    return {local * workers + worker, backward, round * per_round + n % per_round};
  };
  Order out;
  for (size_t n = 0; n < ahead; ++n) out.push_back(action(false, n));
  for (size_t n = 0; n < all; ++n) {
    if (ahead + n < all) out.push_back(action(false, ahead + n));
    out.push_back(action(true, n));
  }
  return out;
}

Order forward_only(const Order& order) {
  Order out;
  std::ranges::copy_if(order, std::back_inserter(out), [](const auto& a) { return !a.backward; });
  return out;
}

std::vector<Order> forward_orders(size_t stages, size_t micro_batches) {
  std::vector<Order> out;
  for (size_t s = 0; s < stages; ++s)
    out.push_back(forward_only(order_of(PipeSchedule::GPipe, s, stages, micro_batches)));
  return out;
}

void run_orders(const std::vector<Order>& orders,
                const std::function<void(const StageAction& action)>& run) {
  size_t stages = 0, micro_batches = 0, left = 0;
  for (const Order& order : orders)
    for (const StageAction& a : order) {
      stages = std::max(stages, a.stage + 1);
      micro_batches = std::max(micro_batches, a.micro_batch + 1);
      ++left;
    }
  std::vector<bool> done(2 * stages * micro_batches);
  const auto place = [&](const StageAction& a) {
    return (2 * a.stage + (a.backward ? 1 : 0)) * micro_batches + a.micro_batch;
  };
  const auto ready = [&](const StageAction& a) -> bool {
    if (!a.backward) return a.stage == 0 || done[place({a.stage - 1, false, a.micro_batch})];
    if (a.stage + 1 == stages) return done[place({a.stage, false, a.micro_batch})];
    return done[place({a.stage + 1, true, a.micro_batch})];
  };
  std::vector<size_t> next(orders.size(), 0);
  while (left > 0) {
    const size_t before = left;
    for (size_t w = orders.size(); w-- > 0;) {
      if (next[w] == orders[w].size() || !ready(orders[w][next[w]])) continue;
      const StageAction& a = orders[w][next[w]++];
      run(a);
      done[place(a)] = true;
      --left;
    }
    TAEDA_INTERNAL_ASSERT(left < before, "stages of a pipeline wait for each other");
  }
}

}  // namespace taeda::inline v0_2::nn::detail
