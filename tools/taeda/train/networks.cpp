#include "tools/taeda/train/networks.h"

#include <algorithm>

#include "taeda/models/gpt.h"
#include "taeda/models/lenet.h"
#include "taeda/models/lstm_lm.h"
#include "taeda/models/mobilenet.h"
#include "taeda/models/resnet.h"
#include "taeda/models/vgg.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/nn/functional/padding.h"
#include "taeda/nn/modules/activation.h"
#include "taeda/ops/nn/pool.h"
#include "taeda/ops/shape/shape.h"
#include "tools/taeda/command.h"

namespace taeda::tool {

namespace {

/// Two convolutions and three linear layers; for MNIST 1 x 28 x 28 -> 6 x 12 x 12 -> 12 x 4 x 4 ->
/// 10.
struct SmallCnnImpl : nn::Cloneable<SmallCnnImpl> {
  SmallCnnImpl(const PictureShape& s, int64_t classes) : shape(s), classes(classes) {
    SmallCnnImpl::reset();
  }
  void reset() override {
    conv1 = register_module("conv1", nn::Conv2d(shape.channels, 6, 5));
    conv2 = register_module("conv2", nn::Conv2d(6, 12, 5));
    fc1 = register_module("fc1", nn::Linear(12 * after(shape.height) * after(shape.width), 120));
    fc2 = register_module("fc2", nn::Linear(120, 60));
    out = register_module("out", nn::Linear(60, classes));
  }
  /// Pixels of a side behind both convolutions, each with its pooling.
  static int64_t after(int64_t side) { return ((side - 4) / 2 - 4) / 2; }

  Tensor forward(Tensor x) {
    x = max_pool2d(relu(conv1(x)), 2);
    x = max_pool2d(relu(conv2(x)), 2);
    x = x.flatten(1);
    x = relu(fc1(x));
    x = relu(fc2(x));
    return out(x);
  }

  PictureShape shape;
  int64_t classes;
  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::Linear fc1{nullptr}, fc2{nullptr}, out{nullptr};
};
TAEDA_MODULE(SmallCnn);

struct MlpImpl : nn::Cloneable<MlpImpl> {
  MlpImpl(int64_t in, int64_t hidden, int64_t out) : in(in), hidden(hidden), outputs(out) {
    MlpImpl::reset();
  }
  void reset() override {
    fc1 = register_module("fc1", nn::Linear(in, hidden));
    fc2 = register_module("fc2", nn::Linear(hidden, hidden));
    out = register_module("out", nn::Linear(hidden, outputs));
  }
  Tensor forward(const Tensor& x) { return out(relu(fc2(relu(fc1(x.flatten(1)))))); }

  int64_t in, hidden, outputs;
  nn::Linear fc1{nullptr}, fc2{nullptr}, out{nullptr};
};
TAEDA_MODULE(Mlp);

constexpr int64_t kSmallest = 32;  // side of the pictures that five poolings leave something of

/// A network for colour pictures of at least 32 x 32, given others.
struct AdaptedImpl : nn::Module {
  explicit AdaptedImpl(nn::AnyModule inner) : network(std::move(inner)) {
    register_module("network", network.ptr());
  }
  std::shared_ptr<nn::Module> clone(const std::optional<Device>& device = {}) const override {
    auto copy = std::make_shared<AdaptedImpl>(network.clone(device));
    copy->train(is_training());
    return copy;
  }
  Tensor forward(Tensor x) {
    if (x.size(1) == 1) x = x.expand({-1, 3, -1, -1});
    const int64_t h = std::max<int64_t>(0, kSmallest - x.size(2)),
                  w = std::max<int64_t>(0, kSmallest - x.size(3));
    if (h + w > 0) x = nn::functional::pad(x, {w / 2, w - w / 2, h / 2, h - h / 2});
    return network.forward(x);
  }
  nn::AnyModule network;
};
TAEDA_MODULE(Adapted);

/// The language model around an LSTM with batches first, each text from its start.
struct TextLstmImpl : nn::Cloneable<TextLstmImpl> {
  explicit TextLstmImpl(const models::LSTMLanguageModelOptions& o) : options(o) {
    TextLstmImpl::reset();
  }
  void reset() override { lm = register_module("lm", models::LSTMLanguageModel(options)); }
  Tensor forward(const Tensor& tokens) {
    const int64_t n = tokens.size(0), t = tokens.size(1);
    const auto [scores, state] = lm(tokens.t().contiguous());
    return scores.view({t, n, options.ntoken}).transpose(0, 1);
  }
  models::LSTMLanguageModelOptions options;
  models::LSTMLanguageModel lm{nullptr};
};
TAEDA_MODULE(TextLstm);

}  // namespace

void check_picture_model(const std::string& name, const PictureShape& s) {
  const std::string all = std::string(kPictureModels) + ", ";
  if (name.empty() || all.find(name + ", ") == std::string::npos ||
      name.find(',') != std::string::npos)
    throw UsageError("--model must be one of " + std::string(kPictureModels) + ", got " + name);
  const bool lenet_size = s.height == s.width && (s.height == 28 || s.height == 32);
  if (name == "lenet" && !lenet_size)
    throw UsageError(taeda::detail::concat(
        "--model lenet takes pictures of 28 x 28 or 32 x 32, not ", s.height, " x ", s.width));
  if (name == "cnn" && std::min(s.height, s.width) < 16)
    throw UsageError(taeda::detail::concat("--model cnn takes pictures of 16 x 16 or more, not ",
                                           s.height, " x ", s.width));
}

nn::AnyModule make_picture_model(const std::string& name, const PictureShape& shape,
                                 int64_t classes) {
  if (name == "cnn") return SmallCnn(shape, classes);
  if (name == "lenet") return models::LeNet(classes, shape.channels);
  if (name == "mlp") return make_mlp(shape.channels * shape.height * shape.width, 256, classes);
  nn::AnyModule known = name == "resnet18" ? nn::AnyModule(models::resnet18(classes))
                        : name == "vgg"    ? nn::AnyModule(models::vgg11_bn(classes))
                                           : nn::AnyModule(models::mobilenet_v2(classes));
  if (shape.channels == 3 && std::min(shape.height, shape.width) >= kSmallest) return known;
  return Adapted(std::move(known));
}

nn::AnyModule make_mlp(int64_t in, int64_t hidden, int64_t out) { return Mlp(in, hidden, out); }

nn::AnyModule make_text_model(const std::string& name, const TextShape& s) {
  if (name == "gpt") {
    models::GPTOptions o;
    o.vocab_size = s.vocabulary;
    o.block_size = s.context;
    o.n_layer = s.layers;
    o.n_embd = s.width;
    o.n_head = std::max<int64_t>(1, s.width / 32);
    if (s.width % o.n_head != 0) o.n_head = 1;
    return models::GPT(o);
  }
  if (name != "lstm") throw UsageError("--model must be one of gpt, lstm, got " + name);
  models::LSTMLanguageModelOptions o;
  o.ntoken = s.vocabulary;
  o.ninp = o.nhid = s.width;
  o.nlayers = s.layers;
  o.dropout = 0.1;
  return TextLstm(o);
}

}  // namespace taeda::tool
