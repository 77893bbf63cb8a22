// Functions that tests call at other workers.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "taeda/rpc/rpc.h"

namespace taeda::distributed::rpc {

Tensor add_scaled(const Tensor& a, const Tensor& b, double scale);
std::string who();
/// Calls itself at the other of two workers until `depth` is 0; who ran, in order.
std::vector<std::string> back_and_forth(int64_t depth);
void fail_with(const std::string& kind, const std::string& text);
void sleep_for(double seconds);

}  // namespace taeda::distributed::rpc
