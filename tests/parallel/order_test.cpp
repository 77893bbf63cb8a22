// Orders of pipelines: complete, and free of waiting in circles.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "taeda/parallel/pipe/schedule.h"

namespace taeda::nn::detail {
namespace {

/// "F0.1": stage 0, micro-batch 1.
std::string text_of(const Order& order) {
  std::string out;
  for (const StageAction& a : order)
    out += (out.empty() ? "" : " ") + std::string(a.backward ? "B" : "F") +
           std::to_string(a.stage) + "." + std::to_string(a.micro_batch);
  return out;
}

TEST(PipelineOrder, InterleavedIsMegatrons) {
  EXPECT_EQ(text_of(interleaved_order_of(0, 2, 2, 2)), "F0.0 F0.1 F2.0 F2.1 B2.0 B2.1 B0.0 B0.1");
  EXPECT_EQ(text_of(interleaved_order_of(1, 2, 2, 2)), "F1.0 F1.1 F3.0 B3.0 F3.1 B3.1 B1.0 B1.1");
  EXPECT_EQ(text_of(interleaved_order_of(1, 2, 2, 4)),
            "F1.0 F1.1 F3.0 B3.0 F3.1 B3.1 F1.2 B1.0 F1.3 B1.1 F3.2 B3.2 F3.3 B3.3 B1.2 B1.3");
  EXPECT_EQ(text_of(forward_only(interleaved_order_of(0, 1, 2, 2))), "F0.0 F1.0 F0.1 F1.1");
}

TEST(PipelineOrder, OneStageEachIsThatOfPipe) {
  EXPECT_EQ(text_of(order_of(nn::PipeSchedule::GPipe, 1, 2, 2)), "F1.0 F1.1 B1.1 B1.0");
  EXPECT_EQ(text_of(order_of(nn::PipeSchedule::OneForwardOneBackward, 0, 2, 3)),
            "F0.0 F0.1 B0.0 F0.2 B0.1 B0.2");
}

TEST(PipelineOrder, EveryMicroBatchPassesEveryStageOnce) {
  for (size_t ranks = 1; ranks <= 5; ++ranks)
    for (size_t per_rank = 1; per_rank <= 3; ++per_rank)
      for (size_t n = 1; n <= 12; ++n) {
        if (n % std::max<size_t>(1, n / ranks) != 0) continue;
        std::vector<Order> orders;
        for (size_t r = 0; r < ranks; ++r) {
          orders.push_back(interleaved_order_of(r, ranks, per_rank, n));
          std::set<std::tuple<size_t, bool, size_t>> different;
          for (const StageAction& a : orders.back()) {
            EXPECT_EQ(a.stage % ranks, r);
            EXPECT_LT(a.micro_batch, n);
            different.insert({a.stage, a.backward, a.micro_batch});
          }
          EXPECT_EQ(different.size(), 2 * per_rank * n);
          EXPECT_EQ(orders.back().size(), different.size());
        }
        size_t left = 2 * ranks * per_rank * n;
        EXPECT_NO_THROW(run_orders(orders, [&](const StageAction&) { --left; }))
            << ranks << " ranks, " << per_rank << " stages each, " << n << " micro-batches";
        EXPECT_EQ(left, 0u);
      }
}

}  // namespace
}  // namespace taeda::nn::detail
