// What a model does with an input, layer by layer: `std::cout << nn::summary(model, {1, 3, 224,
// 224})`.
#pragma once

#include <concepts>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "taeda/base/small_vector.h"
#include "taeda/nn/holder.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::nn {

/// One module of a model, with the sizes, in elements and bytes, of what goes through it.
struct LayerSummary {
  std::string path;  ///< "features.0"; empty for the model itself
  std::string type;  ///< the class's name without namespace, "Conv2d"
  int64_t depth = 0;
  /// Sizes of the first tensor that goes in and comes out, in the first call; empty if there is
  /// none.
  DimVector input_size, output_size;
  /// how often it ran; 0, the default, if forward does not call it through its holder
  int64_t calls = 0;
  /// Elements of its own parameters, without those of modules below it and of an earlier row.
  int64_t parameters = 0, trainable_parameters = 0;
  int64_t output_bytes = 0;  ///< the bytes of all tensors that come out, in all calls
};

/// The modules of a model in the order of its tree, and the sums of their elements and bytes.
struct ModelSummary {
  std::vector<LayerSummary> layers;
  int64_t total_parameters = 0, trainable_parameters = 0;
  int64_t input_bytes = 0;
  int64_t parameter_bytes = 0, buffer_bytes = 0;
  /// The bytes that come out of modules without modules below them: about as much as training keeps
  /// for backward.
  int64_t activation_bytes = 0;

  /// A table of at most 80 columns.
  std::string str() const;
};

std::ostream& operator<<(std::ostream& out, const ModelSummary& summary);

namespace detail {

/// Watches the calls of a model's modules from its construction on; the model is in eval mode
/// meanwhile.
class Summarizer {
 public:
  explicit Summarizer(Module& model);
  ~Summarizer();
  Summarizer(const Summarizer&) = delete;
  Summarizer& operator=(const Summarizer&) = delete;
  void add_input(const Tensor& input);
  ModelSummary finish();

 private:
  struct Watched;
  std::vector<std::unique_ptr<Watched>> watched_;
  ModelSummary summary_;
};

/// Zeros of this size, of the dtype and on the device of the model's parameters.
Tensor input_like_parameters(const Module& model, IntArrayRef size);

}  // namespace detail

/// Runs the model once on the inputs, in eval mode and without gradients, and says what its modules
/// did. The model is as before afterwards, also when forward throws.
template <class M, class... Inputs>
requires std::derived_from<M, Module> ModelSummary summary(M& model, const Tensor& input,
                                                           const Inputs&... more) {
  const NoGradGuard guard;
  detail::Summarizer summarizer(model);
  summarizer.add_input(input);
  [[maybe_unused]] const auto add = [&](const auto& value) {
    if constexpr (std::is_convertible_v<decltype(value), const Tensor&>)
      summarizer.add_input(value);
  };
  (add(more), ...);
  call(model, input, more...);
  return summarizer.finish();
}

/// The same for zeros of `input_size`, of the dtype and on the device of the parameters.
template <class M>
requires std::derived_from<M, Module> ModelSummary summary(M& model, IntArrayRef input_size) {
  return summary(model, detail::input_like_parameters(model, input_size));
}

template <class Contained, class... Inputs>
ModelSummary summary(ModuleHolder<Contained>& holder, const Inputs&... inputs) {
  return summary(*holder, inputs...);
}
template <class Contained>
ModelSummary summary(ModuleHolder<Contained>& holder, IntArrayRef input_size) {
  return summary(*holder, input_size);
}

}  // namespace taeda::inline v0_2::nn
