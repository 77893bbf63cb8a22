// An optimizer for parameters that live at several workers; torch.distributed.optim.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <typeinfo>
#include <vector>

#include "taeda/optim/optimizer.h"
#include "taeda/rpc/rref.h"

namespace taeda::inline v0_2::distributed {

namespace detail {
struct LocalOptimizer;
}

/// Makes an optimizer at each owner of parameters, of the class that the options belong to:
///
///     DistributedOptimizer optimizer(rrefs, optim::SGDOptions(0.05).momentum(0.9));
///     optimizer.step(context.id());
///
/// Only the numbers of the options travel; SGD, Adam, AdamW, Adagrad and RMSprop are known.
class DistributedOptimizer {
 public:
  /// Throws ValueError for an empty list or options of an optimizer that is not known.
  DistributedOptimizer(const std::vector<rpc::RRef<Tensor>>& params_rref,
                       const optim::OptimizerOptions& options);

  /// One step of all of them, with the gradients that the context has at their workers. Parameters
  /// without one there stay as they are, and so does grad(). Throws the first worker's error when
  /// all are done.
  void step(int64_t context_id) const;

 private:
  std::vector<rpc::RRef<detail::LocalOptimizer>> optimizers_;
};

namespace detail {
/// Lets other workers make optimizers here. Called when a worker begins.
void register_optimizers();
}  // namespace detail

}  // namespace taeda::inline v0_2::distributed
