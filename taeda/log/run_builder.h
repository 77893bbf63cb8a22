// The runs of a grid search.
//
//     for (const Run& run : RunBuilder::get_runs({{"lr", {.01, .001}}, {"device", {"cpu",
//     "cuda"}}}))
//       train(run.get<double>("lr"), run.get<std::string>("device"));
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/log/hparams.h"

namespace taeda::inline v0_2::logging {

/// One value for each parameter of a run, by name and in order; empty for a run without any.
class Run {
 public:
  Run() = default;
  explicit Run(HParams values) : values_(std::move(values)) {}

  const HParams& values() const { return values_; }
  /// The value of a parameter by its name, or nullptr.
  const HParam* find(std::string_view name) const;
  /// The value as T (bool, a number, std::string). Throws IndexError for a name that the run does
  /// not have, TypeError when the value is of another kind; integers count as floating point.
  template <class T>
  T get(std::string_view name) const {
    const HParam* value = find(name);
    TAEDA_CHECK_INDEX(value, "the run has no parameter '", name, "': ", str());
    return convert<T>(name, *value);
  }
  /// The value of a parameter, or `otherwise`, for a run without it; a value of another type is an
  /// Error.
  template <class T>
  T get(std::string_view name, T otherwise) const {
    const HParam* value = find(name);
    return value ? convert<T>(name, *value) : otherwise;
  }
  /// The run as Python prints a named tuple, "Run(lr=0.01, batch_size=1000, device='cuda')";
  /// "Run()" if empty.
  std::string str() const;

  friend bool operator==(const Run&, const Run&) = default;

 private:
  template <class T>
  static T convert(std::string_view name, const HParam& value);

  HParams values_;
};

/// Makes the Cartesian product of lists of values: the last parameter changes fastest, and an empty
/// list gives no runs.
struct RunBuilder {
  using Grid = std::vector<std::pair<std::string, std::vector<HParam>>>;
  /// Throws ValueError for a name that comes twice and a parameter without values.
  static std::vector<Run> get_runs(const Grid& params);
};

template <class T>
T Run::convert(std::string_view name, const HParam& value) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
    if (const T* found = std::get_if<T>(&value)) return *found;
  } else {
    static_assert(std::is_arithmetic_v<T>, "a parameter is a bool, a number or a std::string");
    if (const auto* n = std::get_if<int64_t>(&value)) return static_cast<T>(*n);
    if constexpr (std::is_floating_point_v<T>)
      if (const auto* x = std::get_if<double>(&value)) return static_cast<T>(*x);
  }
  throw TypeError(taeda::detail::concat("parameter '", name, "' is ", to_string(value),
                                        ", which is of another kind than was asked for"));
}

}  // namespace taeda::logging
