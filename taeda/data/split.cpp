#include "taeda/data/split.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "taeda/base/error.h"
#include "taeda/base/warning.h"
#include "taeda/ops/random/random.h"

namespace taeda::inline v0_2::data {

namespace {

constexpr double kLargest = 1e15;  // examples

bool are_fractions(double sum) { return sum <= 1 && sum > 1 - 1e-9; }

Indices in_order(size_t size) {
  Indices out(size);
  std::iota(out.begin(), out.end(), size_t{0});
  return out;
}

Indices shuffled(size_t size, GeneratorArg generator) {
  const Tensor order = randperm(static_cast<int64_t>(size), generator);
  const auto* at = order.data_ptr<int64_t>();
  return {at, at + size};
}

/// The examples of each class, classes in ascending order.
std::vector<Indices> by_class(const char* caller, const Tensor& labels) {
  TAEDA_CHECK_TYPE(is_integral(labels.scalar_type(), /*include_bool=*/true), caller,
                   ": expected labels of a whole-number type, but got ", labels.scalar_type());
  TAEDA_CHECK_VALUE(labels.dim() == 1, caller, ": expected labels of shape (N), but got ",
                    labels.sizes());
  const Tensor plain = labels.to(kCPU, kLong).contiguous();
  std::map<int64_t, Indices> classes;
  for (int64_t i = 0; i < plain.numel(); ++i)
    classes[plain.data_ptr<int64_t>()[i]].push_back(static_cast<size_t>(i));
  std::vector<Indices> out;
  for (auto& [label, members] : classes) out.push_back(std::move(members));
  return out;
}

Indices permuted(const Indices& members, GeneratorArg generator) {
  Indices out;
  out.reserve(members.size());
  for (const size_t i : shuffled(members.size(), generator)) out.push_back(members[i]);
  return out;
}

void check_folds(const char* caller, size_t size, int64_t k) {
  TAEDA_CHECK_VALUE(k >= 2 && static_cast<size_t>(k) <= size, caller,
                    ": expected a number of folds from 2 to that of examples, ", size, ", but got ",
                    k);
}

/// The folds that hold back the examples of `fold_of` with their number.
std::vector<Fold> to_folds(const std::vector<size_t>& fold_of, int64_t k) {
  std::vector<Fold> out(static_cast<size_t>(k));
  for (size_t i = 0; i < fold_of.size(); ++i)
    for (size_t f = 0; f < out.size(); ++f)
      (f == fold_of[i] ? out[f].validation : out[f].training).push_back(i);
  return out;
}

}  // namespace

std::vector<size_t> split_lengths(size_t size, ArrayRef<Part> parts) {
  double sum = 0;
  for (const Part& part : parts) sum += part.amount;
  const bool fractions = are_fractions(sum);
  std::vector<size_t> out;
  for (size_t i = 0; i < parts.size(); ++i) {
    const double part = parts[i].amount;
    if (fractions) {
      TAEDA_CHECK_VALUE(part >= 0 && part <= 1, "Fraction at index ", i,
                        " is not between 0 and 1");
    } else {
      TAEDA_CHECK_VALUE(sum == static_cast<double>(size),
                        "Sum of input lengths does not equal the length of the input dataset!");
      TAEDA_CHECK_VALUE(part >= 0 && part <= kLargest && part == std::floor(part),
                        "random_split: part ", i, " is no number of examples: ", part);
    }
    out.push_back(
        static_cast<size_t>(std::floor(fractions ? static_cast<double>(size) * part : part)));
  }
  const size_t given = std::accumulate(out.begin(), out.end(), size_t{0});
  for (size_t i = 0; i + given < size; ++i) ++out[i % out.size()];
  for (size_t i = 0; i < out.size(); ++i)
    if (fractions && out[i] == 0)
      TAEDA_WARN("Length of split at index ", i,
                 " is 0. This might result in an empty dataset.");
  return out;
}

std::vector<Indices> random_split(size_t size, ArrayRef<Part> parts, GeneratorArg generator) {
  const std::vector<size_t> lengths = split_lengths(size, parts);
  const Indices order = shuffled(size, generator);
  std::vector<Indices> out;
  auto at = order.begin();
  for (const size_t length : lengths) {
    const auto end = at + static_cast<ptrdiff_t>(length);
    out.emplace_back(at, end);
    at = end;
  }
  return out;
}

/// Classes are dealt one after the other, each by what the parts still lack, so that what rounding
/// takes from a part in one class comes back in the next, and each part gets its length exactly.
std::vector<Indices> stratified_split(const Tensor& labels, ArrayRef<Part> parts,
                                      GeneratorArg generator) {
  const std::vector<Indices> classes = by_class("stratified_split", labels);
  const auto size = static_cast<size_t>(labels.numel());
  std::vector<size_t> left = split_lengths(size, parts);
  std::vector<Indices> out(left.size());
  size_t remaining = size;
  for (const Indices& members : classes) {
    const Indices order = permuted(members, generator);
    std::vector<size_t> take(left.size()), lacking(left.size());
    std::vector<size_t> remainder(left.size());
    for (size_t p = 0; p < left.size(); ++p) {
      take[p] = order.size() * left[p] / remaining;
      remainder[p] = order.size() * left[p] % remaining;
      lacking[p] = p;
    }
    std::ranges::stable_sort(lacking, std::ranges::greater(),
                             [&](size_t p) { return remainder[p]; });
    const size_t taken = std::accumulate(take.begin(), take.end(), size_t{0});
    for (size_t i = 0; taken + i < order.size(); ++i) ++take[lacking[i]];
    size_t at = 0;
    for (size_t p = 0; p < left.size(); ++p) {
      out[p].insert(out[p].end(), order.begin() + static_cast<ptrdiff_t>(at),
                    order.begin() + static_cast<ptrdiff_t>(at + take[p]));
      at += take[p];
      left[p] -= take[p];
    }
    remaining -= order.size();
  }
  for (Indices& part : out) std::ranges::sort(part);
  return out;
}

std::vector<Fold> k_fold(size_t size, int64_t k, bool shuffle, GeneratorArg generator) {
  check_folds("k_fold", size, k);
  const Indices order = shuffle ? shuffled(size, generator) : in_order(size);
  const size_t folds = static_cast<size_t>(k), least = size / folds, longer = size % folds;
  std::vector<size_t> fold_of(size);
  size_t at = 0;
  for (size_t f = 0; f < folds; ++f)
    for (size_t n = least + (f < longer ? 1 : 0); n > 0; --n) fold_of[order[at++]] = f;
  return to_folds(fold_of, k);
}

std::vector<Fold> stratified_k_fold(const Tensor& labels, int64_t k, bool shuffle,
                                    GeneratorArg generator) {
  const std::vector<Indices> classes = by_class("stratified_k_fold", labels);
  const auto size = static_cast<size_t>(labels.numel());
  check_folds("stratified_k_fold", size, k);
  std::vector<size_t> fold_of(size);
  size_t next = 0;  // goes on from class to class, so that folds stay of one size
  for (const Indices& members : classes)
    for (const size_t i : shuffle ? permuted(members, generator) : members)
      fold_of[i] = next++ % static_cast<size_t>(k);
  return to_folds(fold_of, k);
}

}  // namespace taeda::inline v0_2::data
