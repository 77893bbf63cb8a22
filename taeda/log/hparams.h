// Values that are chosen before a run: learning rate, batch size, device.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace taeda::inline v0_2::logging {

/// A hyperparameter's value.
using HParam = std::variant<bool, int64_t, double, std::string>;
/// In order, as Python's dictionaries are.
using HParams = std::vector<std::pair<std::string, HParam>>;

/// "0.01", "true", "cuda:0".
std::string to_string(const HParam& value);

}  // namespace taeda::logging
