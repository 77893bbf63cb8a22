#include "taeda/distributed/ddp/equivalence.h"

#include <thread>

#include "taeda/device/registry.h"
#include "taeda/distributed/store/hash_store.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/reduce/reduce.h"

namespace taeda::inline v0_2::equivalence {

namespace {

using distributed::DistributedDataParallelOptions;

/// One rank of a job whose processes are threads.
struct RankOfThreads {
  std::shared_ptr<nn::Module> module;
  Batch part;
  Device device;
  Tensor loss;
  std::exception_ptr error;
};

/// The rank's place in DistributedDataParallel. The plan calls a module of any class: what wraps it
/// here forwards to that.
class Adapter : public nn::Module {
 public:
  Adapter(nn::AnyModule any, std::shared_ptr<nn::Module> module)
      : any_(any.with(module)), module_(register_module("model", std::move(module))) {}
  Tensor forward(const Tensor& x) { return any_.forward(x); }

 private:
  nn::AnyModule any_;
  std::shared_ptr<nn::Module> module_;
};

void run_rank(RankOfThreads& rank, const nn::AnyModule& model, const Plan::Loss& loss,
              const std::shared_ptr<distributed::Store>& store, int number, int size,
              DistributedDataParallelOptions options) {
  options.process_group = distributed::ProcessGroup::create("gloo", store, number, size);
  const auto adapter = std::make_shared<Adapter>(model, rank.module);
  distributed::DistributedDataParallel<Adapter> ddp(adapter, options);
  const Tensor value = loss(ddp(rank.part.input), rank.part.target);
  value.backward();
  rank.loss = value.detach();
}

std::vector<RankOfThreads> divide(const nn::AnyModule& model, Device device, const Batch& batch,
                                  int ranks) {
  const int64_t entries = batch.input.size(0);
  TAEDA_CHECK(entries % ranks == 0, "DistributedDataParallel(", ranks,
              "): expected a batch that can be divided by the number of ranks, got ", entries);
  const std::vector<Tensor> inputs = batch.input.chunk(ranks), targets = batch.target.chunk(ranks);
  std::vector<RankOfThreads> out(static_cast<size_t>(ranks));
  for (size_t r = 0; r < out.size(); ++r) {
    const int count = device.is_cpu() ? 1 : device_count(device.type());
    out[r].device = device.is_cpu()
                        ? device
                        : Device(device.type(), (device.index() + static_cast<int>(r)) % count);
    // Rank 0 trains the model itself, whose gradients are compared.
    out[r].module = r == 0 ? model.ptr() : model->clone(out[r].device);
    out[r].module->train(model->is_training());
    out[r].part = {inputs[r].to(out[r].device), targets[r].to(out[r].device)};
  }
  return out;
}

}  // namespace

Plan DistributedDataParallel(int ranks, const DistributedDataParallelOptions& options) {
  const auto prepare = [=](const nn::AnyModule& model, Device device, const Plan::Loss& loss) {
    return [=](const Batch& batch) {
      std::vector<RankOfThreads> all = divide(model, device, batch, ranks);
      const auto store = std::make_shared<distributed::HashStore>();
      std::vector<std::thread> threads;
      for (size_t r = 0; r < all.size(); ++r)
        threads.emplace_back([&, r] {
          try {
            run_rank(all[r], model, loss, store, static_cast<int>(r), ranks, options);
          } catch (...) {
            all[r].error = std::current_exception();
          }
        });
      for (std::thread& t : threads) t.join();
      Tensor sum = zeros_like(all[0].loss.cpu());
      for (const RankOfThreads& r : all) {
        if (r.error) std::rethrow_exception(r.error);
        sum = sum + r.loss.cpu();
      }
      return sum / ranks;
    };
  };
  return {taeda::detail::concat("DistributedDataParallel(", ranks, ")"), nullptr, prepare};
}

}  // namespace taeda::inline v0_2::equivalence
