// A dataset divided into parts that share no example: for training, validation and tests.
//
//     auto parts = data::random_split(dataset, {0.8, 0.2});
//     data::DataLoader training(parts[0], {.batch_size = 64, .shuffle = true}), tests(parts[1]);
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "taeda/data/dataset.h"
#include "taeda/device/generator_arg.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::data {

/// Indices of examples, from 0 to below the size of their dataset.
using Indices = std::vector<size_t>;

/// A part of a dataset: a fraction, between 0 and 1, or a number of examples.
struct Part {
  template <class T>  // NOLINTNEXTLINE: `{0.8, 0.2}` is what one writes
  requires std::is_arithmetic_v<T> Part(T value) : amount(static_cast<double>(value)) {}
  double amount;
};

/// How many of `size` examples each part has. Where `parts` are fractions that sum to 1, what is
/// left when each is rounded down goes to the parts in turn (torch.utils.data.random_split), and a
/// part of none is warned of; else they are numbers of examples. Throws ValueError for a fraction
/// outside of 0 to 1, and for numbers that are negative, not whole, or do not sum to `size`.
std::vector<size_t> split_lengths(size_t size, ArrayRef<Part> parts);

/// `size` examples in random order, divided into parts of `split_lengths(size, parts)`. The order
/// is that of randperm: equal to PyTorch's for the same generator.
std::vector<Indices> random_split(size_t size, ArrayRef<Part> parts,
                                  GeneratorArg generator = nullptr);

/// The same so that each class has its share in each part, up to one example: `labels` are whole
/// numbers, one an example, shape (N). Indices of a part ascend. Throws TypeError for labels that
/// are not whole numbers.
std::vector<Indices> stratified_split(const Tensor& labels, ArrayRef<Part> parts,
                                      GeneratorArg generator = nullptr);

/// One of k ways to hold a part of the examples back; both parts have at least one.
struct Fold {
  Indices training, validation;  ///< ascending indices, together all examples; neither is empty
};

/// Each example is held back in exactly one of `k` folds, whose sizes differ by at most one; in
/// random order, or in blocks of neighbours without `shuffle`. Throws ValueError unless k is from 2
/// to `size`.
std::vector<Fold> k_fold(size_t size, int64_t k, bool shuffle = true,
                         GeneratorArg generator = nullptr);

/// The same so that each class is spread evenly over the folds. `labels` as for stratified_split.
/// Throws ValueError unless k is from 2 to the number of examples.
std::vector<Fold> stratified_k_fold(const Tensor& labels, int64_t k, bool shuffle = true,
                                    GeneratorArg generator = nullptr);

/// The parts of `dataset`, as subsets that hold a copy of it each: share one that is large
/// (`make_shared_dataset`). Throws ValueError as split_lengths does.
template <class D>
requires requires(const D& d) { d.size().value(); }
std::vector<datasets::Subset<D>> random_split(const D& dataset, ArrayRef<Part> parts,
                                              GeneratorArg generator = nullptr) {
  std::vector<datasets::Subset<D>> out;
  for (Indices& part : random_split(dataset.size().value(), parts, generator))
    out.emplace_back(dataset, std::move(part));
  return out;
}

}  // namespace taeda::inline v0_2::data
