// A module that lives at another worker; torch.distributed.nn.RemoteModule.
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "taeda/nn/holder.h"
#include "taeda/rpc/rref.h"

namespace taeda::inline v0_2::distributed {

namespace detail {

/// What RemoteModule calls at the module's worker, by the module's type.
template <class Module>
std::string remote_name(const char* function) {
  return "RemoteModule." + rpc::type_name<Module>() + "." + function;
}

/// Parameters and result of a module's forward.
template <class F>
struct ForwardOf;
template <class C, class R, class... X>
struct ForwardOf<R (C::*)(X...)> {
  using Result = std::decay_t<R>;
  using Inputs = std::tuple<std::decay_t<X>...>;

  template <class Module>
  static void register_forward() {
    rpc::register_function(remote_name<Module>("forward"),
                           std::function([](const rpc::RRef<Module>& self, X... inputs) -> Result {
                             Module& module = self.local_value();
                             return module(std::forward<X>(inputs)...);
                           }));
  }
};
template <class C, class R, class... X>
struct ForwardOf<R (C::*)(X...) const> : ForwardOf<R (C::*)(X...)> {};

template <class Module>
using Forward = ForwardOf<decltype(&Module::ContainedType::forward)>;

/// A worker and a device of it, as RemoteModule takes them.
struct RemoteDevice {
  /// "worker1/cuda:0", "worker1", "rank:1/cpu". Throws ValueError for anything else.
  explicit RemoteDevice(const std::string& text);

  rpc::WorkerInfo worker;
  std::string device;
};

std::vector<rpc::RRef<Tensor>> references_to(const std::vector<Tensor>& tensors);

}  // namespace detail

/// Lets other workers make modules of this type here, from arguments of types A: all processes of a
/// job call it, or TAEDA_REMOTE_MODULE does.
template <class Module, class... A>
void register_remote_module() {
  rpc::register_function(detail::remote_name<Module>("make"),
                         std::function([](const std::string& device, std::decay_t<A>... arguments) {
                           Module module(std::move(arguments)...);
                           module->to(Device(device));
                           return rpc::RRef<Module>(std::move(module));
                         }));
  rpc::register_function(detail::remote_name<Module>("parameters"),
                         std::function([](const rpc::RRef<Module>& self, bool recurse) {
                           return detail::references_to(self.local_value()->parameters(recurse));
                         }));
  rpc::register_function(
      detail::remote_name<Module>("train"),
      std::function([](const rpc::RRef<Module>& self, bool on) { self.local_value()->train(on); }));
  detail::Forward<Module>::template register_forward<Module>();
}

/// At namespace scope: TAEDA_REMOTE_MODULE(Stage1, int64_t), for a holder and the types of its
/// constructor's arguments.
#define TAEDA_REMOTE_MODULE(module, ...)                            \
  [[maybe_unused]] static const bool taeda_remote_module_##module = \
      (::taeda::distributed::register_remote_module<module __VA_OPT__(, ) __VA_ARGS__>(), true)

/// Makes a module at another worker and calls it there:
///
///     RemoteModule<Stage1> stage("worker1/cuda:0", int64_t{10});
///     const Tensor y = stage.forward(x);
///
/// Within a dist_autograd::context gradients go through. `Module` is a holder whose forward is one
/// function, no template.
template <class Module>
class RemoteModule {
 public:
  using Result = typename detail::Forward<Module>::Result;
  using Inputs = typename detail::Forward<Module>::Inputs;

  template <class... A>
  explicit RemoteModule(const std::string& remote_device, A... arguments) {
    const detail::RemoteDevice place(remote_device);
    module_ = rpc::rpc_sync<rpc::RRef<Module>>(
        place.worker, detail::remote_name<Module>("make"),
        std::tuple<std::string, A...>(place.device, std::move(arguments)...));
  }

  template <class... X>
  Result forward(X&&... inputs) const {
    return forward_async(std::forward<X>(inputs)...).wait();
  }
  template <class... X>
  Result operator()(X&&... inputs) const {
    return forward(std::forward<X>(inputs)...);
  }
  template <class... X>
  rpc::Future<Result> forward_async(X&&... inputs) const {
    return call<Result>("forward", Inputs(std::forward<X>(inputs)...));
  }

  /// References to the parameters, for a DistributedOptimizer.
  std::vector<rpc::RRef<Tensor>> remote_parameters(bool recurse = true) const {
    return call<std::vector<rpc::RRef<Tensor>>>("parameters", std::tuple(recurse)).wait();
  }
  void train(bool on = true) const { call<void>("train", std::tuple(on)).wait(); }
  void eval() const { train(false); }
  const rpc::RRef<Module>& get_module_rref() const { return module_; }

 private:
  template <class R, class... X>
  rpc::Future<R> call(const char* function, std::tuple<X...> inputs) const {
    return rpc::rpc_async<R>(module_.owner(), detail::remote_name<Module>(function),
                             std::tuple_cat(std::tuple(module_), std::move(inputs)));
  }

  rpc::RRef<Module> module_;
};

}  // namespace taeda::inline v0_2::distributed
