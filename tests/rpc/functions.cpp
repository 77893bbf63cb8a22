#include "tests/rpc/functions.h"

#include <chrono>
#include <stdexcept>
#include <thread>

#include "taeda/base/error.h"

namespace taeda::distributed::rpc {

Tensor add_scaled(const Tensor& a, const Tensor& b, double scale) { return a + b * scale; }

std::string who() { return get_worker_info().name; }

std::vector<std::string> back_and_forth(int64_t depth) {
  std::vector<std::string> out = {who()};
  if (depth > 0)
    for (std::string& name : rpc_sync(1 - get_worker_info().id, back_and_forth, {depth - 1}))
      out.push_back(std::move(name));
  return out;
}

void fail_with(const std::string& kind, const std::string& text) {
  if (kind == "IndexError") throw IndexError(text);
  if (kind == "ValueError") throw ValueError(text);
  throw std::runtime_error(text);
}

void sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

TAEDA_RPC_FUNCTION(add_scaled);
TAEDA_RPC_FUNCTION(who);
TAEDA_RPC_FUNCTION(back_and_forth);
TAEDA_RPC_FUNCTION(fail_with);
TAEDA_RPC_FUNCTION(sleep_for);

}  // namespace taeda::distributed::rpc
