// `taeda launch`: a program on several processes and machines, with torchrun's flags.
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "taeda/distributed/cluster/descriptor.h"
#include "tools/taeda/command.h"
#include "tools/taeda/launch/flags.h"
#include "tools/taeda/launch/hosts.h"

namespace taeda::tool {

namespace {

using distributed::cluster::launch_flags;
using distributed::cluster::LaunchFlag;
using distributed::cluster::LaunchOptions;

}  // namespace

bool LaunchFlags::says(const std::string& flag) const {
  const auto& all = launch_flags();
  const auto declared =
      std::find_if(all.begin(), all.end(), [&](const LaunchFlag& one) { return one.name == flag; });
  return given.at(flag) != declared->otherwise;
}

LaunchOptions launch_options(const LaunchFlags& flags) {
  return user_input([&] {
    LaunchOptions out = distributed::cluster::launch_options(flags.given, flags.command);
    // One person sees what all of them say, and the file of machines says how they differ.
    out.says_end = !flags.controlled || out.agents.node_rank.value_or(0) == 0;
    out.says_differences = !flags.controlled;
    return out;
  });
}

namespace {

/// A flag as command lines may write it: "-t,--tee", "--node-rank,--node_rank".
std::string spellings(const LaunchFlag& flag) {
  const std::string name = flag.name;
  std::string other = name.substr(2);
  std::replace(other.begin(), other.end(), '-', '_');
  const std::string letter = *flag.letter ? std::string(flag.letter) + "," : "";
  return letter + name + ("--" + other == name ? "" : ",--" + other);
}

/// Switches, until they are texts as the others are.
struct Switch {
  std::string name;
  bool on = false;
};

void add_flags(const Command& c, LaunchFlags& f, std::vector<Switch>& switches) {
  switches.reserve(launch_flags().size());  // they stay where they are
  for (const LaunchFlag& flag : launch_flags()) {
    std::string& text = f.given[flag.name] = flag.initial();
    if (flag.kind == LaunchFlag::Kind::kSwitch)
      c.add_flag(spellings(flag), switches.emplace_back(flag.name).on, flag.help);
    else
      c.add_option(spellings(flag), text, flag.help);
  }
  c.add_option("--hosts", f.hosts, "A file that names machines; a launcher is started on each");
  c.add_flag("--check-hosts,--check_hosts", f.check_hosts,
             "Say what those machines lack, and start nothing");
  c.add_flag("--controlled", f.controlled, "").hidden();
  c.add_option("--probe", f.probe, "").hidden();
}

/// The program and its arguments: what follows the flags.
std::vector<std::string> program_of(const Command& c) {
  const std::vector<std::string> words = c.remaining();
  if (!words.empty() && words[0].starts_with('-'))
    throw UsageError("launch does not know the flag " + words[0] + c.suggestion() +
                     " (see --help)");
  if (words.empty()) throw UsageError("launch needs a program to run (see --help)");
  return words;
}

/// A secret that another launcher has sent, as if it had come with this process.
void take_secret(const std::string& secret) {
  if (secret.empty()) return;
  const int file = distributed::cluster::file_of_text("taeda_secret", secret).release();
  ::unsetenv("TAEDA_DISTRIBUTED_SECRET_FILE");
  ::setenv("TAEDA_DISTRIBUTED_SECRET_FD", std::to_string(file).c_str(), 1);
}

int run_launch(const LaunchFlags& flags) {
  if (!flags.probe.empty()) return answer_probe(flags);
  check_flag(!flags.check_hosts || !flags.hosts.empty(), "--hosts", "given with --check-hosts",
             "none");
  if (flags.check_hosts) return check_hosts(flags);
  if (!flags.hosts.empty()) return launch_on_hosts(flags);
  const LaunchOptions options = launch_options(flags);
  if (flags.controlled) take_secret(obey_standard_input());
  return distributed::cluster::launch(options);
}

}  // namespace

void add_launch(const Command& app) {
  const Command c = app.add_command(
      "launch", "Run a program on several processes and machines",
      {"taeda launch --standalone --nproc-per-node 4 ./train --epochs 3",
       "taeda launch --nnodes 2 --nproc-per-node 8 --rdzv-endpoint node1:29400 ./train   # on both",
       "taeda launch --nproc-per-node 4 --max-restarts 3 --log-dir logs ./train",
       "taeda launch --hosts cluster.toml --check-hosts ./train",
       "taeda launch --hosts cluster.toml --monitor ./train"});
  c.take_rest();
  auto flags = std::make_shared<LaunchFlags>();
  auto switches = std::make_shared<std::vector<Switch>>();
  add_flags(c, *flags, *switches);
  c.on_call([c, flags, switches] {
    flags->command = program_of(c);
    for (const Switch& one : *switches)
      if (one.on) flags->given[one.name] = "1";
    return run_launch(*flags);
  });
}

}  // namespace taeda::tool
