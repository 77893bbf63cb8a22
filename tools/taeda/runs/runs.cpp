// `taeda runs`: the runs below a folder with their figures, and what differs between some of them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "taeda/log/table.h"
#include "taeda/log/terminal.h"
#include "tools/taeda/command.h"
#include "tools/taeda/json.h"
#include "tools/taeda/runs/run.h"

namespace taeda::tool {

namespace {

namespace fs = std::filesystem;
constexpr int kDeepest = 3;  // folders below the one that is looked through

struct RunsOptions {
  std::vector<std::string> paths = {"."};
  bool json = false;
};

void collect(const fs::path& folder, int depth, std::vector<Run>& out) {
  if (std::optional<Run> run = read_run(folder)) out.push_back(std::move(*run));
  if (depth == 0) return;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored) &&
        entry.path().filename().string()[0] != '.')
      collect(entry.path(), depth - 1, out);
}

Json json_of(const Run& run) {
  Json out = {{"folder", run.folder},        {"state", run.state},
              {"device", run.device},        {"date", date_text(run.date)},
              {"epochs", run.epochs.size()}, {"seconds", run.seconds()}};
  const auto add = [&](const char* name, double value) {
    if (!std::isnan(value)) out.set(name, value);
  };
  if (const Run::Epoch* best = run.best()) {
    out.set("best_epoch", best - run.epochs.data() + 1);
    add("best_test_loss", best->test_loss);
    add("best_test_accuracy", best->test_accuracy);
    add("train_loss", run.epochs.back().train_loss);
    add("test_loss", run.epochs.back().test_loss);
    add("test_accuracy", run.epochs.back().test_accuracy);
  }
  add("per_second", run.rate);
  Json settings = Json::object();
  for (const auto& [key, value] : run.settings) settings.set(key, value);
  return out.set("settings", settings);
}

int print_runs(std::vector<Run> runs, const RunsOptions& o) {
  std::stable_sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return a.date != b.date ? a.date < b.date : a.folder < b.folder;
  });
  if (o.json) {
    Json list = Json::array();
    for (const Run& run : runs) list.push_back(json_of(run));
    print_json({{"runs", list}});
    return 0;
  }
  if (runs.empty()) {
    std::printf("no runs below %s; taeda train makes some\n", o.paths[0].c_str());
    return 0;
  }
  logging::Table table(
      {"run", "task", "model", "epochs", "best loss", "best acc", "time", "device", "date"});
  for (const Run& run : runs) {
    const Run::Epoch* best = run.best();
    table.row({run.folder, run.setting("task"), run.setting("model"),
               run.state == "finished" || run.state == "unfinished" ? epochs_text(run) : run.state,
               best ? loss_text(best->test_loss) : "",
               best ? accuracy_text(best->test_accuracy) : "",
               logging::format_duration(run.seconds()), run.device, date_text(run.date)});
  }
  std::printf("%s", table.str().c_str());
  return 0;
}

Json json_of(const RunLines& lines, const std::vector<Run>& runs) {
  Json out = Json::object();
  for (const auto& line : lines) {
    Json values;
    for (size_t i = 0; i < runs.size(); ++i) values.set(runs[i].folder, line[i + 1]);
    out.set(line[0], values);
  }
  return out;
}

int compare(const std::vector<Run>& runs, const RunsOptions& o) {
  const RunLines settings = run_settings(runs), values = run_figures(runs);
  if (o.json) {
    Json list = Json::array();
    for (const Run& run : runs) list.push_back(json_of(run));
    print_json({{"runs", list}, {"differs", json_of(settings, runs)}});
    return 0;
  }
  const auto print = [&](const char* title, const RunLines& lines) {
    std::vector<std::string> header = {title};
    for (const Run& run : runs) header.push_back(run.folder);
    logging::Table table(header);
    for (const auto& line : lines) table.row(line);
    std::printf("%s", table.str().c_str());
  };
  if (settings.empty())
    std::printf("the settings are the same\n");
  else
    print("setting", settings);
  print("figure", values);
  return 0;
}

int run_runs(const RunsOptions& o) {
  if (o.paths.size() > 1) return compare(read_runs(o.paths), o);
  if (!fs::is_directory(o.paths[0])) throw UsageError("there is no folder " + o.paths[0]);
  std::vector<Run> runs;
  collect(o.paths[0], kDeepest, runs);
  return print_runs(std::move(runs), o);
}

}  // namespace

void add_runs(const Command& app) {
  const Command c = app.add_command(
      "runs", "List runs with their figures, or compare some",
      {"taeda runs", "taeda runs experiments --json", "taeda runs out out-2     # what differs"});
  auto o = std::make_shared<RunsOptions>();
  c.add_plain("paths", o->paths,
              "A folder whose runs are listed, by default this one; or two runs or more, which "
              "are compared");
  c.add_flag("--json", o->json, "Print JSON");
  c.on_call([o] { return run_runs(*o); });
}

}  // namespace taeda::tool
