#include "taeda/data/worker.h"

#include <gmock/gmock.h>

#include <set>

#include "taeda/data/loader.h"
#include "taeda/ops/create/create.h"

namespace taeda::data {
namespace {

/// An example is a random number.
struct Noise : datasets::Dataset<Noise, double> {
  double get(size_t) override { return worker_generator().uniform(); }
  std::optional<size_t> size() const override { return 40; }
};

std::vector<double> numbers(DataLoader<Tensor>& loader) {
  std::vector<double> out;
  for (Tensor& batch : loader)
    out.insert(out.end(), batch.data_ptr<double>(), batch.data_ptr<double>() + batch.numel());
  return out;
}

TEST(WorkerGenerator, NumbersDependOnSeedAndBatchAlone) {
  DataLoader alone(Noise(), {.batch_size = 4, .seed = 1});
  const std::vector<double> expected = numbers(alone);
  EXPECT_EQ(std::set<double>(expected.begin(), expected.end()).size(), 40u);
  EXPECT_NE(numbers(alone), expected) << "another epoch has other numbers";
  for (int workers : {1, 3}) {
    DataLoader loader(Noise(), {.batch_size = 4, .num_workers = workers, .seed = 1});
    EXPECT_EQ(numbers(loader), expected) << workers << " workers";
  }
  DataLoader other(Noise(), {.batch_size = 4, .seed = 2});
  EXPECT_NE(numbers(other), expected);
}

TEST(WorkerGenerator, OutsideALoaderItIsTheDefaultOne) {
  EXPECT_EQ(worker_generator(), default_generator(kCPU));
  {
    detail::BatchGenerator outer(1, 0);
    const double first = worker_generator().uniform();
    {
      detail::BatchGenerator inner(1, 0);
      EXPECT_EQ(worker_generator().uniform(), first);
    }
    EXPECT_NE(worker_generator().uniform(), first);
  }
  EXPECT_EQ(worker_generator(), default_generator(kCPU));
}

}  // namespace
}  // namespace taeda::data
