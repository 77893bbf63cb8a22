#include "taeda/parallel/equivalence.h"

#include <algorithm>
#include <cmath>

#include "taeda/device/accelerator.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/parallel/data_parallel.h"
#include "taeda/parallel/pipe/balance.h"
#include "taeda/parallel/pipe/pipe.h"

namespace taeda::inline v0_2::equivalence {

namespace {

/// What one pass came to, on the host.
struct Outcome {
  Tensor loss;
  OrderedDict<std::string, Tensor> gradients;  // undefined where a parameter got none
};

Tensor default_loss(const Tensor& output, const Tensor& target) {
  return target.is_floating_point() ? mse_loss(output, target) : cross_entropy(output, target);
}

Plan::Loss loss_of(const Options& options) { return options.loss ? options.loss : default_loss; }

/// Runs forward and backward as the plan says.
Outcome run(const Plan& plan, const nn::AnyModule& model, Device device, const Batch& batch,
            const Options& options) {
  Outcome out;
  const Plan::Loss loss_fn = loss_of(options);
  if (plan.prepare_step) {
    out.loss = plan.prepare_step(model, device, loss_fn)(batch).detach().cpu();
  } else {
    const Tensor output = plan.prepare(model, device)(batch.input);
    const Tensor loss = loss_fn(output, batch.target.to(output.device()));
    loss.backward();
    out.loss = loss.detach().cpu();
  }
  for (const auto& [name, p] : model->named_parameters())
    out.gradients.insert(name, p.grad().defined() ? p.grad().detach().cpu() : Tensor());
  return out;
}

double largest(const Tensor& t) {
  return t.numel() == 0 ? 0 : t.to(kDouble).abs().max().item<double>();
}

/// Difference relative to the largest magnitude; infinite where only one is defined, or for nan.
double distance(const Tensor& expected, const Tensor& actual) {
  if (!expected.defined() && !actual.defined()) return 0;
  if (expected.defined() != actual.defined() || !(expected.sizes() == actual.sizes()))
    return INFINITY;
  const double difference = largest(actual.to(kDouble) - expected.to(kDouble));
  const double scale = largest(expected);
  if (std::isnan(difference)) return INFINITY;
  return difference == 0 ? 0 : difference / (scale > 0 ? scale : 1);
}

double tolerance_for(const Tensor& t, const Options& options) {
  return options.tolerance.value_or(t.defined() && t.dtype() == kDouble ? 1e-10 : 1e-4);
}

std::string values_of(const Tensor& t) {
  return t.defined() ? taeda::detail::concat("\n", t) : " none";
}

Difference compare(const std::string& plan, const Outcome& expected, const Outcome& actual,
                   const Options& options) {
  Difference out{plan, distance(expected.loss, actual.loss), 0};
  TAEDA_CHECK(out.loss <= tolerance_for(expected.loss, options), plan,
              ": the loss differs from one device's: ", actual.loss.item<double>(), " instead of ",
              expected.loss.item<double>());
  for (const auto& [name, gradient] : expected.gradients) {
    const Tensor& other = actual.gradients[name];
    const double d = distance(gradient, other);
    TAEDA_CHECK(d <= tolerance_for(gradient, options), plan, ": the gradient of '", name,
                "' differs from one device's by ", d,
                " of its largest magnitude.\nOne device:", values_of(gradient), "\n", plan, ":",
                values_of(other));
    out.gradient = std::max(out.gradient, d);
  }
  return out;
}

}  // namespace

Plan DataParallel(int devices, int64_t dim) {
  const auto prepare = [devices, dim](const nn::AnyModule& model, Device device) {
    std::vector<Device> all;
    for (int i = 0; i < devices; ++i)
      all.push_back(resolve(device.is_cpu() ? device : Device(device.type(), i)));
    auto replicas = std::make_shared<nn::parallel::Replicas>(model.ptr(), all);
    return [=](const Tensor& input) {
      const std::vector<Tensor> chunks = nn::parallel::scatter(input, all, dim);
      const auto& clones = replicas->follow(chunks.size());
      std::vector<Tensor> outputs(chunks.size());
      const std::vector<Device> used(all.begin(), all.begin() + std::ssize(chunks));
      nn::parallel::run_on_devices(
          used, [&](size_t i) { outputs[i] = model.with(clones[i]).forward(chunks[i]); });
      return nn::parallel::gather(outputs, all[0], dim);
    };
  };
  return {taeda::detail::concat("DataParallel(", devices, ")"), prepare};
}

namespace {

/// The model's children, divided over `stages` devices. They keep their parameters, whose gradients
/// are compared.
nn::Pipe make_pipe(const nn::AnyModule& model, Device device, int stages,
                   const nn::PipeConfig& options) {
  const nn::Sequential children(std::static_pointer_cast<nn::SequentialImpl>(
      model.get<nn::SequentialImpl>().shared_from_this()));
  std::vector<Device> devices;
  for (int i = 0; i < stages; ++i)
    devices.push_back(resolve(Device(device.type(), device.index() + i)));
  return nn::Pipe(nn::partition(children, devices), options);
}

std::string pipe_name(int stages, const nn::PipeConfig& options, const std::string& more) {
  return taeda::detail::concat("Pipe(", stages, ", chunks=", options.chunks(), ", checkpoint=\"",
                               options.checkpoint(), "\"", more, ")");
}

}  // namespace

Plan Pipe(int stages, int64_t chunks, const std::string& checkpoint) {
  const nn::PipeConfig options{.chunks = chunks, .checkpoint = checkpoint};
  const auto prepare = [=](const nn::AnyModule& model, Device device) {
    nn::Pipe pipe = make_pipe(model, device, stages, options);
    return [pipe](const Tensor& input) { return nn::Pipe(pipe)(input); };
  };
  return {pipe_name(stages, options, ""), prepare};
}

Plan PipeStep(int stages, int64_t chunks, nn::PipeSchedule schedule,
              const std::string& checkpoint) {
  const nn::PipeConfig options{.chunks = chunks, .checkpoint = checkpoint, .schedule = schedule};
  const auto prepare = [=](const nn::AnyModule& model, Device device, const Plan::Loss& loss) {
    nn::Pipe pipe = make_pipe(model, device, stages, options);
    return [pipe, loss](const Batch& batch) {
      return nn::Pipe(pipe)->train_step(batch.input, batch.target, loss);
    };
  };
  return {pipe_name(stages, options, taeda::detail::concat(", ", schedule)), nullptr, prepare};
}

std::vector<Difference> check_equivalence(const std::function<nn::AnyModule()>& make_model,
                                          const Batch& given, const std::vector<Plan>& plans,
                                          const Options& options) {
  const Device device =
      resolve(options.device.value_or(Device(accelerator::preferred_type().value_or(kSim), 0)));
  const Batch batch{given.input.to(device), given.target.to(device)};
  const nn::AnyModule reference = make_model();
  reference->to(device);
  const Plan one_device{"one device", [](const nn::AnyModule& model, Device) {
                          return
                              [model](const Tensor& x) { return nn::AnyModule(model).forward(x); };
                        }};
  const Outcome expected = run(one_device, reference, device, batch, options);
  std::vector<Difference> out;
  for (const Plan& plan : plans) {
    const nn::AnyModule model = make_model();
    model->to(device);
    model->load_state_dict(reference->state_dict());
    model->train(reference->is_training());
    out.push_back(compare(plan.name, expected, run(plan, model, device, batch, options), options));
  }
  return out;
}

}  // namespace taeda::inline v0_2::equivalence
