// Metrics of all ranks' examples.
#include "taeda/distributed/metrics.h"

#include <gmock/gmock.h>

#include "taeda/ops/create/create.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "tests/distributed/group/ranks.h"

namespace taeda {
namespace {

// Ranks give 0, 5 and 10 examples.
TEST(SyncedMetrics, AreThoseOfAllExamplesOnEveryRank) {
  manual_seed(0);
  const Tensor scores = randn({15}), targets = randint(0, 2, {15});
  const Tensor numbers = randn({15, 2}), others = randn({15, 2});
  training::AUROC auroc;
  training::R2Score r2;
  training::Mean mean;
  auroc.update(scores, targets);
  r2.update(numbers, others);
  mean.update(scores);
  std::vector<double> got(3);
  run_ranks(3, [&](distributed::ProcessGroup& g) {
    const distributed::ProcessGroupPtr group{distributed::ProcessGroupPtr(), &g};
    const int64_t from = g.rank() == 2 ? 5 : 0, to = g.rank() == 2 ? 15 : 5;
    training::AUROC own_auroc;
    training::R2Score own_r2;
    training::Mean own_mean;
    if (g.rank() > 0) {
      own_auroc.update(scores.slice(0, from, to), targets.slice(0, from, to));
      own_r2.update(numbers.slice(0, from, to), others.slice(0, from, to));
      own_mean.update(scores.slice(0, from, to));
    }
    const double area = distributed::synced(own_auroc, group).compute().item<double>();
    EXPECT_EQ(area, auroc.compute().item<double>());
    // Asked twice, it is the same: this rank's own has not changed.
    EXPECT_EQ(distributed::synced(own_auroc, group).compute().item<double>(), area);
    EXPECT_NEAR(distributed::synced(own_mean, group).compute().item<double>(),
                mean.compute().item<double>(), 1e-12);
    got[static_cast<size_t>(g.rank())] =
        distributed::synced(own_r2, group).compute().item<double>();
  });
  EXPECT_NEAR(got[0], r2.compute().item<double>(), 1e-12);
  EXPECT_EQ(got[0], got[1]);
  EXPECT_EQ(got[0], got[2]);
}

}  // namespace
}  // namespace taeda
