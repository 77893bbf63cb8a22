// A copy of a model whose parameters are averages of those of models over training
// (torch.optim.swa_utils).
//
//     optim::swa_utils::AveragedModel averaged(net);
//     for (...) {
//       ...
//       optimizer.step();
//       averaged.update_parameters(net);
//     }
//     optim::swa_utils::update_bn(loader, averaged);
//     averaged->eval();
//     averaged(images);
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "taeda/nn/holder.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::optim::swa_utils {

/// Moves lists of averages by lists of values of the same shapes, in place; `num_averaged` is how
/// many values they are the averages of.
using MultiAvgFn = std::function<void(const std::vector<Tensor>& averages,
                                      const std::vector<Tensor>& values, int64_t num_averaged)>;

/// All values weigh the same: stochastic weight averaging (Izmailov et al. 2018, arXiv:1803.05407).
MultiAvgFn get_swa_multi_avg_fn();
/// Exponential moving averages, average * decay + value * (1 - decay). Throws ValueError unless
/// decay is in [0, 1].
MultiAvgFn get_ema_multi_avg_fn(double decay = 0.999);

/// What an AveragedModel averages, and how; by default the mean of all values of its parameters.
struct AveragedModelOptions {
  std::optional<Device> device = {};  ///< where the copy is; the model's unless given
  MultiAvgFn multi_avg_fn = nullptr;  ///< how averages move; the mean of all unless given
  bool use_buffers = false;           ///< whether buffers are averaged, too, and not copied
};

/// What an AveragedModel does whatever the module's class. Its state dict has the copy's as
/// "module." and the number of models, 0-dim, as "n_averaged", like PyTorch's.
class AveragedModelBase : public nn::Module {
 public:
  /// Takes the model as it is now into the averages, on whatever device it is; the first time it
  /// is copied. Throws Error for tensors of other shapes, and changes nothing then.
  void update_parameters(const nn::Module& model);
  /// How many models were averaged.
  int64_t num_averaged() const;

  /// 0-dim, of int64.
  Tensor n_averaged;

 protected:
  AveragedModelBase(std::shared_ptr<nn::Module> copy, AveragedModelOptions options);
  /// Throws ValueError for no module and Error for one that is not Cloneable.
  static std::shared_ptr<nn::Module> copy_of(const nn::Module* model,
                                             const AveragedModelOptions& options);

 private:
  std::shared_ptr<nn::Module> copy_;
  AveragedModelOptions options_;
};

/// An AveragedModelBase of a module of class M.
template <class M>
class AveragedModelImpl : public AveragedModelBase {
 public:
  /// Throws Error for a module that is not Cloneable (nn/cloneable.h).
  explicit AveragedModelImpl(const std::shared_ptr<M>& model, const AveragedModelOptions& options)
      : AveragedModelBase(copy_of(model.get(), options), options),
        module(std::dynamic_pointer_cast<M>(children()[0])) {}

  /// The copy's.
  template <class... Args>
  auto forward(const Args&... args) -> decltype(nn::call(std::declval<M&>(), args...)) {
    return nn::call(*module, args...);
  }

  std::shared_ptr<M> module;  ///< the copy, with the averages as its parameters
};

/// Holder of an AveragedModelImpl of a module, which may be a holder or a shared pointer.
template <class M>
class AveragedModel : public nn::ModuleHolder<AveragedModelImpl<M>> {
 public:
  using Impl = AveragedModelImpl<M>;
  explicit AveragedModel(const std::shared_ptr<M>& model, const AveragedModelOptions& options = {})
      : nn::ModuleHolder<Impl>(std::make_shared<Impl>(model, options)) {}
  explicit AveragedModel(const nn::ModuleHolder<M>& model, const AveragedModelOptions& options = {})
      : AveragedModel(model.ptr(), options) {}

  /// Takes the parameters of a model of the same layers into the average: AveragedModelImpl says
  /// how.
  void update_parameters(const nn::ModuleHolder<M>& model) { update_parameters(*model.ptr()); }
  void update_parameters(const std::shared_ptr<M>& model) { update_parameters(*model); }
  void update_parameters(const nn::Module& model) { this->get()->update_parameters(model); }
};

/// While one lives, the batch norms of a model train, and their statistics are means over all that
/// they see, from nothing; then momentum and mode are what they were.
class FreshStatistics {
 public:
  explicit FreshStatistics(nn::Module& model);
  ~FreshStatistics();
  FreshStatistics(const FreshStatistics&) = delete;
  FreshStatistics& operator=(const FreshStatistics&) = delete;
  bool has_norms() const { return !norms_.empty(); }

 private:
  nn::Module& model_;
  bool training_;
  std::vector<std::pair<std::optional<double>*, std::optional<double>>> norms_;
};

namespace detail {
template <class Batch>
const Tensor& input_of(const Batch& batch) {
  if constexpr (std::is_convertible_v<const Batch&, const Tensor&>)
    return batch;
  else if constexpr (requires { batch.data; })
    return batch.data;
  else
    return std::get<0>(batch);
}
}  // namespace detail

/// Computes the running statistics of the batch norms of `model`, a holder, anew, as means over all
/// the batches of a loader: tensors, examples or tuples that begin with one, moved to `device` if
/// that is given. Without batch norms nothing is read.
template <class Loader, class Model>
void update_bn(Loader&& loader, Model& model, std::optional<Device> device = {}) {
  const FreshStatistics statistics(*model);
  if (!statistics.has_norms()) return;
  const NoGradGuard no_grad;
  for (const auto& batch : loader) {
    const Tensor& input = detail::input_of(batch);
    model(device ? input.to(*device) : input);
  }
}

}  // namespace taeda::inline v0_2::optim::swa_utils
