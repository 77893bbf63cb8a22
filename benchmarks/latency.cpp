// Latency: inference at batch 1 from host memory to host memory, and small training steps, each
// eager and captured once and replayed (Taeda alone has that on the CPU), in turn; with ONNX
// Runtime in the same turns, if it is named, on the models that Taeda writes for it.
//
// latency [--calls N] [--threads N] [--filter TEXT] [--onnxruntime PYTHON]: 50th and 99.9th
// percentile and the fastest of N calls of each, one JSON line a case. PYTHON is an interpreter
// that has the package onnxruntime, or the path of its library. Results are compared first.
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models.h"

#if __has_include("taeda/device/graph.h")
#include <unistd.h>

#include <filesystem>

#include "onnxruntime.h"
#include "taeda/device/graph.h"
#include "taeda/models/key_value_cache.h"
#include "taeda/onnx/onnx.h"
#define BENCH_TAEDA 1
#endif

namespace {

namespace F = torch::nn::functional;
using torch::Tensor;

struct Options {
  int64_t calls = 20000;
  int threads = 1;
  std::string filter, onnxruntime;
};

/// The same step of another runtime, on memory of its own.
struct Peer {
  std::function<void()> follow;  ///< takes over the state that the step is in
  std::function<void()> step;
  std::shared_ptr<std::vector<float>> out;
};

/// A step and what is timed in turn with it.
struct Case {
  std::string name;
  std::function<void()> prepare;  ///< before a step, in and out of captures
  std::function<void()> step;
  std::function<void()> captured = {};           ///< what a graph captures, if not the step
  std::shared_ptr<std::vector<float>> out = {};  ///< what the step writes
  Peer peer = {};
};

class Samples {
 public:
  template <class Step>
  void take(int64_t calls, const Step& step) {
    using Clock = std::chrono::steady_clock;
    for (int64_t i = 0; i < calls; ++i) {
      const auto start = Clock::now();
      step();
      times_.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    }
  }
  void print(const std::string& name, const char* kind) {
    std::sort(times_.begin(), times_.end());
    const auto at = [&](double part) {
      return times_[static_cast<size_t>(part * static_cast<double>(times_.size() - 1))];
    };
    std::printf(
        "{\"name\": \"%s\", \"kind\": \"%s\", \"p50_us\": %.3f, \"p999_us\": %.3f, \"min_us\": "
        "%.3f, \"calls\": %zu}\n",
        name.c_str(), kind, at(0.5), at(0.999), times_[0], times_.size());
    std::fflush(stdout);
  }

 private:
  std::vector<double> times_;
};

/// Ends the program if two results differ.
void compare(const std::string& name, const char* kind, const std::vector<float>& want,
             const std::vector<float>& got) {
  float most = 1;
  for (const float x : want) most = std::max(most, std::abs(x));
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::abs(want[i] - got[i]) <= 1e-4f * most) continue;
    std::fprintf(stderr, "%s, %s: number %zu is %g, not %g\n", name.c_str(), kind, i, got[i],
                 want[i]);
    std::exit(1);
  }
}

void run(const Options& o, const Case& c) {
  if (c.name.find(o.filter) == std::string::npos) return;
  const auto eager = [&] {
    c.prepare();
    c.step();
  };
  for (int i = 0; i < 10; ++i) eager();
  Samples eager_times, replay_times, peer_times;
  if (c.peer.step) {
    c.peer.follow();
    eager();
    c.peer.step();
    compare(c.name, "onnxruntime", *c.out, *c.peer.out);
  }
#if BENCH_TAEDA
  torch::DeviceGraph graph(torch::kCPU);
  {
    c.prepare();
    torch::GraphCapture capture(graph);
    c.captured ? c.captured() : eager();
    capture.end();
  }
  const std::vector<float> eager_out = c.out ? *c.out : std::vector<float>();
  graph.replay();
  if (c.captured) compare(c.name, "captured", eager_out, *c.out);
#endif
  constexpr int kTurns = 10;
  for (int turn = 0; turn < kTurns; ++turn) {
#if BENCH_TAEDA
    replay_times.take(o.calls / kTurns, [&] { graph.replay(); });
#endif
    eager_times.take(o.calls / kTurns, eager);
    if (c.peer.step) peer_times.take(o.calls / kTurns, c.peer.step);
  }
  eager_times.print(c.name, "eager");
#if BENCH_TAEDA
  replay_times.print(c.name, "captured");
#endif
  if (c.peer.step) peer_times.print(c.name, "onnxruntime");
}

std::shared_ptr<std::vector<float>> host_memory(int64_t numbers, float value = 0) {
  return std::make_shared<std::vector<float>>(static_cast<size_t>(numbers), value);
}

/// `forward(x)` from the numbers in `in` to those in `out`, which are the host's. `peer(in)` is
/// what runs beside it.
template <class Forward, class MakePeer>
void inference(const Options& o, const std::string& name, torch::IntArrayRef shape, Forward forward,
               MakePeer peer) {
  torch::NoGradGuard no_grad;
  if (("infer/" + name).find(o.filter) == std::string::npos) return;
  const auto host_in = host_memory(torch::zeros(shape).numel(), 0.5f);
  const Tensor in = torch::from_blob(host_in->data(), shape, torch::kFloat);
  const Tensor example = forward(in);
  const auto host_out = host_memory(example.numel());
  const Tensor out = torch::from_blob(host_out->data(), example.sizes(), torch::kFloat);
  Case c{"infer/" + name, [] {}, [=]() mutable { out.copy_(forward(in)); }};
  c.out = host_out;
  if (!o.onnxruntime.empty()) c.peer = peer(host_in);
  run(o, c);
}

#if BENCH_TAEDA
using onnx_runtime::Buffer;
using Forward = taeda::onnx::Forward;

/// A session on the model of a forward, whose file is gone again.
std::shared_ptr<onnx_runtime::Session> session_of(const Options& o, torch::nn::Module& module,
                                                  const Forward& forward,
                                                  const std::vector<Tensor>& examples,
                                                  const std::vector<Buffer>& inputs,
                                                  const std::vector<Buffer>& outputs) {
  static const onnx_runtime::Runtime runtime(onnx_runtime::library_of(o.onnxruntime));
  const auto path = std::filesystem::temp_directory_path() /
                    ("taeda-latency-" + std::to_string(getpid()) + ".onnx");
  taeda::onnx::ExportOptions options;
  for (const Buffer& b : inputs) options.input_names.push_back(b.name);
  for (const Buffer& b : outputs) options.output_names.push_back(b.name);
  taeda::onnx::export_forward(module, forward, examples, path.string(), options);
  auto session = std::make_shared<onnx_runtime::Session>(runtime, path.string(), o.threads);
  std::filesystem::remove(path);
  session->bind(inputs, outputs);
  return session;
}

/// A network of one input and one output.
template <class Model>
auto peer_of(const Options& o, Model model, const std::vector<int64_t>& in_shape,
             const std::vector<int64_t>& out_shape) {
  return [=](const std::shared_ptr<std::vector<float>>& in) mutable -> Peer {
    const Tensor example = torch::from_blob(in->data(), in_shape, torch::kFloat);
    const auto out = host_memory(torch::zeros(out_shape).numel());
    const Forward forward = [=](const std::vector<Tensor>& x) mutable {
      return std::vector<Tensor>{model->forward(x[0])};
    };
    auto session = session_of(o, *model, forward, {example}, {{"x", in->data(), in_shape}},
                              {{"y", out->data(), out_shape}});
    return {[in] {}, [session] { session->run(); }, out};
  };
}

using LstmState = std::tuple<Tensor, Tensor>;

/// Hidden and cell state go to and fro between two pairs of memory, so that nobody copies them.
auto peer_of_cell(const Options& o, torch::nn::LSTMCell cell, const LstmState& state) {
  return [=](const std::shared_ptr<std::vector<float>>& in) mutable -> Peer {
    const std::vector<int64_t> shape{1, 64};
    const auto h = host_memory(64), c = host_memory(64), out = host_memory(64),
               next_c = host_memory(64);
    const Forward forward = [=](const std::vector<Tensor>& x) mutable {
      const auto next = cell->forward(x[0], std::tuple(x[1], x[2]));
      return std::vector<Tensor>{std::get<0>(next), std::get<1>(next)};
    };
    const Buffer x{"x", in->data(), shape};
    auto session = session_of(o, *cell, forward,
                              {torch::zeros(shape), torch::zeros(shape), torch::zeros(shape)},
                              {x, {"h", h->data(), shape}, {"c", c->data(), shape}},
                              {{"next_h", out->data(), shape}, {"next_c", next_c->data(), shape}});
    session->bind({x, {"h", out->data(), shape}, {"c", next_c->data(), shape}},
                  {{"next_h", h->data(), shape}, {"next_c", c->data(), shape}});
    const auto copy = [=](const Tensor& from, std::vector<float>& to) {
      std::copy_n(from.data_ptr<float>(), 64, to.begin());
    };
    const auto turn = std::make_shared<size_t>(0);
    return {[=] {
              copy(std::get<0>(state), *h);
              copy(std::get<1>(state), *c);
              *turn = 0;
            },
            [=] {
              session->run(*turn);
              *turn = 1 - *turn;
              (void)next_c;
            },
            out};
  };
}
#else
using MakePeer = std::function<Peer(const std::shared_ptr<std::vector<float>>&)>;
template <class Model>
MakePeer peer_of(const Options&, const Model&, const std::vector<int64_t>&,
                 const std::vector<int64_t>&) {
  return {};
}
MakePeer peer_of_cell(const Options&, const torch::nn::LSTMCell&,
                      const std::tuple<Tensor, Tensor>&) {
  return {};
}
#endif

template <class Model>
void training(const Options& o, const std::string& name, Model model, const Tensor& x) {
  const Tensor y = torch::randint(0, 10, {x.size(0)}, torch::kLong);
  auto optimizer =
      std::make_shared<torch::optim::Adam>(model->parameters(), torch::optim::AdamOptions(1e-3));
  run(o, {"train/" + name, [=] { optimizer->zero_grad(); },
          [=]() mutable {
            F::cross_entropy(model->forward(x), y).backward();
            optimizer->step();
          }});
}

// ---- The next token of a GPT: 4 layers of 256, half of a context of 128 seen

constexpr int64_t kVocabulary = 256, kContext = 128, kSeen = 64, kDepth = 4, kWidth = 256,
                  kHeads = 4, kHeadWidth = kWidth / kHeads;

#if BENCH_TAEDA
using Cache = taeda::models::KeyValueCache;
Cache make_cache() {
  return Cache({.layers = kDepth, .heads = kHeads, .capacity = kContext, .head_width = kHeadWidth});
}
#else
/// What Taeda's does, of tensors of any library.
class Cache {
 public:
  std::pair<Tensor, Tensor> update(int64_t layer, const Tensor& keys, const Tensor& values) {
    const auto write = [&](std::vector<Tensor>& to, const Tensor& from) {
      Tensor& memory = to[static_cast<size_t>(layer)];
      memory.narrow(2, length_, 1).copy_(from);
      return memory.narrow(2, 0, length_ + 1);
    };
    return {write(keys_, keys), write(values_, values)};
  }
  void advance(int64_t tokens) { length_ += tokens; }
  void truncate(int64_t length) { length_ = length; }
  int64_t length() const { return length_; }

 private:
  static std::vector<Tensor> memory() {
    std::vector<Tensor> out;
    for (int64_t i = 0; i < kDepth; ++i)
      out.push_back(torch::zeros({1, kHeads, kContext, kHeadWidth}));
    return out;
  }
  std::vector<Tensor> keys_ = memory(), values_ = memory();
  int64_t length_ = 0;
};
Cache make_cache() { return {}; }
#endif

/// Scores of what follows one more token.
Tensor next_scores(models::Gpt& model, Cache& cache, const Tensor& token) {
  const Tensor scores =
      model->go_on(token, torch::arange(cache.length(), cache.length() + 1),
                   [&](int64_t layer, const Tensor& q, const Tensor& k, const Tensor& v) {
                     const auto all = cache.update(layer, k, v);
                     return models::open_attention(q, std::get<0>(all), std::get<1>(all));
                   });
  cache.advance(1);
  return scores;
}

#if BENCH_TAEDA
/// The same at the position that a tensor says, for a graph.
Tensor next_scores_at(models::Gpt& model, Cache& cache, const Tensor& token,
                      const Tensor& position) {
  const Tensor seen = torch::arange(kContext).le(position);
  return model->go_on(token, position,
                      [&](int64_t layer, const Tensor& q, const Tensor& k, const Tensor& v) {
                        const auto all = cache.update_at(layer, k, v, position);
                        return models::open_attention(q, all.first, all.second, seen);
                      });
}

/// Memory of keys and values beside a session: what was seen, one token's, and where they belong.
struct HostCache {
  std::vector<std::vector<float>> seen, next, kept;
  std::vector<Buffer> inputs, outputs;

  explicit HostCache(const Cache& cache) {
    for (int64_t i = 0; i < 2 * kDepth; ++i) {
      const auto layer = cache.layer(i / 2);
      const Tensor all = (i % 2 ? layer.second : layer.first).narrow(2, 0, kSeen).contiguous();
      seen.emplace_back(all.data_ptr<float>(), all.data_ptr<float>() + all.numel());
      next.emplace_back(kWidth);
      kept.emplace_back(kWidth * kContext);
    }
    for (size_t i = 0; i < seen.size(); ++i) {
      const std::string number = std::to_string(i);
      inputs.push_back({"seen" + number, seen[i].data(), {1, kHeads, kSeen, kHeadWidth}});
      outputs.push_back({"next" + number, next[i].data(), {1, kHeads, 1, kHeadWidth}});
    }
  }
  void keep() {
    for (size_t i = 0; i < next.size(); ++i)
      for (int64_t h = 0; h < kHeads; ++h)
        std::copy_n(next[i].data() + h * kHeadWidth, kHeadWidth,
                    kept[i].data() + (h * kContext + kSeen) * kHeadWidth);
  }
};

/// As a model for ONNX Runtime is best off: keys and values of what was seen are inputs that nobody
/// copies - no concatenation with those of the token, whose part is computed by itself - and those
/// of the token are outputs, which the host puts into their place.
std::vector<Tensor> go_on_with_inputs(models::Gpt& model, const std::vector<Tensor>& in) {
  std::vector<Tensor> out(1);
  out[0] = model->go_on(
      in[0], in[1], [&](int64_t layer, const Tensor& q, const Tensor& k, const Tensor& v) {
        const Tensor &keys = in[static_cast<size_t>(2 + 2 * layer)],
                     &values = in[static_cast<size_t>(3 + 2 * layer)];
        const Tensor scaled = q / std::sqrt(static_cast<double>(kHeadWidth));
        const Tensor weights =
            torch::cat({scaled.matmul(keys.transpose(-2, -1)), scaled.matmul(k.transpose(-2, -1))},
                       -1)
                .softmax(-1);
        out.push_back(k);
        out.push_back(v);
        return weights.narrow(-1, 0, kSeen).matmul(values) + weights.narrow(-1, kSeen, 1) * v;
      });
  return out;
}

Peer peer_of_gpt(const Options& o, models::Gpt model, const Cache& cache,
                 const std::shared_ptr<int64_t>& token) {
  const auto host = std::make_shared<HostCache>(cache);
  const auto position = std::make_shared<int64_t>(kSeen);
  const auto out = host_memory(kVocabulary);
  std::vector<Buffer> inputs{{"token", token.get(), {1, 1}, true},
                             {"position", position.get(), {1}, true}},
      outputs{{"scores", out->data(), {1, 1, kVocabulary}}};
  inputs.insert(inputs.end(), host->inputs.begin(), host->inputs.end());
  outputs.insert(outputs.end(), host->outputs.begin(), host->outputs.end());
  std::vector<Tensor> examples;
  for (const Buffer& b : inputs)
    examples.push_back(
        torch::from_blob(b.data, b.shape, b.integers ? torch::kLong : torch::kFloat));
  auto session = session_of(
      o, *model,
      [=](const std::vector<Tensor>& in) mutable { return go_on_with_inputs(model, in); }, examples,
      inputs, outputs);
  return {[] {},
          [=] {
            session->run();
            host->keep();
            (void)position;
          },
          out};
}
#endif

void next_token(const Options& o) {
  const std::string name = "infer/gpt_next_token";
  if (name.find(o.filter) == std::string::npos) return;
  torch::NoGradGuard no_grad;
  models::Gpt model(kVocabulary, kContext, kDepth, kWidth, kHeads);
  auto cache = std::make_shared<Cache>(make_cache());
  const auto host_token = std::make_shared<int64_t>(0);
  const Tensor token = torch::from_blob(host_token.get(), {1, 1}, torch::kLong);
  for (int64_t i = 0; i < kSeen; ++i) {
    *host_token = i * 7 % kVocabulary;
    next_scores(model, *cache, token);
  }
  const auto host_out = host_memory(kVocabulary);
  const Tensor out = torch::from_blob(host_out->data(), {1, 1, kVocabulary}, torch::kFloat);
  Case c{name, [cache] { cache->truncate(kSeen); },
         [=]() mutable { out.copy_(next_scores(model, *cache, token)); }};
  c.out = host_out;
#if BENCH_TAEDA
  const Tensor position = torch::full({1}, kSeen, torch::kLong);
  c.captured = [=]() mutable { out.copy_(next_scores_at(model, *cache, token, position)); };
  if (!o.onnxruntime.empty()) c.peer = peer_of_gpt(o, model, *cache, host_token);
#endif
  run(o, c);
}

/// The same without a cache: everything again for each token.
void whole_text(const Options& o) {
  torch::NoGradGuard no_grad;
  models::Gpt model(kVocabulary, kContext, kDepth, kWidth, kHeads);
  const Tensor text = torch::randint(0, kVocabulary, {1, kSeen + 1}, torch::kLong);
  const auto host_out = host_memory(kVocabulary);
  const Tensor out = torch::from_blob(host_out->data(), {1, kVocabulary}, torch::kFloat);
  run(o, {"infer/gpt_without_cache", [] {},
          [=]() mutable { out.copy_(model->forward(text).select(1, kSeen)); }});
}

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; i += 2) {
    const std::string flag = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (value && flag == "--calls")
      o.calls = std::atoll(value);
    else if (value && flag == "--threads")
      o.threads = std::atoi(value);
    else if (value && flag == "--filter")
      o.filter = value;
#if BENCH_TAEDA
    else if (value && flag == "--onnxruntime")
      o.onnxruntime = value;
#endif
    else {
      std::fprintf(stderr,
                   "usage: %s [--calls N] [--threads N] [--filter TEXT] [--onnxruntime PYTHON]\n",
                   argv[0]);
      std::exit(2);
    }
  }
  torch::set_num_threads(o.threads);
  return o;
}

void run_all(const Options& o) {
  torch::manual_seed(0);
  torch::nn::Sequential mlp(torch::nn::Linear(64, 64), torch::nn::ReLU(), torch::nn::Linear(64, 64),
                            torch::nn::ReLU(), torch::nn::Linear(64, 8));
  inference(
      o, "mlp_64", {1, 64}, [=](const Tensor& x) mutable { return mlp->forward(x); },
      peer_of(o, mlp, {1, 64}, {1, 8}));
  models::LeNet cnn;
  inference(
      o, "lenet", {1, 1, 28, 28}, [=](const Tensor& x) mutable { return cnn->forward(x); },
      peer_of(o, cnn, {1, 1, 28, 28}, {1, 10}));
  torch::nn::LSTMCell cell(64, 64);
  const auto state = std::make_tuple(torch::zeros({1, 64}), torch::zeros({1, 64}));
  inference(
      o, "lstm_cell_64", {1, 64},
      [=](const Tensor& x) mutable {
        const auto next = cell->forward(x, state);
        std::get<0>(state).copy_(std::get<0>(next));
        std::get<1>(state).copy_(std::get<1>(next));
        return std::get<0>(next);
      },
      peer_of_cell(o, cell, state));
  next_token(o);
  whole_text(o);
  training(o, "mlp_b64", models::Mlp(), torch::rand({64, 100}));
  training(o, "lenet_b64", models::LeNet(), torch::rand({64, 1, 28, 28}));
}

}  // namespace

int main(int argc, char** argv) {
  const Options o = parse(argc, argv);
  try {
    run_all(o);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "latency: %s\n", e.what());
    return 1;
  }
}
