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
  const int64_t many = r.size(1000, 1000, 10), few = 4,
                large = r.size(int64_t{1} << 24, 1 << 20, 1 << 10);
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
    const torch::Stream main = torch::current_stream(device), side = torch::new_stream(device);
    side.wait_stream(main);
    {
      const torch::StreamGuard guard(side);
      for (int i = 0; i < 3; ++i) training.step(x, y);
    }
    main.wait_stream(side);
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
    training.reset();       // not beside the new one in the peak of memory
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
  training.reset();
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

/// A GPT's sizes, and an LSTM's: what names tell.
struct GptSizes {
  explicit GptSizes(const Race& r)
      : vocabulary(r.size(32000, 8000, 50)),
        context(r.size(512, 128, 16)),
        batch(r.size(16, 4, 2)),
        depth(r.size(6, 2, 2)),
        d(r.size(512, 256, 32)) {}
  int64_t vocabulary, context, batch, depth, d;
  std::string name() const {
    return "gpt_" + std::to_string(depth) + "x" + std::to_string(d) + "_t" +
           std::to_string(context) + "_b" + std::to_string(batch);
  }
};

inline Training gpt(Race& r, const GptSizes& s, bool amp) {
  models::Gpt model(s.vocabulary, s.context, s.depth, s.d, 8,
                    [](const Tensor& q, const Tensor& k, const Tensor& v) {
                      return torch::nn::functional::scaled_dot_product_attention(q, k, v, {}, 0,
                                                                                 true);
                    });
  model->to(r.device());
  Training t;
  for (int set = 0; set < Race::kSets; ++set) {
    const Tensor ids = r.randint(set, 0, s.vocabulary, {s.batch, s.context + 1});
    t.batches.emplace_back(ids.narrow(1, 0, s.context).contiguous(),
                           ids.narrow(1, 1, s.context).reshape({-1}));
  }
  t.loss = [model, n = s.vocabulary](const Tensor& x, const Tensor& y) mutable {
    return torch::nn::functional::cross_entropy(model->forward(x).view({-1, n}), y);
  };
  t.optimizer =
      std::make_shared<torch::optim::AdamW>(model->parameters(), torch::optim::AdamWOptions(1e-4));
  t.amp = amp;
  return t;
}

struct LstmSizes {
  explicit LstmSizes(const Race& r)
      : width(r.size(512, 128, 16)), steps(r.size(128, 64, 8)), batch(r.size(64, 32, 4)) {}
  int64_t width, steps, batch;
  std::string name() const {
    return "lstm_2x" + std::to_string(width) + "_t" + std::to_string(steps) + "_b" +
           std::to_string(batch);
  }
};

inline Training lstm(Race& r, const LstmSizes& s) {
  torch::nn::LSTM model(torch::nn::LSTMOptions(s.width, s.width).num_layers(2));
  model->to(r.device());
  Training t;
  for (int set = 0; set < Race::kSets; ++set)
    t.batches.emplace_back(r.randn(set, 0, {s.steps, s.batch, s.width}),
                           r.randn(set, 1, {s.steps, s.batch, s.width}));
  t.loss = [model](const Tensor& x, const Tensor& y) mutable {
    return torch::mse_loss(std::get<0>(model->forward(x)), y);
  };
  t.optimizer =
      std::make_shared<torch::optim::Adam>(model->parameters(), torch::optim::AdamOptions(1e-3));
  return t;
}

inline void training(Race& r) {
  train(r, "mlp_b64", [&] { return classifier(r, models::Mlp(), {64, 100}, 10, false); });
  for (const int64_t batch : {r.size(64, 64, 8), r.size(1000, 1000, 12), r.size(10000, 4000, 16)}) {
    train(r, "cnn_b" + std::to_string(batch), [&] {
      return classifier(r, models::LeNet(), {batch, 1, 28, 28}, 10, false);
    });
  }
  for (const bool amp : {false, true}) {
    // A CPU without instructions for bfloat16 takes seconds for a small image.
    const int64_t pixels = r.size(224, amp ? 64 : 224, 64), images = r.size(64, 4, 4);
    train(
        r,
        "resnet18_" + std::to_string(pixels) + "_b" + std::to_string(images) + (amp ? "_amp" : ""),
        [&] {
          return classifier(r, models::ResNet18(), {images, 3, pixels, pixels}, 1000, amp);
        });
  }
  const GptSizes sizes(r);
  for (const bool amp : {false, true})
    train(r, sizes.name() + (amp ? "_amp" : ""), [&] { return gpt(r, sizes, amp); });
  const LstmSizes lstm_sizes(r);
  train(r, lstm_sizes.name(), [&] { return lstm(r, lstm_sizes); });
}

}  // namespace race
