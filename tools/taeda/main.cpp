// The `taeda` command.
#include <algorithm>
#include <cstdio>
#include <exception>

#include "taeda/base/nearest.h"
#include "tools/taeda/command.h"
#include "tools/taeda/train/config.h"

namespace {

using namespace taeda::tool;

/// What scripts need: one line. What people need: words that are whole.
int fail(const std::string& message, int code) {
  std::string line = message;
  for (char& c : line)
    if (c == '\n') c = ' ';
  std::fprintf(stderr, "%s", paragraph("taeda: " + line, stderr).c_str());
  return code;
}

/// The commands and flags at and below `app`.
std::vector<std::string> words_of(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; })) {
    words.push_back(c->get_name());
    for (const std::string& word : words_of(*c)) words.push_back(word);
  }
  return words;
}

/// What the user may have meant by the first word that was not understood.
std::string suggestion(const CLI::App& app) {
  const std::vector<std::string> rest = app.remaining();
  if (rest.empty()) return "";
  const std::string nearest =
      taeda::nearest_name(rest[0].substr(0, rest[0].find('=')), words_of(app));
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

/// What is wrong with the command line; where a command is missing, which ones there are.
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  for (const CLI::App* chosen : app.get_subcommands()) return explain(*chosen, error);
  std::string names;
  for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; }))
    names += (names.empty() ? "" : ", ") + c->get_name();
  const int required = static_cast<int>(CLI::ExitCodes::RequiredError);
  if (names.empty() && error.get_exit_code() == required) {  // of what nobody knows, first
    const std::vector<std::string> words = app.remaining();
    if (!words.empty() && words[0].starts_with('-'))
      return app.get_name() + " does not know " + words[0] + suggestion(app);
    return app.get_name() + ": " + error.what();
  }
  if (names.empty() || error.get_exit_code() != required) return error.what() + suggestion(app);
  const std::vector<std::string> words = app.remaining();
  const std::string got = words.empty() ? "nothing" : "'" + words[0] + "'";
  return (app.get_parent() ? app.get_name() + ": " : "") + "expected one of " + names + ", got " +
         got + suggestion(app);
}

int run(int argc, char** argv) {
  CLI::App app("Taeda: deep learning in C++", "taeda");
  app.set_version_flag("--version", std::string("taeda ") + TAEDA_VERSION);
  app.formatter(std::make_shared<WrappedHelp>());  // of its commands, too
  app.require_subcommand(1);
  app.footer("taeda COMMAND --help shows a command's\noptions and examples.");
  Action action;
  const std::vector<std::string> given(argv, argv + argc);
  add_train(app, action, given);
  add_eval(app, action);
  add_predict(app, action);
  add_generate(app, action);
  add_runs(app, action);
  add_report(app, action);
  add_launch(app, action);
  add_devices(app, action);
  add_info(app, action);
  add_bench(app, action);
  add_plan(app, action);
  add_inspect(app, action);
  add_convert(app, action);
  add_export(app, action);
  add_plot(app, action);
  add_trace(app, action);
  add_ops(app, action);
  add_completion(app, action);
  if (argc == 1 || (argc == 2 && given[1] == "help")) {
    std::printf("%s", app.help().c_str());
    return 0;
  }
  try {
    std::vector<std::string> words = with_config(app, given);
    words.erase(words.begin());
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    app.parse(words);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help and --version
    return fail(explain(app, e) + " (see --help)", kExitUsage);
  }
  return action();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const UsageError& e) {
    return fail(e.message(), kExitUsage);
  } catch (const std::exception& e) {
    return fail(e.what(), kExitFailure);
  }
}
