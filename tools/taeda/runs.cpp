// `taeda runs`: the runs below a folder with their figures, and what differs between some of them.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>

#include "taeda/io/safetensors.h"
#include "taeda/log/table.h"
#include "taeda/log/terminal.h"
#include "tools/taeda/command.h"
#include "tools/taeda/train/folders.h"
#include "tools/taeda/train/options.h"

namespace taeda::tool {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Settings = std::vector<std::pair<std::string, std::string>>;

constexpr int kDeepest = 3;  // folders below the one that is looked through

struct RunsOptions {
  std::vector<std::string> paths = {"."};
  bool json = false;
};

struct Epoch {
  double train_loss = NAN, test_loss = NAN, train_accuracy = NAN, test_accuracy = NAN, seconds = 0;
};

struct Run {
  std::string folder, state, device = {};  ///< state: "finished", "unfinished", "no checkpoint"
  Settings settings = {};                  ///< without data and other places
  std::vector<Epoch> epochs = {};
  std::time_t date = 0;
  double rate = NAN;  ///< units each second
  std::string unit = {};

  std::string setting(const std::string& name) const {
    for (const auto& [key, value] : settings)
      if (key == name) return value;
    return "";
  }
  const Epoch* best() const {
    const Epoch* out = nullptr;
    for (const Epoch& e : epochs)
      if (!out || e.test_loss < out->test_loss || std::isnan(out->test_loss)) out = &e;
    return out;
  }
  double seconds() const {
    double out = 0;
    for (const Epoch& e : epochs) out += e.seconds;
    return out;
  }
};

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
  if (value.is_number_float()) return exact_text(value.get<double>());
  return value.dump();
}

double number(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : NAN;
}

Settings settings_of(const Json& config) {
  Settings out;
  for (const auto& [key, value] : config.items()) out.emplace_back(key, text_of(value));
  return out;
}

/// From result.json. Those of earlier versions have a part of the settings beside the figures.
bool read_result(const Json& result, Run& run) {
  if (!result.is_object() || !result.contains("epochs") || !result["epochs"].is_array())
    return false;
  run.state = "finished";
  if (result.contains("device")) run.device = text_of(result["device"]);
  if (result.contains("config") && result["config"].is_object())
    run.settings = settings_of(result["config"]);
  else
    for (const char* name : {"task", "model", "lr", "batch_size", "seed", "amp", "nproc"})
      if (result.contains(name)) run.settings.emplace_back(name, text_of(result[name]));
  for (const Json& e : result["epochs"])
    run.epochs.push_back({number(e, "train_loss"), number(e, "test_loss"),
                          number(e, "train_accuracy"), number(e, "test_accuracy"),
                          number(e, "seconds")});
  for (const auto& [key, value] : result.items())
    if (key.ends_with("_per_second") && value.is_number()) {
      run.rate = value.get<double>();
      run.unit = key.substr(0, key.size() - std::string("_per_second").size()) + "/s";
    }
  return true;
}

/// From what stands in a checkpoint's head; no tensor is read.
void read_checkpoint(const fs::path& path, Run& run) {
  const io::Metadata head = io::SafeTensors::open(path.string()).metadata();
  const auto text = [&](const std::string& name) {
    const auto found = head.find(name);
    return found == head.end() ? std::string() : found->second;
  };
  const auto value = [&](const std::string& name) {
    return text(name).empty() ? NAN : std::strtod(text(name).c_str(), nullptr);
  };
  run.state = "unfinished";
  run.device = text("device");
  const Json config = Json::parse(text("config"), nullptr, /*allow_exceptions=*/false);
  if (config.is_object()) {
    run.settings = settings_of(config);
  } else {
    run.settings = {{"task", text("run.task")}, {"model", text("run.--model")}};
    for (const auto& [key, content] : head)
      if (key.starts_with("run.--") && key != "run.--model")
        run.settings.emplace_back(key.substr(6), content);
  }
  for (int64_t e = 1; static_cast<double>(e) <= value("epoch"); ++e) {
    const std::string name = "epochs." + std::to_string(e) + ".";
    // Tasks that count no hits have an accuracy of 0 there.
    const double train = value(name + "train.accuracy"), test = value(name + "test.accuracy");
    const bool counted = train > 0 || test > 0;
    run.epochs.push_back({value(name + "train.loss"), value(name + "test.loss"),
                          counted ? train : NAN, counted ? test : NAN,
                          value(name + "train.seconds")});
  }
}

std::time_t time_of(const fs::path& path) {
  const auto written = std::chrono::file_clock::to_sys(fs::last_write_time(path));
  return std::chrono::system_clock::to_time_t(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(written));
}

/// The run in a folder; none where there is something else, and a reason where it cannot be read.
std::optional<Run> read_run(const fs::path& folder) {
  if (!holds_run(folder.string())) return {};
  Run run{.folder = folder.lexically_normal().string(), .state = "no checkpoint"};
  const fs::path result = folder / kResultFile, checkpoint = folder / kCheckpointFile;
  if (fs::exists(result)) {
    std::ifstream file(result);
    // Others have files of this name, too.
    if (!read_result(Json::parse(file, nullptr, /*allow_exceptions=*/false), run)) return {};
    run.date = time_of(result);
  } else if (fs::exists(checkpoint)) {
    try {
      read_checkpoint(checkpoint, run);
    } catch (const Error&) {
      run.state = "damaged";
    }
    run.date = time_of(checkpoint);
  } else {
    run.date = time_of(folder);
  }
  return run;
}

void collect(const fs::path& folder, int depth, std::vector<Run>& out) {
  if (std::optional<Run> run = read_run(folder)) out.push_back(std::move(*run));
  if (depth == 0) return;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored) &&
        entry.path().filename().string()[0] != '.')
      collect(entry.path(), depth - 1, out);
}

std::string date_text(std::time_t time) {
  char out[32];
  std::tm local{};
  localtime_r(&time, &local);
  std::strftime(out, sizeof out, "%Y-%m-%d %H:%M", &local);
  return out;
}

std::string epochs_text(const Run& run) {
  const std::string done = std::to_string(run.epochs.size()), all = run.setting("epochs");
  return all.empty() ? done : done + "/" + all;
}

std::string loss_text(double loss) { return std::isnan(loss) ? "" : logging::fixed(loss, 4); }
std::string accuracy_text(double a) { return std::isnan(a) ? "" : logging::percent(a); }

Json json_of(const Run& run) {
  Json out = {{"folder", run.folder},        {"state", run.state},
              {"device", run.device},        {"date", date_text(run.date)},
              {"epochs", run.epochs.size()}, {"seconds", run.seconds()}};
  const auto add = [&](const char* name, double value) {
    if (!std::isnan(value)) out[name] = value;
  };
  if (const Epoch* best = run.best()) {
    out["best_epoch"] = best - run.epochs.data() + 1;
    add("best_test_loss", best->test_loss);
    add("best_test_accuracy", best->test_accuracy);
    add("train_loss", run.epochs.back().train_loss);
    add("test_loss", run.epochs.back().test_loss);
    add("test_accuracy", run.epochs.back().test_accuracy);
  }
  add("per_second", run.rate);
  out["settings"] = Json::object();
  for (const auto& [key, value] : run.settings) out["settings"][key] = value;
  return out;
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
    const Epoch* best = run.best();
    table.row({run.folder, run.setting("task"), run.setting("model"),
               run.state == "finished" || run.state == "unfinished" ? epochs_text(run) : run.state,
               best ? loss_text(best->test_loss) : "",
               best ? accuracy_text(best->test_accuracy) : "",
               logging::format_duration(run.seconds()), run.device, date_text(run.date)});
  }
  std::printf("%s", table.str().c_str());
  return 0;
}

/// Name and the value of each run, where these differ.
using Lines = std::vector<std::vector<std::string>>;

void add_line(Lines& lines, const std::string& name, const std::vector<Run>& runs, bool always,
              const std::function<std::string(const Run&)>& text) {
  std::vector<std::string> line = {name};
  bool differs = false, said = false;
  for (const Run& run : runs) {
    line.push_back(text(run));
    differs = differs || line.back() != line[1];
    said = said || !line.back().empty();
  }
  if (said && (differs || always)) lines.push_back(std::move(line));
}

Lines differing_settings(const std::vector<Run>& runs) {
  Lines out;
  std::vector<std::string> names;
  for (const Run& run : runs)
    for (const auto& [key, value] : run.settings)
      if (std::find(names.begin(), names.end(), key) == names.end()) names.push_back(key);
  for (const std::string& name : names)
    add_line(out, name, runs, /*always=*/false, [&](const Run& run) { return run.setting(name); });
  return out;
}

Lines figures(const std::vector<Run>& runs) {
  Lines out;
  const auto add = [&](const char* name, const std::function<std::string(const Run&)>& text) {
    add_line(out, name, runs, /*always=*/true, text);
  };
  const auto of_epoch = [](const auto& text) {
    return [text](const Run& run) { return run.best() ? text(run) : std::string(); };
  };
  add("epochs", epochs_text);
  add("best epoch",
      of_epoch([](const Run& r) { return std::to_string(r.best() - r.epochs.data() + 1); }));
  add("best test loss", of_epoch([](const Run& r) { return loss_text(r.best()->test_loss); }));
  add("best test accuracy",
      of_epoch([](const Run& r) { return accuracy_text(r.best()->test_accuracy); }));
  add("last train loss",
      of_epoch([](const Run& r) { return loss_text(r.epochs.back().train_loss); }));
  add("last test loss",
      of_epoch([](const Run& r) { return loss_text(r.epochs.back().test_loss); }));
  add("last test accuracy",
      of_epoch([](const Run& r) { return accuracy_text(r.epochs.back().test_accuracy); }));
  add("time", [](const Run& r) { return logging::format_duration(r.seconds()); });
  add("rate", [](const Run& r) {
    return std::isnan(r.rate) ? "" : logging::with_commas(std::llround(r.rate)) + " " + r.unit;
  });
  add("device", [](const Run& r) { return r.device; });
  add("date", [](const Run& r) { return date_text(r.date); });
  return out;
}

Json json_of(const Lines& lines, const std::vector<Run>& runs) {
  Json out = Json::object();
  for (const auto& line : lines)
    for (size_t i = 0; i < runs.size(); ++i) out[line[0]][runs[i].folder] = line[i + 1];
  return out;
}

int compare(const std::vector<Run>& runs, const RunsOptions& o) {
  const Lines settings = differing_settings(runs), values = figures(runs);
  if (o.json) {
    Json list = Json::array();
    for (const Run& run : runs) list.push_back(json_of(run));
    print_json({{"runs", list}, {"differs", json_of(settings, runs)}});
    return 0;
  }
  const auto print = [&](const char* title, const Lines& lines) {
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
  std::vector<Run> runs;
  for (const std::string& path : o.paths)
    if (!fs::is_directory(path)) throw UsageError("there is no folder " + path);
  if (o.paths.size() == 1) {
    collect(o.paths[0], kDeepest, runs);
    return print_runs(std::move(runs), o);
  }
  for (const std::string& path : o.paths) {
    std::optional<Run> run = read_run(path);
    if (!run) throw UsageError(path + " holds no run; `taeda runs` lists those that there are");
    runs.push_back(std::move(*run));
  }
  return compare(runs, o);
}

}  // namespace

void add_runs(CLI::App& app, Action& action) {
  CLI::App* c = add_command(
      app, "runs", "List runs with their figures, or compare some",
      {"taeda runs", "taeda runs experiments --json", "taeda runs out out-2     # what differs"});
  auto o = std::make_shared<RunsOptions>();
  c->add_option("paths", o->paths,
                "A folder whose runs are listed, by default this one; or two runs or more, which "
                "are compared");
  c->add_flag("--json", o->json, "Print JSON");
  c->callback([&action, o] { action = [o] { return run_runs(*o); }; });
}

}  // namespace taeda::tool
