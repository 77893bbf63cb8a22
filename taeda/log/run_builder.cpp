#include "taeda/log/run_builder.h"

#include <algorithm>

namespace taeda::inline v0_2::logging {

const HParam* Run::find(std::string_view name) const {
  const auto found = std::find_if(values_.begin(), values_.end(),
                                  [&](const auto& value) { return value.first == name; });
  return found == values_.end() ? nullptr : &found->second;
}

std::string Run::str() const {
  std::string out = "Run(";
  for (size_t i = 0; i < values_.size(); ++i) {
    const auto& [name, value] = values_[i];
    const bool text = std::holds_alternative<std::string>(value);
    out += (i ? ", " : "") + name + "=" + (text ? "'" : "") + to_string(value) + (text ? "'" : "");
  }
  return out + ")";
}

std::vector<Run> RunBuilder::get_runs(const Grid& params) {
  std::vector<HParams> runs = {{}};
  for (const auto& [name, values] : params) {
    TAEDA_CHECK_VALUE(!values.empty(), "parameter '", name, "' of the grid has no values");
    TAEDA_CHECK_VALUE(!Run(runs.front()).find(name), "parameter '", name, "' is twice in the grid");
    std::vector<HParams> longer;
    for (const HParams& run : runs)
      for (const HParam& value : values) {
        longer.push_back(run);
        longer.back().emplace_back(name, value);
      }
    runs = std::move(longer);
  }
  return {runs.begin(), runs.end()};
}

}  // namespace taeda::logging
