// Text, byte by byte: a network learns to tell each one from those before it.
#include <algorithm>
#include <array>
#include <cstdio>

#include "taeda/data/dataset.h"
#include "taeda/io/file_bytes.h"
#include "taeda/log/terminal.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/shape/shape.h"
#include "tools/taeda/command.h"
#include "tools/taeda/train/generate.h"
#include "tools/taeda/train/inputs.h"
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

/// The bytes that occur, in order.
std::string vocabulary_of(const std::string& text) {
  std::array<bool, 256> occurs{};
  for (char c : text) occurs[static_cast<unsigned char>(c)] = true;
  std::string out;
  for (size_t b = 0; b < occurs.size(); ++b)
    if (occurs[b]) out += static_cast<char>(b);
  return out;
}

/// For the terminal and for JSON: bytes that are no printable ASCII and no line ends become '.'.
std::string printable(std::string text) {
  for (char& c : text)
    if (c != '\n' && (c < ' ' || c > '~')) c = '.';
  return text;
}

/// The part that is for the test.
Task text_test(const About& about, const Tensor& test, int64_t seed) {
  Task task;
  task.about = about;
  task.unit = "characters";
  task.test_loader = [pieces = Pieces(test, about.context)](data::LoaderConfig c) {
    return Loader(pieces, c);
  };
  task.loss = [](const Tensor& scores, const Tensor& targets) {
    return cross_entropy(scores.flatten(0, 1), targets.flatten());
  };
  task.finish = [=](const Finished& f, logging::JsonObject& result) {
    const Tensor start = test.narrow(0, 0, std::min<int64_t>(about.context, 16));
    std::string sample;
    generate_text(f.network, f.device, about, start,
                  {.length = kSampleLength, .seed = static_cast<uint64_t>(seed)},
                  [&](char c) { sample += c; });
    sample = printable(sample);
    if (!f.quiet) std::printf("\n%s\n", sample.c_str());
    result.set("sample", sample);
  };
  return task;
}

std::string different_ones(const About& about) {
  return " test characters, " + std::to_string(about.vocabulary.size()) + " different ones";
}

}  // namespace

Task make_text_task(const TrainOptions& options) {
  const auto read = [](const std::string& path) {
    return user_input([&] { return io::read_file(path); });
  };
  const std::string text = read(options.data);
  About about{.task = "text", .model = options.model};
  about.vocabulary = vocabulary_of(text);
  about.context = options.context;
  about.layers = options.layers;
  about.width = options.width;
  const Tensor tokens = text_tokens(text, about, options.data);
  const int64_t length = tokens.numel();
  const int64_t train_length = options.test.empty() ? length - length / 10 : length;
  const Tensor train = tokens.narrow(0, 0, train_length),
               test = options.test.empty() ? tokens.narrow(0, train_length, length - train_length)
                                           : text_tokens(read(options.test), about, options.test);
  if (std::min(train.numel(), test.numel()) <= about.context)
    throw UsageError(taeda::detail::concat(options.data, " holds ", length,
                                           " bytes: too few for pieces of ", about.context,
                                           " (a tenth is for the test); lower --context"));
  if (options.model != "gpt" && options.model != "lstm")
    throw UsageError("--model must be one of gpt, lstm, got " + options.model);
  Task task = text_test(about, test, options.seed);
  const Pieces pieces(train, about.context);
  task.train_size = static_cast<int64_t>(*pieces.size()) * about.context;
  task.title = options.data + ": " + logging::with_commas(train.numel()) + " training and " +
               logging::with_commas(test.numel()) + different_ones(about);
  task.train_loader = [pieces](data::LoaderConfig c) { return Loader(pieces, c); };
  return task;
}

Task make_text_test(const About& about, const std::string& data) {
  const std::string text = user_input([&] { return io::read_file(data); });
  const Tensor tokens = text_tokens(text, about, data);
  if (tokens.numel() <= about.context)
    throw UsageError(taeda::detail::concat(data, " holds ", tokens.numel(),
                                           " bytes: too few for pieces of ", about.context));
  Task task = text_test(about, tokens, /*seed=*/0);
  task.title = data + ": " + logging::with_commas(tokens.numel()) + different_ones(about);
  return task;
}

}  // namespace taeda::tool
