// `taeda generate`: text that a trained language model makes up.
#include "tools/taeda/train/generate.h"

#include <cmath>
#include <cstdio>

#include "tools/taeda/json.h"
#include "tools/taeda/train/inputs.h"
#include "tools/taeda/use/trained.h"

namespace taeda::tool {

namespace {

struct GenerateCall {
  UseOptions use;
  std::string prompt;
  GenerateOptions how;
  int64_t seed = 0;
};

/// Where nothing was given, the text begins on a new line.
std::string start_of(const GenerateCall& o, const About& about) {
  if (!o.prompt.empty()) return o.prompt;
  return about.vocabulary.substr(
      about.vocabulary.find('\n') == std::string::npos ? 0 : about.vocabulary.find('\n'), 1);
}

int run_generate(GenerateCall o) {
  check_flag(o.how.length > 0 && o.how.length <= 10000000, "--length", "from 1 to 10000000",
             o.how.length);
  check_flag(std::isfinite(o.how.temperature) && o.how.temperature >= 0, "--temperature",
             "0 or more", o.how.temperature);
  check_flag(o.how.top_k >= 0, "--top-k", "0 or more", o.how.top_k);
  check_flag(o.seed >= 0, "--seed", "0 or more", o.seed);
  o.how.seed = static_cast<uint64_t>(o.seed);
  const Device device = user_input([&] { return choose_device(o.use.device); });
  Trained t = open_trained(o.use, device);
  if (t.about.task != "text")
    throw UsageError(o.use.run + " is of the task " + t.about.task +
                     "; taeda generate wants one of text (taeda predict takes the others)");
  const Tensor start = text_tokens(start_of(o, t.about), t.about, "--prompt");
  std::string text;
  if (!o.use.json) std::fwrite(o.prompt.data(), 1, o.prompt.size(), stdout);
  generate_text(t.network, device, t.about, start, o.how, [&](char c) {
    text += c;
    if (o.use.json) return;
    std::fputc(c, stdout);
    std::fflush(stdout);
  });
  if (o.use.json)
    print_json({{"checkpoint", t.path},
                {"prompt", o.prompt},
                {"text", text},
                {"temperature", o.how.temperature},
                {"top_k", o.how.top_k},
                {"seed", o.seed}});
  else
    std::printf("\n");
  return 0;
}

}  // namespace

void add_generate(const Command& app) {
  const Command c =
      app.add_command("generate", "Let a trained language model go on with a text",
                      {"taeda generate out --prompt 'Once upon a time'",
                       "taeda generate out --length 1000 --temperature 0.8 --top-k 10 --seed 3"});
  auto o = std::make_shared<GenerateCall>();
  add_use(c, o->use);
  c.add_option("--prompt", o->prompt, "Text to go on with; default: a new line");
  c.add_option("--length", o->how.length, "Bytes to make up");
  c.add_option("--temperature", o->how.temperature,
               "Below 1 more of what is likely, above 1 less; 0: always the likeliest byte");
  c.add_option("--top-k", o->how.top_k, "Draw among as many of the likeliest bytes; 0: all");
  c.add_option("--seed", o->seed, "Of the random numbers: a seed gives one text");
  c.on_call([o] { return run_generate(*o); });
}

}  // namespace taeda::tool
