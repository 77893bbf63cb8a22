// Values that are chosen before a run: learning rate, batch size, device.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace taeda::inline v0_2::logging {

/// The value of a hyperparameter: a bool, a number or a text; the default is false.
using HParam = std::variant<bool, int64_t, double, std::string>;
/// Hyperparameters by name, in the order of insertion; may be empty.
using HParams = std::vector<std::pair<std::string, HParam>>;

/// The value as text: "0.01", "true", "cuda:0"; an empty text stays empty.
std::string to_string(const HParam& value);

}  // namespace taeda::logging
