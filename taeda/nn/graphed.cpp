#include "taeda/nn/graphed.h"

#include <memory>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/device/registry.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::nn {

namespace {

/// The graphs, and every tensor whose address is in them.
struct Graphed {
  explicit Graphed(Device device) : forward(device.type()), backward(device.type()) {}

  std::vector<Tensor> inputs, parameters, outputs;
  std::vector<bool> differentiable;  ///< of outputs
  std::vector<Tensor> wanted;        ///< inputs and parameters that get gradients
  std::vector<Tensor> grad_outputs;  ///< of the differentiable outputs
  std::vector<Tensor> grads;         ///< of `wanted`; undefined where it was not used
  DeviceGraph forward, backward;

  std::vector<Tensor> differentiable_outputs() const {
    std::vector<Tensor> out;
    for (const Tensor& t : outputs)
      if (t.requires_grad()) out.push_back(t);
    return out;
  }
};

std::vector<Tensor> gradients(const std::vector<Tensor>& outputs, const std::vector<Tensor>& wanted,
                              const std::vector<Tensor>& grad_outputs) {
  return autograd::grad(outputs, wanted, grad_outputs, {}, false, true);
}

void capture(Graphed& g, const TensorFunction& function, const Stream& stream, int warm_up,
             allocator::PoolId pool) {
  const auto run = [&] {
    AutoGradMode with_gradients(true);
    g.outputs = function(g.inputs);
  };
  {
    stream.wait_stream(current_stream(stream.device()));
    const StreamGuard side(stream);
    for (int i = 0; i < warm_up; ++i) {
      run();
      std::vector<Tensor> ones;
      for (const Tensor& t : g.differentiable_outputs()) ones.push_back(ones_like(t.detach()));
      if (!ones.empty()) gradients(g.differentiable_outputs(), g.wanted, ones);
    }
  }
  g.outputs.clear();
  {
    GraphCapture forward(g.forward, pool, stream);
    run();
    forward.end();
  }
  const std::vector<Tensor> outputs = g.differentiable_outputs();
  if (!outputs.empty() && !g.wanted.empty()) {
    for (const Tensor& t : outputs) g.grad_outputs.push_back(zeros_like(t.detach()));
    GraphCapture backward(g.backward, g.forward.pool(), stream);
    g.grads = gradients(outputs, g.wanted, g.grad_outputs);
    backward.end();
  }
  for (Tensor& t : g.outputs) {
    g.differentiable.push_back(t.requires_grad() && !g.grad_outputs.empty());
    t = t.detach();
  }
}

std::vector<Tensor> run_backward(Graphed& g, const autograd::TensorVec& grads) {
  NoGradGuard no_grad;
  for (size_t i = 0; i < g.grad_outputs.size(); ++i) {
    if (grads[i].defined())
      g.grad_outputs[i].copy_(grads[i]);
    else
      g.grad_outputs[i].zero_();
  }
  g.backward.replay();
  return g.grads;
}

void check_argument(const Tensor& got, const Tensor& sample, size_t i) {
  TAEDA_CHECK(got.sizes() == sample.sizes() && got.dtype() == sample.dtype() &&
                  got.device() == sample.device(),
              "a graphed callable takes arguments like its samples: argument ", i, " has shape ",
              got.sizes(), ", ", got.dtype(), " on ", got.device(), ", but its sample has ",
              sample.sizes(), ", ", sample.dtype(), " on ", sample.device());
}

}  // namespace

TensorFunction make_graphed_callables(const TensorFunction& function,
                                      const std::vector<Tensor>& sample_args,
                                      const std::vector<Tensor>& parameters, int num_warmup_iters,
                                      allocator::PoolId pool) {
  TAEDA_CHECK_VALUE(function, "make_graphed_callables: expected a function, but got an empty one");
  TAEDA_CHECK(!sample_args.empty(), "make_graphed_callables needs at least one sample argument");
  const Device device = sample_args[0].device();
  auto g = std::make_shared<Graphed>(device);
  for (const Tensor& t : sample_args)
    g->inputs.push_back(t.detach().clone().requires_grad_(t.requires_grad()));
  g->parameters = parameters;
  for (const auto* list : {&g->inputs, &g->parameters})
    for (const Tensor& t : *list)
      if (t.requires_grad()) g->wanted.push_back(t);
  capture(*g, function, new_stream(device), num_warmup_iters, pool);
  return [g](const std::vector<Tensor>& args) {
    TAEDA_CHECK(args.size() == g->inputs.size(), "a graphed callable for ", g->inputs.size(),
                " arguments was called with ", args.size());
    std::vector<autograd::Input> sources;
    bool wants = false;
    {
      NoGradGuard no_grad;
      for (size_t i = 0; i < args.size(); ++i) {
        check_argument(args[i], g->inputs[i], i);
        g->inputs[i].detach().copy_(args[i]);
        if (g->inputs[i].requires_grad()) sources.emplace_back(args[i]);
      }
    }
    for (const Tensor& p : g->parameters)
      if (p.requires_grad()) sources.emplace_back(p);
    for (const autograd::Input& s : sources) wants = wants || autograd::wants_grad(*s.tensor);
    g->forward.replay();
    std::vector<Tensor> outputs, differentiable;
    for (size_t i = 0; i < g->outputs.size(); ++i) {
      outputs.push_back(g->outputs[i].detach());
      if (g->differentiable[i]) differentiable.push_back(outputs.back());
    }
    if (wants && !differentiable.empty())
      autograd::record_multi("GraphedBackward", differentiable, sources,
                             [g](const autograd::TensorVec& grads, autograd::Needs) {
                               return run_backward(*g, grads);
                             });
    return outputs;
  };
}

}  // namespace taeda::inline v0_2::nn
