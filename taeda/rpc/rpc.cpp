#include "taeda/rpc/rpc.h"

#include "taeda/base/error.h"
#include "taeda/distributed/grpc_engine.h"

namespace taeda::inline v0_2::distributed::rpc {

namespace {

/// Throws TypeError if the function here is not the one that was meant.
void check_signature(const detail::Function* function, const detail::Target& target,
                     const std::string& caller, const std::string& here) {
  TAEDA_CHECK_TYPE(function, "worker ", here, " has no function '", target.function, "', which ",
                   caller, " called as ", target.signature(),
                   "; functions are registered with TAEDA_RPC_FUNCTION in every process");
  TAEDA_CHECK_TYPE(function->arguments == target.arguments && function->result == target.result,
                   "worker ", here, " has ", function->signature(), ", but ", caller, " called ",
                   target.signature());
}

}  // namespace

Value detail::run_call(Request& request) {
  Target target;
  target.function = request.in.text();
  target.arguments = request.in.text();
  target.result = request.in.text();
  const auto function = find_function(target.function);
  check_signature(function.get(), target, request.from.name, request.in.agent()->self().name);
  return function->call(request.in);
}

void detail::write_target(Writer& out, const Target& target) {
  out.text(target.function);
  out.text(target.arguments);
  out.text(target.result);
}

void detail::serve_calls(Agent& agent) {
  agent.serve(Kind::Call, [](Request& request) {
    const Value result = run_call(request);
    TAEDA_CHECK_TYPE(result.type->write, "a result of type ", result.type->name,
                     " cannot be sent; call the function with remote()");
    Writer out = request.answer.writer();
    result.type->write(out, result.data.get());
    request.answer.send(std::move(out));
  });
}

Agent::FuturePtr detail::call_function(const WorkerRef& to, const Target& target,
                                       const std::function<void(Writer&)>& write,
                                       Agent::Decode decode, double timeout) {
  const auto agent = Agent::current();
  const int64_t id = agent->worker(to).id;
  Writer out(agent.get(), id);
  write_target(out, target);
  write(out);
  return agent->request(
      {Kind::Call, id, "function '" + target.function + "'", std::move(decode), timeout, true},
      std::move(out));
}

void init_rpc(const std::string& name, int64_t rank, int64_t world_size,
              RpcBackendOptions rpc_backend_options) {
  TAEDA_CHECK(!is_initialized(), "rpc::init_rpc: RPC is already initialized");
  Agent::set_current(Agent::join(name, rank, world_size, std::move(rpc_backend_options)));
}

void shutdown(bool graceful, std::chrono::milliseconds timeout) {
  const auto agent = Agent::current();
  agent->check_may_end();
  Agent::set_current(nullptr);
  agent->shutdown(graceful, timeout);
}

bool is_initialized() { return Agent::find_current() != nullptr; }

WorkerInfo get_worker_info() { return Agent::current()->self(); }
WorkerInfo get_worker_info(const WorkerRef& worker) { return Agent::current()->worker(worker); }
std::vector<WorkerInfo> get_worker_infos() { return Agent::current()->workers(); }

std::unique_ptr<Transport> open_grpc_transport(Transport::Options options) {
  const auto* engine =
      static_cast<const TransportEngine*>(load_grpc_engine("rpc", "rpc::init_rpc"));
  return engine->open(std::move(options));
}

}  // namespace taeda::inline v0_2::distributed::rpc
