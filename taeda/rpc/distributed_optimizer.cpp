#include "taeda/rpc/distributed_optimizer.h"

#include <functional>
#include <memory>
#include <mutex>

#include "taeda/base/error.h"
#include "taeda/optim/adagrad.h"
#include "taeda/optim/adam.h"
#include "taeda/optim/rmsprop.h"
#include "taeda/optim/sgd.h"
#include "taeda/rpc/dist_autograd.h"

namespace taeda::inline v0_2::distributed {

namespace detail {

/// An owner's part.
struct LocalOptimizer {
  std::vector<Tensor> params;
  std::shared_ptr<optim::Optimizer> optimizer;
};

}  // namespace detail

namespace {

using detail::LocalOptimizer;
using Numbers = std::map<std::string, double>;
using rpc::RRef;

/// A class of optimizers that can be made by name.
struct OptimizerKind {
  const char* name;
  bool (*has_options)(const optim::OptimizerOptions&);
  std::shared_ptr<optim::Optimizer> (*make)(const std::vector<Tensor>&, const Numbers&);
};

template <class Optimizer, class Options>
OptimizerKind kind_of(const char* name) {
  return {name, [](const optim::OptimizerOptions& o) { return typeid(o) == typeid(Options); },
          [](const std::vector<Tensor>& params,
             const Numbers& numbers) -> std::shared_ptr<optim::Optimizer> {
            Options options(1e-3);
            options.visit([&](const char* number, double value) {
              const auto given = numbers.find(number);
              return given == numbers.end() ? value : given->second;
            });
            return std::make_shared<Optimizer>(params, options);
          }};
}

const std::vector<OptimizerKind>& optimizer_kinds() {
  static const std::vector<OptimizerKind> kinds = {
      kind_of<optim::SGD, optim::SGDOptions>("SGD"),
      kind_of<optim::Adam, optim::AdamOptions>("Adam"),
      kind_of<optim::AdamW, optim::AdamWOptions>("AdamW"),
      kind_of<optim::Adagrad, optim::AdagradOptions>("Adagrad"),
      kind_of<optim::RMSprop, optim::RMSpropOptions>("RMSprop")};
  return kinds;
}

RRef<LocalOptimizer> make_local(const std::string& kind, const Numbers& numbers,
                                const std::vector<RRef<Tensor>>& params) {
  LocalOptimizer out;
  for (const RRef<Tensor>& p : params) out.params.push_back(p.local_value());
  for (const OptimizerKind& known : optimizer_kinds())
    if (known.name == kind) out.optimizer = known.make(out.params, numbers);
  TAEDA_CHECK_VALUE(out.optimizer, "DistributedOptimizer: no optimizer is called '", kind, "'");
  return RRef<LocalOptimizer>(std::move(out));
}

/// grad() holds the context's gradients for the time of the step.
void step_local(const RRef<LocalOptimizer>& self, int64_t context_id) {
  static std::mutex one_at_a_time;  // workers of one parameter may be stepped by several programs
  std::lock_guard lock(one_at_a_time);
  LocalOptimizer& local = self.local_value();
  const auto gradients = dist_autograd::get_gradients(context_id);
  std::vector<Tensor> before;
  for (const Tensor& p : local.params) {
    before.push_back(p.mutable_grad());
    p.mutable_grad() = gradients.contains(p) ? gradients.at(p) : Tensor();
  }
  const auto put_back = [&] {
    for (size_t i = 0; i < before.size(); ++i) local.params[i].mutable_grad() = before[i];
  };
  try {
    local.optimizer->step();
  } catch (...) {
    put_back();
    throw;
  }
  put_back();
}

constexpr const char* kMake = "DistributedOptimizer.make";
constexpr const char* kStep = "DistributedOptimizer.step";

}  // namespace

void detail::register_optimizers() {
  static std::once_flag once;
  std::call_once(once, [] {
    rpc::register_function(kMake, make_local);
    rpc::register_function(kStep, step_local);
  });
}

DistributedOptimizer::DistributedOptimizer(const std::vector<RRef<Tensor>>& params_rref,
                                           const optim::OptimizerOptions& options) {
  TAEDA_CHECK_VALUE(!params_rref.empty(), "DistributedOptimizer: got an empty parameter list");
  std::string kind;
  for (const OptimizerKind& known : optimizer_kinds())
    if (known.has_options(options)) kind = known.name;
  TAEDA_CHECK_VALUE(!kind.empty(), "DistributedOptimizer: options of type ",
                    autograd::detail::demangled(typeid(options).name()),
                    " belong to no optimizer that it knows");
  Numbers numbers;
  options.clone()->visit([&](const char* name, double value) { return numbers[name] = value; });
  std::map<int64_t, std::vector<RRef<Tensor>>> by_owner;
  for (const RRef<Tensor>& p : params_rref) by_owner[p.owner().id].push_back(p);
  std::vector<rpc::Future<RRef<LocalOptimizer>>> made;
  for (const auto& [owner, params] : by_owner)
    made.push_back(rpc::rpc_async<RRef<LocalOptimizer>>(rpc::WorkerRef(owner), kMake,
                                                        std::tuple(kind, numbers, params)));
  optimizers_ = wait_all(made);
}

void DistributedOptimizer::step(int64_t context_id) const {
  std::vector<rpc::Future<void>> steps;
  for (const RRef<LocalOptimizer>& o : optimizers_)
    steps.push_back(rpc::rpc_async<void>(o.owner(), kStep, std::tuple(o, context_id)));
  rpc::wait_all(steps);
}

}  // namespace taeda::inline v0_2::distributed
