// Samplers, loaders, datasets and tables with counts, indices and files that are none.
#include "tests/wrong_calls.h"

#include "taeda/data/batch_size.h"
#include "taeda/data/chunk_dataset.h"
#include "taeda/data/csv.h"
#include "taeda/data/distributed_sampler.h"
#include "taeda/taeda.h"
#include "tests/io/temporary_folder.h"

namespace taeda::wrong {
namespace {

using namespace data;
using namespace data::samplers;
using namespace data::datasets;

/// A file with this content.
std::string csv(const std::string& content) {
  static const TemporaryFolder folder;
  const std::string path = folder / "table.csv";
  std::ofstream(path, std::ios::binary) << content;
  return path;
}
using Weights = std::vector<double>;
TensorDataset<2> rows(int64_t n = 4) { return TensorDataset<2>(ones({n, 2}), zeros({n})); }
auto loader(LoaderConfig config) { return DataLoader(rows(), std::move(config)); }
auto options() { return DataLoaderOptions(); }
template <class T>
void drain(T&& l) {
  for (auto& b : l) (void)b;
}
BatchSizeReport sizes(int64_t start, int64_t max, Device d = kCPU) {
  return find_batch_size([](int64_t) {}, {.device = d, .start = start, .max = max});
}
SamplerState sampler_state(const std::string& k, double v) {
  SamplerState s;
  s.insert(k, v);
  return s;
}

const std::vector<Row> rows_1 = {
    REFUSED(ValueError, RandomSampler(0),
            "num_samples should be a positive integer value, but got num_samples=0"),
    REFUSED(ValueError, RandomSampler(3, true, 0),
            "num_samples should be a positive integer value, but got num_samples=0"),
    REFUSED(ValueError, RandomSampler(-1),
            "num_samples should be a positive integer value, but got num_samples=-1"),
    REFUSED(ValueError, RandomSampler(-1, false, 3),
            "RandomSampler cannot draw 3 samples from -1 examples"),
    ACCEPTED(RandomSampler(3, false, 9).next(9), "whole rounds are drawn, as in PyTorch"),
    REFUSED(ValueError, RandomSampler(3).reset(0), "RandomSampler cannot draw from 0 examples"),
    REFUSED(OutOfMemoryError, RandomSampler(kHuge).next(1),
            "a sampler's 4611686018427387904 indices do not fit into memory"),
    REFUSED(OutOfMemoryError, RandomSampler(3, true, kHuge).next(1),
            "a sampler's 4611686018427387904 indices do not fit into memory"),
    ACCEPTED(RandomSampler(3).next(0), "nothing is asked for"),
    ACCEPTED(SequentialSampler(3).next(0), "nothing is asked for"),
    ACCEPTED(SequentialSampler(0).next(1), "an epoch of nothing"),
    ACCEPTED(SubsetRandomSampler({}).next(1), "PyTorch accepts it"),
    REFUSED(ValueError, WeightedRandomSampler({}, 1),
            "invalid multinomial distribution (sum of probabilities <= 0)"),
    REFUSED(ValueError, WeightedRandomSampler({1, 2}, 0),
            "num_samples should be a positive integer value, but got num_samples=0"),
    REFUSED(ValueError, WeightedRandomSampler({1, -1}, 1),
            "probability tensor contains either `inf`, `nan` or element < 0"),
    REFUSED(ValueError, WeightedRandomSampler({0, 0}, 1),
            "invalid multinomial distribution (sum of probabilities <= 0)"),
    REFUSED(ValueError, WeightedRandomSampler({1, kNaN}, 1),
            "probability tensor contains either `inf`, `nan` or element < 0"),
    REFUSED(ValueError, WeightedRandomSampler({1, HUGE_VAL}, 1),
            "probability tensor contains either `inf`, `nan` or element < 0"),
    REFUSED(
        ValueError, WeightedRandomSampler({1, 0}, 2, false),
        "invalid multinomial distribution (with replacement=False, not enough non-negative cate"),
    REFUSED(
        ValueError, WeightedRandomSampler({1, 1}, 3, false),
        "invalid multinomial distribution (with replacement=False, not enough non-negative cate"),
    REFUSED(ValueError, DistributedSampler(4, 0, 0), "num_replicas should be positive, got 0"),
    REFUSED(ValueError, DistributedSampler(4, 2, 2),
            "Invalid rank 2, rank should be in the interval [0, 1]"),
    ACCEPTED(DistributedSampler(0, 2, 1).next(1), "an epoch of nothing"),
    ACCEPTED(DistributedSampler(kHuge, kHuge, 1, false).size(),
             "nothing is allocated before an epoch begins"),
    REFUSED(ValueError, DistributedRandomSampler(4, 2, 5),
            "Invalid rank 5, rank should be in the interval [0, 1]"),
    REFUSED(ValueError, DistributedSequentialSampler(4, 0, 0),
            "num_replicas should be positive, got 0"),
    REFUSED(ValueError,
            DistributedSampler(4, 2, 1).load_state_dict(sampler_state("num_replicas", 3)),
            "sampler state: it is of 3 replicas, but this sampler has num_replicas=2"),
    REFUSED(ValueError, DistributedSampler(4, 2, 1).load_state_dict(sampler_state("epoch", -1)),
            "sampler state: expected a count as 'epoch', got -1"),
    REFUSED(ValueError, DistributedSampler(4, 2, 1).load_state_dict(sampler_state("epoch", kNaN)),
            "sampler state: expected a count as 'epoch', got nan"),
    REFUSED(ValueError, DistributedSampler(4, 2, 1).load_state_dict(sampler_state("nothing", 1)),
            "sampler state: DistributedSampler has no 'nothing'"),
    REFUSED(ValueError, SequentialSampler(4).load_state_dict(sampler_state("epoch", 1)),
            "sampler state: this sampler has no 'epoch'"),
    REFUSED(ValueError, BatchSampler(nullptr, 2),
            "BatchSampler expects a sampler, but got a null pointer"),
    REFUSED(ValueError, BatchSampler(std::make_shared<SequentialSampler>(3), 0),
            "batch_size should be a positive integer value, but got batch_size=0"),
    ACCEPTED(StreamSampler(3).next(0), "nothing is asked for"),
    REFUSED(ValueError, loader({.batch_size = 0}),
            "batch_size should be a positive integer value, but got batch_size=0"),
    REFUSED(
        ValueError, loader({.num_workers = -1}),
        "num_workers option should be non-negative; use num_workers=0 to disable multithreading"),
    REFUSED(ValueError, loader({.prefetch_factor = 0}),
            "prefetch_factor option should be positive, got 0"),
    REFUSED(ValueError, loader({.prefetch_factor = -2}),
            "prefetch_factor option should be positive, got -2"),
    REFUSED(ValueError, loader({.num_workers = 1, .prefetch_factor = 0}),
            "prefetch_factor option should be positive, got 0"),
    REFUSED(ValueError, loader({.timeout = -1}), "timeout option should be non-negative, got -1"),
    REFUSED(ValueError, loader({.timeout = kNaN}),
            "timeout option should be non-negative, got nan"),
    ACCEPTED(loader({.num_workers = 1, .timeout = HUGE_VAL}), "it waits forever, as with 0"),
    ACCEPTED(loader({.timeout = 1}), "without workers nobody is waited for"),
    REFUSED(ValueError,
            loader({.shuffle = true, .sampler = std::make_shared<SequentialSampler>(4)}),
            "sampler option is mutually exclusive with shuffle"),
    REFUSED(IndexError, drain(loader({.sampler = std::make_shared<SequentialSampler>(9)})),
            "index 4 is out of bounds for dimension 0 with size 4"),
    REFUSED(
        IndexError,
        drain(loader({.sampler = std::make_shared<SubsetRandomSampler>(std::vector<size_t>{7})})),
        "index 7 is out of bounds for dimension 0 with size 4"),
    REFUSED(IndexError,
            drain(loader({.num_workers = 2, .sampler = std::make_shared<SequentialSampler>(9)})),
            "index 4 is out of bounds for dimension 0 with size 4"),
    ACCEPTED(drain(DataLoader(rows(0), {})), "PyTorch accepts it"),
    REFUSED(ValueError, drain(DataLoader(rows(0), {.shuffle = true})),
            "num_samples should be a positive integer value, but got num_samples=0"),
    ACCEPTED(drain(DataLoader(rows(1), {.batch_size = 4, .drop_last = true})),
             "PyTorch accepts it"),
    ACCEPTED(loader({.batch_size = size_t(kHuge)}), "PyTorch accepts it"),
    ACCEPTED(drain(loader({.batch_size = size_t(kHuge)})), "one batch of all there is"),
    ACCEPTED(drain(loader({.batch_size = size_t(-1)})), "one batch of all there is"),
    REFUSED(
        ValueError, drain(loader({.batch_size = 2, .num_workers = 1, .prefetch_factor = 1 << 30})),
        "num_workers=1 times prefetch_factor=1073741824 batches to be read ahead are more than"),
    REFUSED(ValueError, options().batch_size(0).config(),
            "batch_size should be a positive integer value, but got batch_size=0"),
    REFUSED(
        ValueError, options().workers(size_t(-1)).config(),
        "num_workers option should be non-negative; use num_workers=0 to disable multithreading"),
    REFUSED(ValueError, options().timeout(std::chrono::seconds(-1)).config(),
            "timeout option should be non-negative, got -1"),
    ACCEPTED(options().max_jobs(0).config(), "one batch is under way, or nothing would come"),
    REFUSED(ValueError, make_data_loader(rows(), options().batch_size(0)),
            "batch_size should be a positive integer value, but got batch_size=0"),
    REFUSED(
        ValueError, make_data_loader(rows(), options().workers(size_t(-3))),
        "num_workers option should be non-negative; use num_workers=0 to disable multithreading"),
    REFUSED(Error, TensorDataset<2>(ones({3}), ones({4})), "Size mismatch between tensors"),
    REFUSED(Error, TensorDataset<2>(ones({3}), tensor(1)), "Size mismatch between tensors"),
};

const std::vector<Row> rows_2 = {
    REFUSED(Error, TensorDataset<1>(tensor(1)), "Size mismatch between tensors"),
    REFUSED(
        Error, TensorDataset<2>(Tensor(), ones({4})),
        "Expected a tensor, but got an undefined Tensor (default-constructed, or a gradient tha"),
    REFUSED(
        Error, TensorDataset<2>(ones({4}), Tensor()),
        "Expected a tensor, but got an undefined Tensor (default-constructed, or a gradient tha"),
    REFUSED(Error, TensorDataset<1>(std::vector<Tensor>{}), "stack expects a non-empty TensorList"),
    REFUSED(
        Error, TensorDataset<1>(std::vector<Tensor>{ones({2}), ones({3})}),
        "stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1"),
    REFUSED(
        Error, TensorDataset<1>(std::vector<Tensor>{Tensor()}),
        "Expected a tensor, but got an undefined Tensor (default-constructed, or a gradient tha"),
    REFUSED(IndexError, rows().get(size_t(-1)),
            "index 18446744073709551615 is out of range for a dataset of 4 examples"),
    REFUSED(ValueError, transforms::Lambda<Example<>>(std::function<Example<>(Example<>)>()),
            "transforms::Lambda expects a function, but got an empty one"),
    REFUSED(IndexError, rows().get(4),
            "select(): index 4 out of range for tensor of size [4, 2] at dimension 0"),
    REFUSED(IndexError, rows().get_batch(std::vector<size_t>{0, 9}),
            "select(): index 9 out of range for tensor of size [4, 2] at dimension 0"),
    REFUSED(IndexError, rows().get_stacked(std::vector<size_t>{9}),
            "index 9 is out of bounds for dimension 0 with size 4"),
    ACCEPTED(rows().map(transforms::Normalize<>(0.5, 0.0)).get_batch({0}),
             "PyTorch accepts it: infinities"),
    ACCEPTED(transforms::Normalize<>(0.5, kNaN), "PyTorch accepts it"),
    REFUSED(Error, transforms::Stack<>().apply_batch({}), "collate expects at least one example"),
    REFUSED(
        Error, transforms::Stack<>().apply_batch({{ones({2}), ones({2})}, {ones({3}), ones({2})}}),
        "stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1"),
    REFUSED(
        Error, transforms::Stack<>().apply_batch({{Tensor(), ones({2})}}),
        "Expected a tensor, but got an undefined Tensor (default-constructed, or a gradient tha"),
    REFUSED(Error, read_csv("/nowhere/x.csv"),
            "cannot read /nowhere/x.csv: No such file or directory"),
    REFUSED(Error, read_csv("/"), "cannot read /: it is a folder"),
    REFUSED(Error, read_csv(""), "cannot read : No such file or directory"),
    REFUSED(Error, read_csv(csv("a,b\n1,2\n3\n")), "3: expected 2 fields, got 1"),
    REFUSED(Error, read_csv(csv("a,b\n1,\"2\n")), "2: a quote has no end"),
    REFUSED(ValueError, read_csv(csv("a,b\n"), '\n'),
            "read_csv: quotes and line ends cannot be delimiters, but got character 10"),
    REFUSED(ValueError, read_csv(csv("a,b\n"), '"'),
            "read_csv: quotes and line ends cannot be delimiters, but got character 34"),
    REFUSED(Error, CSVDataset(csv("a,b\n1,x\nz,y\n")), "row 2, column 'a' is no number: 'z'"),
    REFUSED(IndexError, CSVDataset(csv("a,b\n1,2\n"), {.target = 2}),
            "has 2 columns, but the target is column 2"),
    REFUSED(IndexError, CSVDataset(csv("a,b\n1,2\n"), {.target = -3}),
            "has 2 columns, but the target is column -3"),
    REFUSED(IndexError, CSVDataset(csv("a,b\n1,2\n"), {.target = std::string("c")}),
            "has no column 'c'"),
    REFUSED(Error, CSVDataset(csv("")), "holds no rows"),
    REFUSED(Error, CSVDataset(csv("a,b\n")), "holds no rows"),
    ACCEPTED(CSVDataset(csv("a\n1\n")), "examples of no features"),
    REFUSED(Error, CSVDataset(csv("a,b\n1e999,2\n")), "row 1, column 'a' is no number: '1e999'"),
    REFUSED(Error, CSVDataset(csv("a,b\n1,\n")), "row 1, column 'b' holds no value: ''"),
    REFUSED(IndexError, CSVDataset(csv("a,b\n1,2\n"), {.categories = {"c"}}),
            "has no column 'c'; there are: a, b"),
    REFUSED(ValueError, CSVDataset(csv("a,b\n,2\n"), {.categories = {"a"}}),
            "the category 'a' holds no words"),
    REFUSED(ValueError, sizes(0, 4),
            "find_batch_size: expected 1 <= start <= max, got start 0 and max 4"),
    REFUSED(ValueError, sizes(-1, 4),
            "find_batch_size: expected 1 <= start <= max, got start -1 and max 4"),
    REFUSED(ValueError, sizes(8, 4),
            "find_batch_size: expected 1 <= start <= max, got start 8 and max 4"),
    ACCEPTED(sizes(1, kHuge), "the step decides what fits"),
    REFUSED(ValueError, find_batch_size(nullptr, {.device = kCPU}),
            "find_batch_size: expected a step to try, but got an empty function"),
    REFUSED(Error, sizes(1, 4, Device("sim:99")), "invalid device ordinal: sim:99 was asked for"),
    REFUSED(ValueError, ChunkDatasetOptions(0, 1),
            "Preloader count is 0. At least one is required."),
    REFUSED(ValueError, ChunkDatasetOptions(1, 0), "Batch size is 0. At least one is required."),
    REFUSED(ValueError, ChunkDatasetOptions(1, 4, 2), "Cache size 2 is less than batch size 4."),
    REFUSED(ValueError,
            (ChunkDatasetConfig{.preloader_count = 1, .batch_size = 4, .cache_size = 2}.check()),
            "Cache size 2 is less than batch size 4."),
    REFUSED(ValueError, ChunkDatasetOptions(1, 1, 1, 0),
            "cross_chunk_shuffle_count is 0. At least one is required."),
    REFUSED(ValueError, loader({}).load_state_dict({}),
            "DataLoader state: 'batch_size' is missing"),
};

TEST(WrongCallsOfData, AreRefused) {
  check(rows_1);
  check(rows_2);
}

}  // namespace
}  // namespace taeda::wrong
