// When to stop, and which state to keep: what a run asks after each validation.
//
//     training::EarlyStopping stopping({.patience = 5});
//     training::BestCheckpoint best("run/best.safetensors");
//     for (int epoch = 0; epoch < 100; ++epoch) {
//       const double loss = validate(net);
//       best.update(loss, [&](io::Checkpoint& c) { c.put("model", net).set("epoch", epoch); });
//       if (stopping.update(loss)) break;
//     }
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "taeda/io/checkpoint.h"

namespace taeda::inline v0_2::training {

/// Which of two values is better; a lower one by default.
enum class Better : uint8_t { Lower, Higher };

struct EarlyStoppingOptions {
  /// the values in a row that are no better before it stops, at least 1
  int64_t patience = 5;
  double min_delta = 0;           ///< by how much a value must be better to count; not negative
  Better better = Better::Lower;  ///< Lower, the default, for losses, Higher for accuracies
};

/// Says when a run has stopped to get better. A patience below 1 is refused with ValueError.
class EarlyStopping {
 public:
  /// Throws ValueError for a patience below 1 and a min_delta that is negative or not a number.
  explicit EarlyStopping(EarlyStoppingOptions options = {});

  /// Takes the value of the next validation; true when the run should stop. A value that is not a
  /// number is never better.
  bool update(double value);
  /// Whether the last value was the best so far; false before the first.
  bool improved() const { return values_ > 0 && since_best_ == 0; }
  /// The best value, and its place among all, counted from 0. None before the first number.
  std::optional<double> best() const { return best_; }
  int64_t best_index() const { return values_ - 1 - since_best_; }

  /// Where it stands: `c.put("stopping", stopping)` of a checkpoint. Loading throws ValueError for
  /// numbers of something else.
  OrderedDict<std::string, double> state_dict() const;
  void load_state_dict(const OrderedDict<std::string, double>& state);

 private:
  EarlyStoppingOptions options_;
  std::optional<double> best_;
  int64_t values_ = 0, since_best_ = 0;
};

/// Keeps the state that had the best value in one file; a file that cannot be written is an Error.
class BestCheckpoint {
 public:
  /// Goes on from what an earlier run left at `path`; it is not overwritten by what is worse.
  /// Throws Error for a file there that is damaged, ValueError for one that is no such checkpoint.
  explicit BestCheckpoint(std::string path, Better better = Better::Lower);

  /// Where `value` is better than all before it: lets `fill` put the state into a checkpoint, adds
  /// the number "value" and replaces the file in one step. Whether it did. What `fill` throws and
  /// an error of the file system leave the old file and value.
  bool update(double value, const std::function<void(io::Checkpoint&)>& fill);
  std::optional<double> best() const { return best_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  Better better_;
  std::optional<double> best_;
};

}  // namespace taeda::inline v0_2::training
