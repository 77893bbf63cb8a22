// Calls of functions at other processes; torch.distributed.rpc.
//
//     Tensor add(const Tensor& a, const Tensor& b) { return a + b; }
//     TAEDA_RPC_FUNCTION(add);
//
//     rpc::init_rpc("worker0", 0, 2);
//     const Tensor sum = rpc::rpc_sync("worker1", add, {x, y});
//     rpc::shutdown();
//
// No code travels: a function is called by the name under which both processes registered it.
// docs/rpc.md has more.
#pragma once

#include <chrono>
#include <string>
#include <tuple>
#include <type_traits>

#include "taeda/rpc/agent.h"
#include "taeda/rpc/functions.h"
#include "taeda/rpc/future.h"

namespace taeda::inline v0_2::distributed::rpc {

/// Makes this process a worker; returns when all of them have come. Rank and world size of -1 are
/// taken from the environment, as by init_process_group(). Throws Error if it is one already,
/// ValueError for arguments that do not fit, DistributedError when others do not come.
void init_rpc(const std::string& name, int64_t rank = -1, int64_t world_size = -1,
              RpcBackendOptions rpc_backend_options = {});
/// Ends this process's part: with `graceful` when no worker has anything to do any more, within
/// `timeout`; without at once.
void shutdown(bool graceful = true, std::chrono::milliseconds timeout = std::chrono::minutes(5));
/// Whether init_rpc() was called, and shutdown() not yet.
bool is_initialized();

/// This worker, or the one of that name or number. Throws ValueError for one that does not exist.
WorkerInfo get_worker_info();
WorkerInfo get_worker_info(const WorkerRef& worker);
std::vector<WorkerInfo> get_worker_infos();

namespace detail {

/// What is called, as its errors say it.
struct Target {
  std::string function, arguments, result;
  std::string signature() const { return function + arguments + " -> " + result; }
};

void write_target(Writer& out, const Target& target);
/// Calls the function that a request names here.
Value run_call(Request& request);
/// Sends a call; `write` has the arguments.
Agent::FuturePtr call_function(const WorkerRef& to, const Target& target,
                               const std::function<void(Writer&)>& write, Agent::Decode decode,
                               double timeout);

template <class R>
Future<R> call(const WorkerRef& to, const std::string& function, const auto& arguments,
               double timeout) {
  using Arguments = std::decay_t<decltype(arguments)>;
  using Stored = typename Future<R>::Stored;
  static_assert(Sendable<Stored>, "the function's result cannot be sent; call it with remote()");
  const auto names = []<class... A>(const std::tuple<A...>*) { return arguments_of<A...>(); };
  return Future<R>(call_function(
      to, {function, names(static_cast<const Arguments*>(nullptr)), type_name<Stored>()},
      [&](Writer& out) { Codec<Arguments>::write(out, arguments); },
      [](Reader& in) { return std::make_shared<Stored>(Codec<Stored>::read(in)); }, timeout));
}

template <class... A>
using ArgumentsFor = std::type_identity_t<std::tuple<std::decay_t<A>...>>;

}  // namespace detail

/// Calls a function at worker `to` and returns at once. Tensors among the arguments must not change
/// until the future is done.
template <class R, class... A>
Future<std::decay_t<R>> rpc_async(const WorkerRef& to, R (*func)(A...),
                                  const detail::ArgumentsFor<A...>& args,
                                  double timeout = kUnsetRpcTimeout) {
  return detail::call<std::decay_t<R>>(to, detail::name_of_key(detail::key_of(func)), args,
                                       timeout);
}
template <class R>
Future<std::decay_t<R>> rpc_async(const WorkerRef& to, R (*func)()) {
  return rpc_async(to, func, {});
}
/// The same with the function's name: rpc_async<Tensor>("worker1", "add", std::tuple(x, y)).
template <class R, class... A>
Future<R> rpc_async(const WorkerRef& to, const std::string& func, const std::tuple<A...>& args = {},
                    double timeout = kUnsetRpcTimeout) {
  return detail::call<R>(to, func, args, timeout);
}

/// Calls a function at worker `to` and returns its result. What it throws there is thrown here,
/// with the worker's and the function's name. Throws DistributedError when there is no answer
/// within `timeout` (seconds; 0: no limit; by default rpc_timeout of the options) or the worker is
/// gone, TypeError if the worker knows no such function.
template <class R, class... A>
std::decay_t<R> rpc_sync(const WorkerRef& to, R (*func)(A...),
                         const detail::ArgumentsFor<A...>& args,
                         double timeout = kUnsetRpcTimeout) {
  return rpc_async(to, func, args, timeout).wait();
}
template <class R>
std::decay_t<R> rpc_sync(const WorkerRef& to, R (*func)()) {
  return rpc_async(to, func, {}).wait();
}
template <class R, class... A>
R rpc_sync(const WorkerRef& to, const std::string& func, const std::tuple<A...>& args = {},
           double timeout = kUnsetRpcTimeout) {
  return detail::call<R>(to, func, args, timeout).wait();
}

}  // namespace taeda::inline v0_2::distributed::rpc
