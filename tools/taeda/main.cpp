// The `taeda` command.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include "tools/taeda/commands.h"

namespace {

using namespace taeda::tool;

/// What scripts and people need: one line.
int fail(const std::string& message, int code) {
  std::string line = message;
  for (char& c : line)
    if (c == '\n') c = ' ';
  std::fprintf(stderr, "taeda: %s\n", line.c_str());
  return code;
}

void add_train_options(CLI::App& command, TrainOptions& o) {
  const auto add = [&](const char* flag, auto& value, const char* help) {
    // Of a flag that is given twice, the last one counts, so that wrappers can have their defaults.
    command.add_option(flag, value, help)->capture_default_str()->take_last();
  };
  add("--device", o.device, "cpu, cuda, cuda:N, sim, sim:N, or auto: a GPU if there is one");
  add("--epochs", o.epochs, "Passes over the training images");
  add("--batch-size", o.batch_size, "Images per step");
  add("--lr", o.lr, "Highest learning rate of the one-cycle schedule");
  add("--workers", o.workers, "Threads that read batches ahead");
  add("--threads", o.threads, "Threads that compute; 0: one per core");
  add("--seed", o.seed, "Seed of weights and order; the same seed gives the same numbers");
  add("--data", o.data, "Folder of the IDX files, plain or .gz");
  add("--out", o.out, "Folder for checkpoint, picture and result");
}

int run(int argc, char** argv) {
  CLI::App app("Taeda: deep learning in C++");
  app.set_version_flag("--version", std::string("taeda ") + TAEDA_VERSION);
  app.require_subcommand(1);
  TrainOptions options;
  CLI::App* train = app.add_subcommand("train", "Train a model");
  train->require_subcommand(1);
  CLI::App* fashion =
      train->add_subcommand("fashion-mnist", "A convolutional network on Fashion-MNIST");
  add_train_options(*fashion, options);
  CLI::App* devices = app.add_subcommand("devices", "List the devices that can be used");
  app.add_subcommand("info", "Show version and optional parts");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help and --version
    return fail(std::string(e.what()) + " (see --help)", kExitUsage);
  }
  if (fashion->parsed()) return run_train_fashion_mnist(options);
  return devices->parsed() ? run_devices() : run_info();
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, [](int) { interrupted = 1; });
  try {
    return run(argc, argv);
  } catch (const UsageError& e) {
    return fail(e.message(), kExitUsage);
  } catch (const Interrupted&) {
    return fail("interrupted", kExitInterrupted);
  } catch (const std::exception& e) {
    return fail(e.what(), kExitFailure);
  }
}
