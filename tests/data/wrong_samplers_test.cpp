// Loaders, data sets and samplers with sizes that are none.
#include "taeda/taeda.h"
#include "tests/wrong_calls.h"

namespace taeda::wrong {
namespace {

namespace S = data::samplers;
using namespace std::chrono_literals;

Tensor numbers() { return arange(4.0f); }
struct Counted : data::datasets::Dataset<Counted> {
  explicit Counted(size_t count) : n(count) {}
  data::Example<> get(size_t) override { return {ones({2}), tensor(1)}; }
  std::optional<size_t> size() const override { return n; }
  size_t n;
};
struct Undefined : data::datasets::Dataset<Undefined> {
  data::Example<> get(size_t) override { return {Tensor(), Tensor()}; }
  std::optional<size_t> size() const override { return 4; }
};
template <class D>
void read_all(D dataset, data::DataLoaderOptions options) {
  auto loader = data::make_data_loader(std::move(dataset), options);
  for (auto& batch : *loader) (void)batch;
}

const std::vector<Row> wrong_data = {
    REFUSED(ValueError, read_all(Counted(4), data::DataLoaderOptions(0)),
            "batch_size should be a positive integer value, but got batch_size=0"),
    REFUSED(ValueError, read_all(Counted(4), data::DataLoaderOptions(2).num_workers(-1)),
            "num_workers option should be non-negative; use num_workers=0 to disable"),
    REFUSED(ValueError, read_all(Counted(4), data::DataLoaderOptions(2).workers(SIZE_MAX)),
            "num_workers option should be non-negative; use num_workers=0 to disable"),
    REFUSED(ValueError,
            read_all(Counted(4), data::DataLoaderOptions(2).prefetch_factor(0).workers(1)),
            "prefetch_factor option should be positive, got 0"),
    REFUSED(ValueError,
            read_all(Counted(4), data::DataLoaderOptions(2).prefetch_factor(-3).workers(1)),
            "prefetch_factor option should be positive, got -3"),
    REFUSED(ValueError,
            read_all(Counted(4), data::DataLoaderOptions(1).prefetch_factor(INT32_MAX).workers(1)),
            "num_workers=1 times prefetch_factor=2147483647 batches to be read ahead are"),
    REFUSED(ValueError, read_all(Counted(4), data::DataLoaderOptions(2).timeout(-5s).workers(1)),
            "timeout option should be non-negative, got -5"),
    REFUSED(ValueError,
            read_all(
                Counted(4),
                data::DataLoaderOptions(2).timeout(std::chrono::duration<double>(kNaN)).workers(1)),
            "timeout option should be non-negative, got nan"),
    REFUSED(Error, read_all(Undefined(), data::DataLoaderOptions(2).pin_memory(true)),
            "pin_memory(): Expected a tensor, but got an undefined Tensor"),
    REFUSED(ValueError, read_all(Counted(0), data::DataLoaderOptions(2)),
            "num_samples should be a positive integer value, but got num_samples=0"),
    REFUSED(ValueError,
            read_all(Counted(4), data::DataLoaderOptions(2).shuffle(true).sampler(
                                     std::make_shared<S::SequentialSampler>(4))),
            "sampler option is mutually exclusive with shuffle"),
    REFUSED(
        IndexError,
        read_all(data::datasets::TensorDataset(numbers(), numbers()),
                 data::DataLoaderOptions(1).sampler(std::make_shared<S::SequentialSampler>(99))),
        "select(): index 4 out of range for tensor of size [4] at dimension 0"),
    REFUSED(
        IndexError,
        read_all(
            data::datasets::TensorDataset(numbers(), numbers()).map(data::transforms::Stack<>()),
            data::DataLoaderOptions(2).sampler(std::make_shared<S::SequentialSampler>(99))),
        "index 4 is out of bounds for dimension 0 with size 4"),
    REFUSED(
        Error,
        [] {
          auto l = data::make_data_loader(Counted(4), data::DataLoaderOptions(1));
          auto it = l->end();
          ++it;
        }(),
        "Incrementing the DataLoader's past-the-end iterator is not allowed"),
    REFUSED(
        Error,
        [] {
          auto l = data::make_data_loader(Counted(4), data::DataLoaderOptions(1));
          *l->end();
        }(),
        "Dereferencing the DataLoader's past-the-end iterator is not allowed"),
    REFUSED(
        ValueError,
        [] {
          auto l = data::make_data_loader(Counted(4), data::DataLoaderOptions(1));
          data::prefetch(*l, kCPU, 0);
        }(),
        "prefetch: expected depth >= 1, got 0"),
    REFUSED(Error, data::datasets::TensorDataset(numbers(), rand({3})),
            "Size mismatch between tensors"),
    REFUSED(Error, data::datasets::TensorDataset(scalar_tensor(1)),
            "Size mismatch between tensors"),
    REFUSED(Error, data::datasets::TensorDataset(Tensor(), Tensor()),
            "Expected a tensor, but got an undefined Tensor (default-constructed, or a"),
    REFUSED(IndexError, data::datasets::TensorDataset(numbers(), numbers()).get(4),
            "select(): index 4 out of range for tensor of size [4] at dimension 0"),
    REFUSED(IndexError, data::datasets::TensorDataset(numbers(), numbers()).get(SIZE_MAX),
            "index 18446744073709551615 is out of range for a dataset of 4 examples"),
    REFUSED(
        IndexError,
        [] {
          std::vector<size_t> i{9};
          data::datasets::TensorDataset(numbers(), numbers()).get_stacked(i);
        }(),
        "index 9 is out of bounds for dimension 0 with size 4"),
    REFUSED(
        IndexError,
        [] {
          std::vector<size_t> i{SIZE_MAX};
          data::datasets::TensorDataset(numbers(), numbers()).get_stacked(i);
        }(),
        "index 18446744073709551615 is out of bounds for dimension 0 with size 4"),
    REFUSED(Error, data::datasets::TensorDataset(std::vector<Tensor>{}),
            "stack expects a non-empty TensorList"),
    REFUSED(Error, data::datasets::TensorDataset(std::vector<Tensor>{numbers(), rand({3})}),
            "stack expects each tensor to be equal size, but got [4] at entry 0 and [3]"),
    REFUSED(ValueError, S::RandomSampler(0),
            "num_samples should be a positive integer value, but got num_samples=0"),
    REFUSED(ValueError, S::RandomSampler(0).next(1),
            "num_samples should be a positive integer value, but got num_samples=0"),
    ACCEPTED(
        [] {
          S::RandomSampler s(4, false, 9);
          s.reset();
          (void)s.next(9);
        }(),
        "PyTorch accepts it"),
    REFUSED(
        ValueError,
        [] {
          S::RandomSampler s(0, true, 9);
          s.reset();
          (void)s.next(9);
        }(),
        "RandomSampler cannot draw 9 samples from 0 examples"),
    REFUSED(ValueError, S::WeightedRandomSampler({}, 3),
            "invalid multinomial distribution (sum of probabilities <= 0)"),
    REFUSED(ValueError, S::WeightedRandomSampler({kNaN}, 3),
            "probability tensor contains either `inf`, `nan` or element < 0"),
    REFUSED(ValueError, S::WeightedRandomSampler({-1, 2}, 3),
            "probability tensor contains either `inf`, `nan` or element < 0"),
    REFUSED(ValueError, S::WeightedRandomSampler({0, 0}, 3),
            "invalid multinomial distribution (sum of probabilities <= 0)"),
    REFUSED(
        ValueError,
        [] {
          S::WeightedRandomSampler s({1, 0}, 2, false);
          s.reset();
          (void)s.next(2);
        }(),
        "invalid multinomial distribution (with replacement=False, not enough"),
    REFUSED(ValueError, S::WeightedRandomSampler({1, 1}, 5, false),
            "invalid multinomial distribution (with replacement=False, not enough"),
    REFUSED(ValueError, S::WeightedRandomSampler({HUGE_VAL, 1}, 2),
            "probability tensor contains either `inf`, `nan` or element < 0"),
    REFUSED(ValueError, S::WeightedRandomSampler({1e308, 1e308}, 2),
            "invalid multinomial distribution (the sum of the weights is no number)"),
    REFUSED(ValueError, S::DistributedSampler(4, 0, 0), "num_replicas should be positive, got 0"),
    REFUSED(ValueError, S::DistributedSampler(4, 2, 2),
            "Invalid rank 2, rank should be in the interval [0, 1]"),
    REFUSED(ValueError, S::DistributedRandomSampler(4, 0),
            "num_replicas should be positive, got 0"),
    REFUSED(ValueError, S::DistributedSequentialSampler(4, 2, 5),
            "Invalid rank 5, rank should be in the interval [0, 1]"),
    REFUSED(ValueError, S::BatchSampler(nullptr, 2),
            "BatchSampler expects a sampler, but got a null pointer"),
    REFUSED(ValueError, S::BatchSampler(std::make_shared<S::SequentialSampler>(4), 0),
            "batch_size should be a positive integer value, but got batch_size=0"),
    ACCEPTED(
        [] {
          S::BatchSampler s(std::make_shared<S::SequentialSampler>(4), SIZE_MAX);
          return s.batches();
        }(),
        "PyTorch accepts it"),
    REFUSED(
        ValueError,
        [] {
          S::StatefulDistributedSampler s(4, 1, 0);
          auto d = s.state_dict();
          for (auto& i : d) i.value() = kNaN;
          s.load_state_dict(d);
        }(),
        "sampler state: expected a count as 'yielded', got nan"),
    REFUSED(
        ValueError,
        [] {
          S::StatefulDistributedSampler s(4, 1, 0);
          auto d = s.state_dict();
          for (auto& i : d) i.value() = -1;
          s.load_state_dict(d);
        }(),
        "sampler state: expected a count as 'yielded', got -1"),
    REFUSED(
        ValueError,
        [] {
          S::StatefulDistributedSampler s(4, 1, 0);
          auto d = s.state_dict();
          for (auto& i : d) i.value() = 1e300;
          s.load_state_dict(d);
        }(),
        "sampler state: expected a count as 'yielded', got 1e+300"),
    ACCEPTED(S::SubsetRandomSampler({}).next(1), "PyTorch accepts it"),
};

TEST(WrongSamplers, AreRefused) { check(wrong_data); }

}  // namespace
}  // namespace taeda::wrong
