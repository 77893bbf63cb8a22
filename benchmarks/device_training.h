// The race's optimizer steps and training steps, eager and as captured graphs.
#pragma once

#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "device_harness.h"
#include "models.h"

namespace race {

/// Parameters with gradients, the same on both sides.
inline std::vector<Tensor> parameters(Race& r, int set, int64_t count, int64_t elements) {
  std::vector<Tensor> out;
  const Tensor values = r.randn(set, 0, {count, elements}),
               grads = r.randn(set, 1, {count, elements});
  for (int64_t i = 0; i < count; ++i) {
    out.push_back(values.select(0, i).clone().requires_grad_());
    out.back().mutable_grad() = grads.select(0, i).clone();
  }
  return out;
}

inline void optimizers(Race& r) {
  const auto race = [&](const std::string& name, int64_t count, int64_t elements, double bytes_each,
                        auto make) {
    r.run("optimizer/" + name, {bytes_each * static_cast<double>(count * elements), 0},
          [&](int set) -> Race::Step {
            const std::vector<Tensor> p = parameters(r, set, count, elements);
            auto optimizer = make(p);
            return [p, optimizer] {
              optimizer->step();
              return p[0];
            };
          });
  };
  const auto sgd = [](const std::vector<Tensor>& p) {
    return std::make_shared<torch::optim::SGD>(p, torch::optim::SGDOptions(1e-3).momentum(0.9));
  };
  const auto adam = [](const std::vector<Tensor>& p) {
    return std::make_shared<torch::optim::Adam>(p, torch::optim::AdamOptions(1e-3));
  };
  const auto adamw = [](const std::vector<Tensor>& p) {
    return std::make_shared<torch::optim::AdamW>(p, torch::optim::AdamWOptions(1e-3));
  };
  const int64_t many = r.size(1000, 10), few = 4, large = r.size(int64_t{1} << 24, 1 << 10);
  race("sgd_many_small", many, 1000, 20, sgd);
  race("adam_many_small", many, 1000, 28, adam);
  race("adamw_many_small", many, 1000, 28, adamw);
  race("sgd_few_large", few, large, 20, sgd);
  race("adam_few_large", few, large, 28, adam);
}

/// What one training is made of. `loss` gets model, input and target.
struct Training {
  std::vector<std::pair<Tensor, Tensor>> batches;  ///< by set
  std::function<Tensor(const Tensor&, const Tensor&)> loss;
  std::shared_ptr<torch::optim::Optimizer> optimizer;
  bool amp = false;  ///< forward pass in bfloat16

  Tensor step(const Tensor& x, const Tensor& y) const {
    optimizer->zero_grad();
    Tensor value;
    {
      std::optional<torch::amp::autocast> scope;
      if (amp) scope.emplace(Device(x.device().type()), torch::kBFloat16);
      value = loss(x, y);
    }
    value.backward();
    optimizer->step();
    return value.detach();
  }
};

/// A captured step and the tensors that it reads.
struct Captured {
  Captured(const Training& training, const Device& device)
      : x(training.batches[0].first.clone()),
        y(training.batches[0].second.clone()),
        graph(device.type()) {
    {
      const torch::StreamGuard side(torch::new_stream(device));
      for (int i = 0; i < 3; ++i) training.step(x, y);
    }
    training.optimizer->zero_grad();
    torch::GraphCapture capture(graph);
    loss = training.step(x, y);
    capture.end();
  }
  Tensor x, y, loss;
  torch::DeviceGraph graph;
};

/// The same training eagerly and captured; `make` gives a new one, in the same state every time.
inline void train(Race& r, const std::string& name, const std::function<Training()>& make) {
  if (!r.wants("train/" + name) && !r.wants("graph/" + name)) return;
  std::shared_ptr<Training> training;
  const auto fresh = [&] {
    torch::manual_seed(0);  // the CPU's, from which layers draw
    training = std::make_shared<Training>(make());
  };
  r.run("train/" + name, {}, [&](int set) -> Race::Step {
    if (set == 0) fresh();
    return [t = training, set] {
      const auto& [x, y] = t->batches[static_cast<size_t>(set)];
      return t->step(x, y);
    };
  });
  if (r.device().is_cpu()) return;
  std::shared_ptr<Captured> captured;
  r.run("graph/" + name, {}, [&](int set) -> Race::Step {
    if (set == 0) {
      captured.reset();
      fresh();
      captured = std::make_shared<Captured>(*training, r.device());
    }
    return [t = training, c = captured, set] {
      c->x.copy_(t->batches[static_cast<size_t>(set)].first);
      c->y.copy_(t->batches[static_cast<size_t>(set)].second);
      c->graph.replay();
      return c->loss;
    };
  });
}

template <class Model>
Training classifier(Race& r, Model model, torch::IntArrayRef sizes, int64_t classes, bool amp) {
  model->to(r.device());
  Training t;
  for (int set = 0; set < Race::kSets; ++set)
    t.batches.emplace_back(r.randn(set, 0, sizes), r.randint(set, 1, classes, {sizes[0]}));
  t.loss = [model](const Tensor& x, const Tensor& y) mutable {
    return torch::nn::functional::cross_entropy(model->forward(x), y);
  };
  t.optimizer =
      std::make_shared<torch::optim::Adam>(model->parameters(), torch::optim::AdamOptions(1e-3));
  t.amp = amp;
  return t;
}

inline Training gpt(Race& r, bool amp) {
  const int64_t vocabulary = r.size(32000, 50), context = r.size(512, 16), batch = r.size(16, 2);
  models::Gpt model(vocabulary, context, r.size(6, 2), r.size(512, 32), 8);
  model->to(r.device());
  Training t;
  for (int set = 0; set < Race::kSets; ++set) {
    const Tensor ids = r.randint(set, 0, vocabulary, {batch, context + 1});
    t.batches.emplace_back(ids.narrow(1, 0, context).contiguous(),
                           ids.narrow(1, 1, context).reshape({-1}));
  }
  t.loss = [model, vocabulary](const Tensor& x, const Tensor& y) mutable {
    return torch::nn::functional::cross_entropy(model->forward(x).view({-1, vocabulary}), y);
  };
  t.optimizer =
      std::make_shared<torch::optim::AdamW>(model->parameters(), torch::optim::AdamWOptions(1e-4));
  t.amp = amp;
  return t;
}

inline Training lstm(Race& r) {
  const int64_t width = r.size(512, 16), steps = r.size(128, 8), batch = r.size(64, 4);
  torch::nn::LSTM model(torch::nn::LSTMOptions(width, width).num_layers(2));
  model->to(r.device());
  Training t;
  for (int set = 0; set < Race::kSets; ++set)
    t.batches.emplace_back(r.randn(set, 0, {steps, batch, width}),
                           r.randn(set, 1, {steps, batch, width}));
  t.loss = [model](const Tensor& x, const Tensor& y) mutable {
    return torch::mse_loss(std::get<0>(model->forward(x)), y);
  };
  t.optimizer =
      std::make_shared<torch::optim::Adam>(model->parameters(), torch::optim::AdamOptions(1e-3));
  return t;
}

inline void training(Race& r) {
  train(r, "mlp_b64", [&] { return classifier(r, models::Mlp(), {64, 100}, 10, false); });
  for (const int64_t full : {64, 1000, 10000}) {
    const int64_t batch = r.size(full, 8);
    train(r, "cnn_b" + std::to_string(full), [&] {
      return classifier(r, models::LeNet(), {batch, 1, 28, 28}, 10, false);
    });
  }
  train(r, "resnet18_224_b64_amp", [&] {
    return classifier(r, models::ResNet18(), {r.size(64, 8), 3, r.size(224, 64), r.size(224, 64)},
                      1000, true);
  });
  train(r, "gpt_6x512", [&] { return gpt(r, false); });
  train(r, "gpt_6x512_amp", [&] { return gpt(r, true); });
  train(r, "lstm_2x512", [&] { return lstm(r); });
}

}  // namespace race
