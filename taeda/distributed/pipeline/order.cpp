#include "taeda/distributed/pipeline/order.h"

#include <algorithm>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::pipelining::detail {

Order order_of(nn::PipeSchedule schedule, size_t rank, size_t ranks, size_t micro_batches) {
  Order out;
  for (const nn::detail::Action& a : nn::detail::actions_of(schedule, rank, ranks, micro_batches))
    out.push_back({rank, a.backward, a.micro_batch});
  return out;
}

Order interleaved_order_of(size_t rank, size_t ranks, size_t stages_per_rank,
                           size_t micro_batches) {
  const size_t rounds = std::max<size_t>(1, micro_batches / ranks);
  TAEDA_CHECK_VALUE(micro_batches % rounds == 0,
                    "Interleaved 1F1B requires the number of microbatches to be a multiple of the "
                    "number of rounds (",
                    rounds, "), but got ", micro_batches, ".");
  const size_t per_round = micro_batches / rounds, all = stages_per_rank * micro_batches;
  // The last rank goes back as soon as its last stage has been forward once; every rank before it
  // has two more forward passes on their way.
  const size_t ahead = std::min(all, (stages_per_rank - 1) * per_round + 2 * (ranks - 1 - rank));
  const auto action = [&](bool backward, size_t n) -> StageAction {
    const size_t turn = (n / per_round) % stages_per_rank;
    const size_t local = backward ? stages_per_rank - 1 - turn : turn;
    const size_t round = n / (per_round * stages_per_rank);
    return {local * ranks + rank, backward, round * per_round + n % per_round};
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

}  // namespace taeda::distributed::pipelining::detail
