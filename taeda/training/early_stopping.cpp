#include "taeda/training/early_stopping.h"

#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::training {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Whether `value` is better than `best` by more than `delta`; a number is better than none.
bool is_better(double value, const std::optional<double>& best, Better better, double delta) {
  if (std::isnan(value)) return false;
  if (!best) return true;
  return better == Better::Lower ? value < *best - delta : value > *best + delta;
}

}  // namespace

EarlyStopping::EarlyStopping(EarlyStoppingOptions options) : options_(options) {
  TAEDA_CHECK_VALUE(options.patience >= 1,
                    "EarlyStopping: expected patience to be at least 1, but got ",
                    options.patience);
  TAEDA_CHECK_VALUE(options.min_delta >= 0,
                    "EarlyStopping: expected min_delta to be 0 or more, but got ",
                    options.min_delta);
}

bool EarlyStopping::update(double value) {
  ++values_;
  if (is_better(value, best_, options_.better, options_.min_delta)) {
    best_ = value;
    since_best_ = 0;
  } else {
    ++since_best_;
  }
  return since_best_ >= options_.patience;
}

OrderedDict<std::string, double> EarlyStopping::state_dict() const {
  OrderedDict<std::string, double> out;
  out.insert("best", best_.value_or(kNaN));
  out.insert("values", static_cast<double>(values_));
  out.insert("since_best", static_cast<double>(since_best_));
  return out;
}

void EarlyStopping::load_state_dict(const OrderedDict<std::string, double>& state) {
  for (const char* name : {"best", "values", "since_best"})
    TAEDA_CHECK_VALUE(state.contains(name), "EarlyStopping: the state has no ", name);
  const double values = state["values"], since_best = state["since_best"];
  TAEDA_CHECK_VALUE(values >= since_best && since_best >= 0, "EarlyStopping: ", since_best, " of ",
                    values, " values since the best one cannot be");
  best_ = std::isnan(state["best"]) ? std::nullopt : std::optional(state["best"]);
  values_ = static_cast<int64_t>(values);
  since_best_ = static_cast<int64_t>(since_best);
}

BestCheckpoint::BestCheckpoint(std::string path, Better better)
    : path_(std::move(path)), better_(better) {
  if (std::filesystem::exists(path_))
    best_ = io::Checkpoint::load(path_, /*mmap=*/true).number("value");
}

bool BestCheckpoint::update(double value, const std::function<void(io::Checkpoint&)>& fill) {
  if (!is_better(value, best_, better_, 0)) return false;
  io::Checkpoint checkpoint;
  fill(checkpoint);
  checkpoint.set("value", value);
  checkpoint.save(path_);
  best_ = value;
  return true;
}

}  // namespace taeda::inline v0_2::training
