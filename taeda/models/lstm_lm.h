// A language model around an LSTM: words [L, N] give logarithms of probabilities [L N, ntoken];
// names as in PyTorch's example word_language_model.
#pragma once

#include <optional>
#include <tuple>

#include "taeda/nn/modules/dropout.h"
#include "taeda/nn/modules/embedding.h"
#include "taeda/nn/modules/rnn.h"

namespace taeda::inline v0_2::models {

struct LSTMLanguageModelOptions {
  int64_t ntoken = 10000;  ///< how many different tokens there are, at least 1
  int64_t ninp = 200, nhid = 200, nlayers = 2;
  double dropout = 0.5;
  /// whether one matrix serves words going in and coming out; sizes must fit
  bool tie_weights = false;
};

/// A linear layer, whose weight may be another module's.
/// Shapes: [*, in] to [*, out].
class LSTMDecoderImpl : public nn::Cloneable<LSTMDecoderImpl> {
 public:
  LSTMDecoderImpl(int64_t nhid, int64_t ntoken, bool own_weight)
      : nhid_(nhid), ntoken_(ntoken), own_weight_(own_weight) {
    LSTMDecoderImpl::reset();
  }
  void reset() override;
  /// `other` is used by a layer without a weight.
  Tensor forward(const Tensor& x, const Tensor& other);

  Tensor weight, bias;

 private:
  int64_t nhid_, ntoken_;
  bool own_weight_;
};
TAEDA_MODULE(LSTMDecoder);

/// Embedding, LSTM and a projection to the vocabulary: indices [time, batch] to logits.
/// Shapes: logits [time * batch, ntoken], states [layers, batch, nhid].
class LSTMLanguageModelImpl : public nn::Cloneable<LSTMLanguageModelImpl> {
 public:
  using Hidden = std::tuple<Tensor, Tensor>;
  /// Throws ValueError for tied weights unless ninp equals nhid.
  explicit LSTMLanguageModelImpl(LSTMLanguageModelOptions options = {});
  void reset() override;
  /// Words (T, N), int64, and the state that the text before left behind, to logarithms of the
  /// probabilities of the next word (T * N, ntoken) and the state after it.
  std::tuple<Tensor, Hidden> forward(const Tensor& input, const std::optional<Hidden>& hidden = {});
  /// The state before any text, zeros [layers, batch_size, nhid] twice.
  Hidden init_hidden(int64_t batch_size) const;

  LSTMLanguageModelOptions options;
  nn::Dropout drop{nullptr};
  nn::Embedding encoder{nullptr};
  nn::LSTM rnn{nullptr};
  LSTMDecoder decoder{nullptr};
};
TAEDA_MODULE(LSTMLanguageModel);

}  // namespace taeda::models
