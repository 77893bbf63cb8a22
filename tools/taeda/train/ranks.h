// The processes that train one model together, as one of them sees it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "taeda/data/example.h"
#include "taeda/tensor/tensor.h"

namespace taeda::tool {

/// What a process has for itself and a checkpoint must keep.
using RankState = std::map<std::string, Tensor>;

/// A process's share of a batch that all have read.
struct Share {
  Tensor data, target;
  /// What its mean loss counts in the average over the ranks, so that this is the whole batch's
  /// mean: 1 where all shares have the same size.
  double weight = 1;
  int64_t first_target = 0;  ///< among the batch's targets
  bool empty() const { return data.size(0) == 0; }
};

/// This process's number among those of the run, and what they tell one another. All of them make
/// the same calls in the same order.
class Ranks {
 public:
  /// One process alone: what is told is what was said.
  Ranks() = default;
  /// Whether the environment says that this process is one of several.
  static bool told_by_environment();
  /// Joins the others. Throws UsageError unless the environment says that there are `nproc`.
  static Ranks join(int64_t nproc);
  /// Ends the exchange, when all have called it.
  void leave() const;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// By its number on this machine: which device it has.
  int local_rank() const { return local_rank_; }
  /// The one that reports and writes files.
  bool leads() const { return rank_ == 0; }

  /// Rows one behind the other, divided as evenly as can be; the first ranks have one more.
  Share share_of(const data::Example<>& batch) const;
  /// Whether one of them says yes.
  bool any(bool mine) const;
  /// Adds up what each has.
  void add_up(const Tensor& values) const;
  std::vector<double> sum(const std::vector<double>& mine) const;
  /// On the leading rank what each has, by rank; on the others nothing. Names, shapes and dtypes
  /// are the same on all.
  std::vector<RankState> gather(const RankState& mine) const;
  /// Gives each rank but the leading one random numbers of its own.
  void separate_random_numbers(int64_t seed) const;

 private:
  int rank_ = 0, size_ = 1, local_rank_ = 0;
};

}  // namespace taeda::tool
