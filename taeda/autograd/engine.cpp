#include "taeda/autograd/engine.h"

#include <algorithm>

#include "taeda/autograd/meta.h"
#include "taeda/autograd/pass.h"
#include "taeda/autograd/sum.h"
#include "taeda/base/error.h"
#include "taeda/base/warning.h"
#include "taeda/tensor/mapped.h"

namespace taeda::inline v0_2::autograd {

namespace {

/// The weight of an output, in its dtype as every gradient of it: given, or one for a single
/// element.
Tensor root_gradient(const Tensor& output, const Tensor& given) {
  if (given.defined()) {
    TAEDA_CHECK(given.sizes() == output.sizes(), "Mismatch in shape: grad_output has a shape of ",
                given.sizes(), " and output has a shape of ", output.sizes(), ".");
    TAEDA_CHECK(given.is_complex() == output.is_complex(),
                "For complex Tensors, both grad_output and output are required to have the same "
                "dtype. Mismatch in dtype: grad_output has a dtype of ",
                to_string(given.dtype()), " and output has a dtype of ", to_string(output.dtype()),
                ".");
    return given.dtype() == output.dtype() ? given : given.to(output.dtype());
  }
  TAEDA_CHECK(output.numel() == 1,
              "grad can be implicitly created only for scalar outputs, but got an output of shape ",
              output.sizes());
  NoGradGuard guard;
  Tensor one = make_tensor(output.sizes(), output.dtype(), output.device());
  one.fill_(1);
  return one;
}

void add_roots(Pass& pass, const std::vector<Tensor>& outputs, const std::vector<Tensor>& grads) {
  TAEDA_CHECK(grads.empty() || grads.size() == outputs.size(), "got ", outputs.size(),
              " tensors and ", grads.size(), " gradients");
  for (size_t i = 0; i < outputs.size(); ++i) {
    TAEDA_CHECK(outputs[i].defined() && outputs[i].requires_grad(), "element ", i,
                " of tensors does not require grad and does not have a grad_fn");
    TAEDA_CHECK(!outputs[i].is_complex() || (!grads.empty() && grads[i].defined()),
                "grad can be implicitly created only for real scalar outputs but got ComplexFloat");
    pass.add_root(gradient_edge(outputs[i]),
                  root_gradient(outputs[i], grads.empty() ? Tensor() : grads[i]));
  }
}

/// A pass within a map over samples (Note [Mapped tensors]): of plain tensors, for which the levels
/// of an output are dimensions. Levels that weights alone have stay levels, of all gradients.
struct MappedPass {
  std::vector<Tensor> outputs, weights;

  MappedPass(const std::vector<Tensor>& given, const std::vector<Tensor>& given_weights) {
    for (size_t i = 0; i < given.size(); ++i) {
      const uint64_t levels = mapped_levels(given[i]);
      outputs.push_back(plain_of(given[i]));
      Tensor weight = root_gradient(given[i], given_weights.empty() ? Tensor() : given_weights[i]);
      weights.push_back(levels_as_dims(expanded_to(weight, levels), levels));
    }
  }
  static bool is_one(const std::vector<Tensor>& tensors) {
    return std::any_of(tensors.begin(), tensors.end(),
                       [](const Tensor& t) { return is_mapped(t); });
  }
};

}  // namespace

void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors,
              std::optional<bool> retain_graph, bool create_graph,
              const std::vector<Tensor>& inputs) {
  if (create_graph)
    TAEDA_WARN_ONCE(
        "Using backward() with create_graph=True will create a reference cycle between the "
        "parameter and its gradient which can cause a memory leak. We recommend using "
        "autograd.grad when creating the graph to avoid this. If you have to use this function, "
        "make sure to reset the .grad fields of your parameters to None after use to break the "
        "cycle and avoid the leak.");
  TAEDA_CHECK(Maps::depth() == 0,
              "backward() called inside a functorch transform. This is not supported, please use "
              "functorch.grad or functorch.vjp instead or call backward() outside of functorch "
              "transforms.");
  std::vector<Tensor> results(inputs.size());
  Pass pass(retain_graph.value_or(create_graph), create_graph, true);
  add_roots(pass, tensors, grad_tensors);
  std::vector<Tensor> non_leaf;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TAEDA_CHECK(inputs[i].defined() && inputs[i].requires_grad(),
                "One of the differentiated Tensors does not require grad");
    pass.add_capture(gradient_edge(inputs[i]), &results[i]);
  }
  pass.run();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].is_leaf() || !results[i].defined()) continue;
    Tensor& g = inputs[i].mutable_grad();
    g = g.defined() ? sum_of(g, results[i]) : results[i];
  }
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs, std::optional<bool> retain_graph,
                         bool create_graph, bool allow_unused) {
  TAEDA_CHECK(!inputs.empty(), "`inputs` argument to `grad()` cannot be empty.");
  if (MappedPass::is_one(outputs) || MappedPass::is_one(inputs)) {
    const MappedPass plain(outputs, grad_outputs);
    std::vector<Tensor> plain_inputs;
    for (const Tensor& t : inputs) plain_inputs.push_back(plain_of(t));
    std::vector<Tensor> found =
        grad(plain.outputs, plain_inputs, plain.weights, retain_graph, create_graph, allow_unused);
    for (size_t i = 0; i < found.size(); ++i)
      if (found[i].defined()) found[i] = dims_as_levels(found[i], mapped_levels(inputs[i]));
    return found;
  }
  std::vector<Tensor> results(inputs.size());
  Pass pass(retain_graph.value_or(create_graph), create_graph, false);
  add_roots(pass, outputs, grad_outputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    TAEDA_CHECK(inputs[i].defined() && inputs[i].requires_grad(),
                "One of the differentiated Tensors does not require grad");
    pass.add_capture(gradient_edge(inputs[i]), &results[i]);
  }
  pass.run();
  for (size_t i = 0; i < results.size(); ++i)
    TAEDA_CHECK(results[i].defined() || allow_unused, "The differentiated Tensor at index ", i,
                " appears to not have been used in the graph. Set allow_unused=True if this is the "
                "desired behavior.");
  for (Tensor& r : results)  // an expanded number is enough for nodes; a caller may write into it
    if (r.defined() && r.is_strided() && !is_mapped(r) && r.layout().has_internal_overlap())
      r = r.contiguous();
  return results;
}

std::vector<Tensor> grad_at(const std::vector<Tensor>& outputs,
                            const std::vector<Tensor>& grad_outputs, const std::vector<Edge>& ends,
                            Needs needed, bool create_graph) {
  std::vector<Tensor> results(ends.size());
  Pass pass(create_graph, create_graph, false);
  for (size_t i = 0; i < ends.size(); ++i) {
    if (!ends[i]) continue;
    pass.end_at(ends[i]);
    if (needed[i]) pass.add_capture(ends[i], &results[i]);
  }
  add_roots(pass, outputs, grad_outputs);
  pass.run();
  return results;
}

void queue_callback(std::function<void()> callback) {
  Pass* const pass = Pass::current();
  TAEDA_CHECK(pass, "Final callbacks can only be installed during backward pass.");
  pass->queue_callback(std::move(callback));
}

const void* current_pass_id() { return Pass::current(); }

}  // namespace taeda::inline v0_2::autograd
