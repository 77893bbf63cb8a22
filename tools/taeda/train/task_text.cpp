// Text, byte by byte: a network learns to tell each one from those before it.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "taeda/data/dataset.h"
#include "taeda/device/generator.h"
#include "taeda/io/file_bytes.h"
#include "taeda/log/terminal.h"
#include "taeda/ops/create.h"
#include "taeda/ops/loss.h"
#include "taeda/ops/shape.h"
#include "taeda/ops/softmax.h"
#include "taeda/tensor/grad_mode.h"
#include "tools/taeda/command.h"
#include "tools/taeda/train/networks.h"
#include "tools/taeda/train/task.h"

namespace taeda::tool {

namespace {

constexpr int64_t kSampleLength = 200;

/// Pieces of `context` tokens, one behind the other, and the tokens that follow each token.
class Pieces : public data::datasets::Dataset<Pieces> {
 public:
  Pieces(Tensor tokens, int64_t context) : tokens_(std::move(tokens)), context_(context) {}

  data::Example<> get(size_t index) override {
    const int64_t first = static_cast<int64_t>(index) * context_;
    return {tokens_.narrow(0, first, context_), tokens_.narrow(0, first + 1, context_)};
  }
  std::optional<size_t> size() const override {
    return static_cast<size_t>((tokens_.size(0) - 1) / context_);
  }

 private:
  Tensor tokens_;
  int64_t context_;
};

struct Text {
  std::string vocabulary;  ///< the bytes that occur, in order
  Tensor tokens;           ///< their positions there
};

/// The tokens of a file: positions in its own vocabulary, or in the one given.
Text read_text(const std::string& path, std::string vocabulary = "") {
  const std::string bytes = io::read_file(path);
  if (vocabulary.empty()) {
    std::array<bool, 256> occurs{};
    for (char c : bytes) occurs[static_cast<unsigned char>(c)] = true;
    for (size_t b = 0; b < occurs.size(); ++b)
      if (occurs[b]) vocabulary += static_cast<char>(b);
  }
  std::array<int64_t, 256> token;
  token.fill(-1);
  for (size_t i = 0; i < vocabulary.size(); ++i)
    token[static_cast<unsigned char>(vocabulary[i])] = static_cast<int64_t>(i);
  Text out{vocabulary, empty({static_cast<int64_t>(bytes.size())}, kLong)};
  auto* t = out.tokens.data_ptr<int64_t>();
  for (size_t i = 0; i < bytes.size(); ++i) {
    t[i] = token[static_cast<unsigned char>(bytes[i])];
    if (t[i] < 0)
      throw UsageError(taeda::detail::concat(path, ": byte ", i,
                                             " is one that the training text does not have"));
  }
  return out;
}

/// Text that the network makes up, token after token, from the start of the test text on.
std::string make_up(const Finished& f, const Text& text, const Tensor& start, int64_t context,
                    int64_t seed) {
  const NoGradGuard no_grad;
  const Generator random(kCPU, static_cast<uint64_t>(seed));
  std::vector<int64_t> tokens(start.data_ptr<int64_t>(), start.data_ptr<int64_t>() + start.numel());
  std::string out;
  for (int64_t i = 0; i < kSampleLength; ++i) {
    const auto seen = std::min(static_cast<int64_t>(tokens.size()), context);
    const Tensor input =
        tensor(std::vector<int64_t>(tokens.end() - seen, tokens.end())).unsqueeze(0).to(f.device);
    const Tensor scores = f.network.forward(input).select(1, seen - 1).select(0, 0);
    const Tensor likely = scores.to(kFloat).softmax(0).cpu().contiguous();
    double left = random.uniform();
    int64_t next = 0;
    for (; next + 1 < likely.numel(); ++next)
      if ((left -= likely.data_ptr<float>()[next]) < 0) break;
    tokens.push_back(next);
    out += text.vocabulary[static_cast<size_t>(next)];
  }
  return out;
}

/// For the terminal and for JSON: bytes that are no printable ASCII and no line ends become '.'.
std::string printable(std::string text) {
  for (char& c : text)
    if (c != '\n' && (c < ' ' || c > '~')) c = '.';
  return text;
}

}  // namespace

Task make_text_task(const TrainOptions& options) {
  const Text text = user_input([&] { return read_text(options.data); });
  const int64_t context = options.context, length = text.tokens.numel();
  const Text other = options.test.empty()
                         ? Text()
                         : user_input([&] { return read_text(options.test, text.vocabulary); });
  const int64_t train_length = options.test.empty() ? length - length / 10 : length;
  const Tensor train = text.tokens.narrow(0, 0, train_length),
               test = options.test.empty()
                          ? text.tokens.narrow(0, train_length, length - train_length)
                          : other.tokens;
  if (std::min(train.numel(), test.numel()) <= context)
    throw UsageError(taeda::detail::concat(options.data, " holds ", length,
                                           " bytes: too few for pieces of ", context,
                                           " (a tenth is for the test); lower --context"));
  const TextShape shape{static_cast<int64_t>(text.vocabulary.size()), context, options.layers,
                        options.width};
  if (options.model != "gpt" && options.model != "lstm")
    throw UsageError("--model must be one of gpt, lstm, got " + options.model);
  Task task;
  const Pieces train_pieces(train, context), test_pieces(test, context);
  task.unit = "characters";
  task.train_size = static_cast<int64_t>(*train_pieces.size()) * context;
  task.title = options.data + ": " + logging::with_commas(train.numel()) + " training and " +
               logging::with_commas(test.numel()) + " test characters, " +
               std::to_string(shape.vocabulary) + " different ones";
  task.train_loader = [train_pieces](data::LoaderConfig c) { return Loader(train_pieces, c); };
  task.test_loader = [test_pieces](data::LoaderConfig c) { return Loader(test_pieces, c); };
  task.make_network = [name = options.model, shape] { return make_text_model(name, shape); };
  task.loss = [](const Tensor& scores, const Tensor& targets) {
    return cross_entropy(scores.flatten(0, 1), targets.flatten());
  };
  task.finish = [=, seed = options.seed](const Finished& f, logging::JsonObject& result) {
    const Tensor start = test.narrow(0, 0, std::min<int64_t>(context, 16));
    const std::string sample = printable(make_up(f, text, start, context, seed));
    std::printf("\n%s\n", sample.c_str());
    result.set("sample", sample);
  };
  return task;
}

}  // namespace taeda::tool
