#include "taeda/nn/libtorch_style.h"

#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "taeda/base/type_name.h"
#include "taeda/nn/containers/functional.h"
#include "taeda/nn/containers/lists.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/nn/modules/adaptive.h"
#include "taeda/nn/modules/ctc.h"
#include "taeda/nn/modules/distance.h"
#include "taeda/nn/modules/embedding.h"
#include "taeda/nn/modules/loss.h"
#include "taeda/nn/modules/padding.h"
#include "taeda/nn/modules/rnn.h"
#include "taeda/nn/modules/transformer.h"
#include "taeda/nn/modules/vision.h"
#include "taeda/nn/settings.h"

namespace taeda::inline v0_2::nn::detail {

namespace {

/// Numbers, flags, lists and enumerators as libtorch's C++ writes them.
void put(std::ostream& out, bool v) { out << (v ? "true" : "false"); }
void put(std::ostream& out, int64_t v) { out << v; }
void put(std::ostream& out, double v) { out << v; }
void put(std::ostream& out, const char* v) { out << v; }
void put(std::ostream& out, const Tensor& t) {
  t.defined() ? void(out << t) : void(out << "[ Tensor (undefined) ]");
}
template <class List>
void put_list(std::ostream& out, const List& values) {
  const char* separator = "[";
  for (const auto& v : values) {
    out << std::exchange(separator, ", ");
    put(out, v);
  }
  out << ']';
}
template <class T>
void put(std::ostream& out, const std::vector<T>& values) {
  put_list(out, values);
}
template <size_t D>
void put(std::ostream& out, const ExpandingArray<D>& v) {
  if constexpr (D == 1)
    out << v[0];
  else
    put_list(out, *v);
}
void put(std::ostream& out, Reduction r) {
  out << (r == kMean ? "kMean" : r == kSum ? "kSum" : "kNone");
}
void put(std::ostream& out, const InterpolationMode& mode) {
  switch (mode) {
    case Interpolation::Nearest: out << "kNearest"; return;
    case Interpolation::Linear: out << "kLinear"; return;
    case Interpolation::Bilinear: out << "kBilinear"; return;
    case Interpolation::Bicubic: out << "kBicubic"; return;
    case Interpolation::Trilinear: out << "kTrilinear"; return;
    case Interpolation::Area: out << "kArea"; return;
    case Interpolation::NearestExact: out << "kNearestExact"; return;
  }
}

/// "Name(a, b=c, ...)", part by part.
class Line {
 public:
  Line(std::ostream& out, const char* name) : out_(out) { out << "torch::nn::" << name << '('; }
  ~Line() { out_ << ')'; }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  template <class T>
  Line& plain(const T& value) {
    out_ << std::exchange(separator_, ", ");
    put(out_, value);
    return *this;
  }
  template <class T>
  Line& operator()(const char* name, const T& value) {
    out_ << std::exchange(separator_, ", ") << name << '=';
    put(out_, value);
    return *this;
  }
  /// What differs from its default.
  template <class T>
  Line& unless(const std::type_identity_t<T>& usual, const char* name, const T& value) {
    return value == usual ? *this : (*this)(name, value);
  }
  Line& given(const char* name, const auto& value) { return value ? (*this)(name, *value) : *this; }

 private:
  std::ostream& out_;
  const char* separator_ = "";
};

using Out = std::ostream;

// What each class prints
// ---------------------------------------------------------------------------

/// Classes of one family differ in their names alone.
#define TAEDA_DESCRIBE(Name) \
  void describe(Out& out, const Name##Impl& m) { describe_options(Line(out, #Name), m.options); }

template <class Options>
void describe_rows(Line& line, const Options& o) {
  line("num_embeddings", o.num_embeddings())("embedding_dim", o.embedding_dim());
}
void describe_options(Line&& line, const EmbeddingOptions& o) {
  describe_rows(line, o);
  line.given("padding_idx", o.padding_idx()).given("max_norm", o.max_norm());
  line.unless(2, "norm_type", o.norm_type());
  line.unless(false, "scale_grad_by_freq", o.scale_grad_by_freq());
  line.unless(false, "sparse", o.sparse());
}
void describe_options(Line&& line, const EmbeddingBagOptions& o) {
  describe_rows(line, o);
  line.given("max_norm", o.max_norm()).unless(2, "norm_type", o.norm_type());
  line.unless(false, "scale_grad_by_freq", o.scale_grad_by_freq());
  line.unless(false, "sparse", o.sparse());
  if (!o.mode().is_mean()) line("mode", o.mode().is_sum() ? "kSum" : "kMax");
  line.unless(false, "include_last_offset", o.include_last_offset());
  line.given("padding_idx", o.padding_idx());
}
TAEDA_DESCRIBE(Embedding)
TAEDA_DESCRIBE(EmbeddingBag)

void describe_options(Line&& line, const HingeEmbeddingLossOptions& o) {
  line("margin", o.margin());
}
void describe_options(Line&& line, const MultiMarginLossOptions& o) {
  line("p", o.p())("margin", o.margin())("weight", o.weight())("reduction", o.reduction());
}
void describe_options(Line&& line, const TripletMarginLossOptions& o) {
  line("margin", o.margin())("p", o.p())("eps", o.eps())("swap", o.swap());
}
void describe_options(Line&& line, const TripletMarginWithDistanceLossOptions& o) {
  line("margin", o.margin())("swap", o.swap());
}
void describe_options(Line&& line, const CosineSimilarityOptions& o) {
  line("dim", o.dim())("eps", o.eps());
}
void describe_options(Line&& line, const PairwiseDistanceOptions& o) {
  line("p", o.p())("eps", o.eps())("keepdim", o.keepdim());
}
TAEDA_DESCRIBE(HingeEmbeddingLoss)
TAEDA_DESCRIBE(MultiMarginLoss)
TAEDA_DESCRIBE(TripletMarginLoss)
TAEDA_DESCRIBE(TripletMarginWithDistanceLoss)
TAEDA_DESCRIBE(CosineSimilarity)
TAEDA_DESCRIBE(PairwiseDistance)
void describe(Out& out, const CosineEmbeddingLossImpl& m) {
  Line(out, "CosineEmbeddingLoss")("margin", m.options.margin());
}

void describe_options(Line&& line, const FoldOptions& o) {
  line("output_size", o.output_size())("kernel_size", o.kernel_size())("dilation", o.dilation())(
      "padding", o.padding())("stride", o.stride());
}
void describe_options(Line&& line, const UnfoldOptions& o) {
  line("kernel_size", o.kernel_size())("dilation", o.dilation())("padding", o.padding())(
      "stride", o.stride());
}
void describe_options(Line&& line, const PixelShuffleOptions& o) {
  line("upscale_factor", o.upscale_factor());
}
void describe_options(Line&& line, const PixelUnshuffleOptions& o) {
  line("downscale_factor", o.downscale_factor());
}
void describe_options(Line&& line, const UpsampleOptions& o) {
  if (o.scale_factor())
    line("scale_factor", *o.scale_factor());
  else
    line.given("size", o.size());
  line("mode", o.mode());
}
template <size_t D>
void describe_options(Line&& line, const PadOptions<D>& o) {
  line("padding", o.padding());
}
template <size_t D>
void describe_options(Line&& line, const ConstantPadOptions<D>& o) {
  line("padding", o.padding())("value", o.value());
}
TAEDA_DESCRIBE(Fold)
TAEDA_DESCRIBE(Unfold)
TAEDA_DESCRIBE(PixelShuffle)
TAEDA_DESCRIBE(PixelUnshuffle)
TAEDA_DESCRIBE(Upsample)
TAEDA_DESCRIBE(ReflectionPad1d)
TAEDA_DESCRIBE(ReflectionPad2d)
TAEDA_DESCRIBE(ReflectionPad3d)
TAEDA_DESCRIBE(ReplicationPad1d)
TAEDA_DESCRIBE(ReplicationPad2d)
TAEDA_DESCRIBE(ReplicationPad3d)
TAEDA_DESCRIBE(ZeroPad2d)
TAEDA_DESCRIBE(ConstantPad1d)
TAEDA_DESCRIBE(ConstantPad2d)
TAEDA_DESCRIBE(ConstantPad3d)

template <class Options>
requires(requires(const Options& o) { o.num_layers(); }) void describe_options(Line&& line,
                                                                               const Options& o) {
  line("input_size", o.input_size())("hidden_size", o.hidden_size());
  line("num_layers", o.num_layers())("bias", o.bias())("batch_first", o.batch_first());
  line("dropout", o.dropout())("bidirectional", o.bidirectional());
  if constexpr (requires { o.proj_size(); }) line.unless(0, "proj_size", o.proj_size());
}
void describe_options(Line&& line, const RNNCellOptions& o) {
  line.plain(o.input_size()).plain(o.hidden_size()).unless(true, "bias", o.bias());
  if (o.nonlinearity() != kTanh) line("nonlinearity", "kReLU");
}
TAEDA_DESCRIBE(RNN)
TAEDA_DESCRIBE(LSTM)
TAEDA_DESCRIBE(GRU)
TAEDA_DESCRIBE(RNNCell)
TAEDA_DESCRIBE(LSTMCell)
TAEDA_DESCRIBE(GRUCell)
#undef TAEDA_DESCRIBE

/// "[Float of size [2, 3]]" for each parameter.
template <class Container>
void describe_parameters(Out& out, const char* name, const Container& parameters) {
  out << "torch::nn::" << name << "(\n";
  for (const auto& [key, tensor] : parameters) {
    out << '(' << key << "): Parameter containing: [" << to_string(tensor.dtype()) << " of size ";
    put_list(out, tensor.sizes());
    out << "]\n";
  }
  out << ')';
}
void describe(Out& out, const ParameterListImpl& m) {
  describe_parameters(out, "ParameterList", m);
}
void describe(Out& out, const ParameterDictImpl& m) {
  describe_parameters(out, "ParameterDict", m);
}

// Which class it is
// ---------------------------------------------------------------------------

/// Prints the module if it is one of these classes.
template <class... M>
bool describe_one_of(Out& out, const Module& module) {
  const auto attempt = [&]<class T>(const T* m) {
    if (m) describe(out, *m);
    return m != nullptr;
  };
  return (attempt(dynamic_cast<const M*>(&module)) || ...);
}

/// "torch::nn::Name" if the module is one of these classes NameImpl.
template <class... M>
std::string handle_name(const Module& module) {
  std::string name;
  const auto attempt = [&]<class T>(const T* m) {
    if (m) name = "torch::nn::" + taeda::detail::short_type_name(typeid(T).name());
    return m != nullptr;
  };
  if ((attempt(dynamic_cast<const M*>(&module)) || ...)) name.resize(name.size() - 4);
  return name;
}

bool describe_any(Out& out, const Module& module) {
  return describe_one_of<
      EmbeddingImpl, EmbeddingBagImpl, HingeEmbeddingLossImpl, MultiMarginLossImpl,
      TripletMarginLossImpl, TripletMarginWithDistanceLossImpl, CosineSimilarityImpl,
      PairwiseDistanceImpl, FoldImpl, UnfoldImpl, PixelShuffleImpl, PixelUnshuffleImpl,
      UpsampleImpl, ReflectionPad1dImpl, ReflectionPad2dImpl, ReflectionPad3dImpl,
      ReplicationPad1dImpl, ReplicationPad2dImpl, ReplicationPad3dImpl, ZeroPad2dImpl,
      ConstantPad1dImpl, ConstantPad2dImpl, ConstantPad3dImpl, RNNImpl, LSTMImpl, GRUImpl,
      RNNCellImpl, LSTMCellImpl, GRUCellImpl, CosineEmbeddingLossImpl, ParameterListImpl,
      ParameterDictImpl>(out, module);
}

/// Of classes without options to print.
std::string bare_name(const Module& module) {
  std::string name =
      handle_name<IdentityImpl, L1LossImpl, MSELossImpl, BCELossImpl, KLDivLossImpl,
                  MultiLabelMarginLossImpl, SoftMarginLossImpl, MultiLabelSoftMarginLossImpl,
                  CTCLossImpl, PoissonNLLLossImpl, MarginRankingLossImpl, NLLLossImpl,
                  CrossEntropyLossImpl, BCEWithLogitsLossImpl, FunctionalImpl>(module);
  if (!name.empty()) return name + "()";
  return handle_name<SmoothL1LossImpl, HuberLossImpl, SequentialImpl, ModuleListImpl,
                     ModuleDictImpl, MultiheadAttentionImpl, AdaptiveLogSoftmaxWithLossImpl>(
      module);
}

void print_tree(Out& out, const Module& module, const std::string& indent) {
  module.pretty_print(out);
  if (module.named_children().is_empty()) return;
  out << "(\n";
  const std::string inner = indent + "  ";
  for (const auto& [name, child] : module.named_children()) {
    out << inner << '(' << name << "): ";
    print_tree(out, *child, inner);
    out << '\n';
  }
  out << indent << ')';
}

}  // namespace

std::string libtorch_class_name(const Module& module) {
  std::string name = taeda::detail::type_name(typeid(module).name());
  constexpr std::string_view ours = "taeda::", theirs = "torch::";
  for (size_t at = 0; (at = name.find(ours, at)) != std::string::npos; at += theirs.size())
    name.replace(at, ours.size(), theirs);
  return name;
}

void print_libtorch_line(Out& out, const Module& module) {
  Settings shown(Dialect::Libtorch);
  module.settings(shown);
  if (!shown.layer().empty()) {
    out << "torch::nn::" << shown.layer() << '(' << shown.text() << ')';
    return;
  }
  if (describe_any(out, module)) return;
  const std::string bare = bare_name(module);
  out << (bare.empty() ? module.name() : bare);
}

void print_libtorch_tree(Out& out, const Module& module) { print_tree(out, module, ""); }

}  // namespace taeda::inline v0_2::nn::detail
