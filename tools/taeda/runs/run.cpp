#include "tools/taeda/runs/run.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>

#include "taeda/io/safetensors.h"
#include "taeda/log/table.h"
#include "taeda/log/terminal.h"
#include "tools/taeda/command.h"
#include "tools/taeda/plot_curves.h"
#include "tools/taeda/train/folders.h"
#include "tools/taeda/train/options.h"

namespace taeda::tool {

namespace {

namespace fs = std::filesystem;
using Settings = std::vector<std::pair<std::string, std::string>>;

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
  if (value.is_number_float()) return exact_text(value.get<double>());
  return value.dump();
}

double number(const Json& object, const char* name) {
  const Json found = object.contains(name) ? object[name] : Json();
  return found.is_number() ? found.get<double>() : NAN;
}

Settings settings_of(const Json& config) {
  Settings out;
  for (const auto& [key, value] : config.members()) out.emplace_back(key, text_of(value));
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
  for (const Json& e : result["epochs"].elements())
    run.epochs.push_back({number(e, "train_loss"), number(e, "test_loss"),
                          number(e, "train_accuracy"), number(e, "test_accuracy"),
                          number(e, "seconds")});
  for (const auto& [key, value] : result.members())
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
  const Json config = Json::read(text("config"));
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

void add_line(RunLines& lines, const std::string& name, const std::vector<Run>& runs, bool always,
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

}  // namespace

std::string Run::setting(const std::string& name) const {
  for (const auto& [key, value] : settings)
    if (key == name) return value;
  return "";
}

const Run::Epoch* Run::best() const {
  const Epoch* out = nullptr;
  for (const Epoch& e : epochs)
    if (!out || e.test_loss < out->test_loss || std::isnan(out->test_loss)) out = &e;
  return out;
}

double Run::seconds() const {
  double out = 0;
  for (const Epoch& e : epochs) out += e.seconds;
  return out;
}

std::optional<Run> read_run(const fs::path& folder) {
  if (!holds_run(folder.string())) return {};
  Run run{.folder = folder.lexically_normal().string(), .state = "no checkpoint"};
  const fs::path result = folder / kResultFile, checkpoint = folder / kCheckpointFile;
  if (fs::is_regular_file(result)) {
    std::ifstream file(result);
    // Others have files of this name, too.
    run.result = Json::read(file);
    if (!read_result(run.result, run)) return {};
    run.date = time_of(result);
  } else if (fs::is_regular_file(checkpoint)) {
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

std::vector<Run> read_runs(const std::vector<std::string>& folders) {
  std::vector<Run> out;
  for (const std::string& path : folders)
    if (!fs::is_directory(path)) throw UsageError("there is no folder " + path);
  for (const std::string& path : folders) {
    std::optional<Run> run = read_run(path);
    if (!run) throw UsageError(path + " holds no run; `taeda runs` lists those that there are");
    out.push_back(std::move(*run));
  }
  return out;
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

RunLines run_settings(const std::vector<Run>& runs, bool all) {
  RunLines out;
  std::vector<std::string> names;
  for (const Run& run : runs)
    for (const auto& [key, value] : run.settings)
      if (std::find(names.begin(), names.end(), key) == names.end()) names.push_back(key);
  for (const std::string& name : names)
    add_line(out, name, runs, /*always=*/all, [&](const Run& run) { return run.setting(name); });
  return out;
}

RunLines run_figures(const std::vector<Run>& runs) {
  RunLines out;
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

std::vector<std::string> run_labels(const std::vector<Run>& runs) {
  constexpr size_t kShown = 3;
  std::vector<std::string> folders;
  for (const Run& run : runs) folders.push_back(run.folder);
  std::vector<std::string> out = what_differs(folders);
  if (runs.size() == 1) return folders;
  const RunLines differing = run_settings(runs);
  for (size_t i = 0; i < runs.size(); ++i) {
    std::string said;
    for (size_t s = 0; s < std::min(kShown, differing.size()); ++s) {
      const std::string &name = differing[s][0], &value = differing[s][i + 1];
      said += (said.empty() ? "" : ", ") + (value.empty() ? "no " + name : name + " " + value);
    }
    if (!said.empty()) out[i] += ": " + said;
  }
  return out;
}

}  // namespace taeda::tool
