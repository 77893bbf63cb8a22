// The collectives of a FaultJob and what comes out of them.
#include <numeric>

#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "tests/distributed/faults/job.h"

namespace taeda {

using distributed::ReduceOp;

const std::vector<FaultCase>& fault_cases() {
  static const std::vector<FaultCase> all = [] {
    std::vector<FaultCase> out;
    for (const char* op : {"all_reduce", "broadcast", "all_gather", "reduce_scatter", "all_to_all"})
      for (const int64_t count : {3, 3 << 15}) out.push_back({op, count});
    return out;
  }();
  return all;
}

distributed::WorkPtr FaultCase::start(distributed::ProcessGroup& g, float value,
                                      Tensor* out) const {
  const Tensor own = full({count}, value);
  const distributed::ProcessGroup::CallOptions async{true};
  const std::string name = op;
  if (name == "all_reduce") return g.all_reduce(*out = own, ReduceOp::SUM, async);
  if (name == "broadcast") return g.broadcast(*out = own, 0, async);
  if (name == "all_gather")
    return g.all_gather_into_tensor(*out = zeros({count * g.size()}), own, async);
  if (name == "reduce_scatter")
    return g.reduce_scatter_tensor(*out = zeros({count / g.size()}), own, ReduceOp::SUM, async);
  if (name == "all_to_all") return g.all_to_all_single(*out = zeros({count}), own, {}, {}, async);
  throw Error("no operation " + name);
}

std::vector<float> FaultCase::expected(const std::vector<float>& values) const {
  const std::string name = op;
  if (name == "all_reduce" || name == "reduce_scatter")
    return {std::accumulate(values.begin(), values.end(), 0.f)};
  if (name == "broadcast") return {values[0]};
  return values;
}

}  // namespace taeda
