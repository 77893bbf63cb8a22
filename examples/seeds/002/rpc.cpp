// Model sharding over processes: two stages at two workers, called and trained through RPC.
//
//     rpc --file FILE --rank 0 & rpc --file FILE --rank 1
//
// FILE must not exist yet: there they meet.
#include <taeda/rpc/dist_autograd.h>
#include <taeda/rpc/distributed_optimizer.h>
#include <taeda/rpc/remote_module.h>

#include "stages.h"

namespace seeds {

namespace rpc = distributed::rpc;
using distributed::DistributedOptimizer, distributed::RemoteModule;
namespace dist_autograd = distributed::dist_autograd;

TAEDA_REMOTE_MODULE(Stage1);
TAEDA_REMOTE_MODULE(Stage2);

/// What the first worker does; the second one serves.
void train(Device first, Device second) {
  const RemoteModule<Stage1> stage1("worker0/" + first.str());
  const RemoteModule<Stage2> stage2("worker1/" + second.str());
  std::vector<rpc::RRef<Tensor>> parameters = stage1.remote_parameters();
  for (const auto& p : stage2.remote_parameters()) parameters.push_back(p);
  const DistributedOptimizer optimizer(parameters, optim::SGDOptions(0.001));
  nn::MSELoss criterion;
  const Tensor input_data = randn({32, 10}).to(first);
  const Tensor target = randn({32, 10}).to(first);

  const Tensor by_hand =
      linear(linear(input_data, parameters[0].to_here(), parameters[1].to_here()),
             parameters[2].to_here(), parameters[3].to_here());

  const dist_autograd::context context;
  const Tensor output = stage2(stage1(input_data));
  const Tensor loss = criterion(output, target);
  dist_autograd::backward(context.id(), {loss});
  optimizer.step(context.id());

  std::cout << "stage 1 at " << stage1.get_module_rref().owner_name() << ", stage 2 at "
            << stage2.get_module_rref().owner_name() << "\n";
  std::cout << "output: " << output.sizes() << " on " << output.device() << "\n";
  std::cout << "loss: " << four_decimals(loss.item<float>()) << " -> "
            << four_decimals(criterion(stage2(stage1(input_data)), target).item<float>()) << "\n";
  std::cout << "difference from one process: " << (output - by_hand).abs().max().item<float>()
            << "\n";
}

}  // namespace seeds

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Arguments arguments(argc, argv, {device_option(), {"rank", "0"}, {"file", ""}});
    const Device first = resolve(arguments.device()), second = next_to(first);
    const auto rank = static_cast<int>(arguments.number("rank"));
    rpc::RpcBackendOptions options = {.init_method = "file://" + arguments["file"]};
    if (!first.is_cpu() && rank == 0) options.set_device_map("worker1", {{first, second}});
    rpc::init_rpc("worker" + std::to_string(rank), rank, 2, options);
    if (rank == 0) train(first, second);
    rpc::shutdown();
  });
}
