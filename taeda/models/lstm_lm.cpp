#include "taeda/models/lstm_lm.h"

#include "taeda/base/error.h"
#include "taeda/nn/functional/linear.h"
#include "taeda/nn/init.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::models {

namespace {
constexpr double kInitialRange = 0.1;
}

void LSTMDecoderImpl::reset() {
  if (own_weight_) {
    weight = register_parameter("weight", empty({ntoken_, nhid_}));
    nn::init::uniform_(weight, -kInitialRange, kInitialRange);
  }
  bias = register_parameter("bias", empty({ntoken_}));
  nn::init::zeros_(bias);
}

Tensor LSTMDecoderImpl::forward(const Tensor& x, const Tensor& other) {
  return nn::functional::linear(x, own_weight_ ? weight : other, bias);
}

LSTMLanguageModelImpl::LSTMLanguageModelImpl(LSTMLanguageModelOptions o) : options(o) {
  TAEDA_CHECK_VALUE(!options.tie_weights || options.ninp == options.nhid,
                    "When using the tied flag, nhid must be equal to emsize");
  LSTMLanguageModelImpl::reset();
}

void LSTMLanguageModelImpl::reset() {
  drop = register_module("drop", nn::Dropout(options.dropout));
  encoder = register_module("encoder", nn::Embedding(options.ntoken, options.ninp));
  rnn = register_module("rnn", nn::LSTM({.input_size = options.ninp,
                                         .hidden_size = options.nhid,
                                         .num_layers = options.nlayers,
                                         .dropout = options.dropout}));
  nn::init::uniform_(encoder->weight, -kInitialRange, kInitialRange);
  decoder =
      register_module("decoder", LSTMDecoder(options.nhid, options.ntoken, !options.tie_weights));
}

std::tuple<Tensor, LSTMLanguageModelImpl::Hidden> LSTMLanguageModelImpl::forward(
    const Tensor& input, const std::optional<Hidden>& hidden) {
  auto [output, state] = rnn(drop(encoder(input)), hidden);
  const Tensor flat = drop(output).reshape({-1, options.nhid});
  return {decoder(flat, encoder->weight).log_softmax(1), state};
}

LSTMLanguageModelImpl::Hidden LSTMLanguageModelImpl::init_hidden(int64_t batch_size) const {
  const Tensor zero =
      zeros({options.nlayers, batch_size, options.nhid},
            TensorOptions(encoder->weight.dtype()).device(encoder->weight.device()));
  return {zero, zero.clone()};
}

}  // namespace taeda::inline v0_2::models
