#include "tools/taeda/train/config.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "taeda/base/nearest.h"
#include "tools/taeda/toml.h"

namespace taeda::tool {

namespace {

constexpr const char* kConfig = "--config";

[[noreturn]] void fail(const std::string& path, const TomlValue& at, const std::string& text) {
  throw UsageError(taeda::detail::concat(path, ", line ", at.line, ": ", text));
}

/// The value as it stands behind a flag.
std::string flag_value(const std::string& path, const Setting& s, const TomlValue& given) {
  if (std::holds_alternative<std::string*>(s.value)) {
    if (const auto* v = given.as<std::string>()) return *v;
    fail(path, given, std::string(s.name) + " must be a text");
  }
  if (std::holds_alternative<bool*>(s.value)) {
    if (const auto* v = given.as<bool>()) return *v ? "true" : "false";
    fail(path, given, std::string(s.name) + " must be true or false");
  }
  if (const auto* v = given.as<int64_t>()) return std::to_string(*v);
  if (std::holds_alternative<int64_t*>(s.value))
    fail(path, given, std::string(s.name) + " must be a whole number");
  if (const auto* v = given.as<double>()) return exact_text(*v);
  fail(path, given, std::string(s.name) + " must be a number");
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

std::string maybe(const std::string& word, const std::vector<std::string>& names) {
  const std::string nearest = nearest_name(word, names);
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

/// The file's task and its settings as flags. `task`, if given, must be the file's.
std::vector<std::string> flags_of(const std::string& path, const TomlTable& file,
                                  const std::vector<std::string>& tasks, const std::string& task) {
  const TomlValue* named = find(file, "task");
  const std::string* name = named ? named->as<std::string>() : nullptr;
  if (named && !name) fail(path, *named, "task must be a text");
  if (!named && task.empty())
    throw UsageError(path + " names no task: expected task = \"...\" with one of " + joined(tasks));
  const std::string chosen = name ? *name : task;
  if (std::find(tasks.begin(), tasks.end(), chosen) == tasks.end())
    fail(path, *named,
         "task must be one of " + joined(tasks) + ", got " + chosen + maybe(chosen, tasks));
  if (!task.empty() && task != chosen)
    throw UsageError(path + " is of the task " + chosen + ", not " + task);
  TrainOptions unused;
  std::vector<std::string> out = {chosen}, names = {"task"};
  const std::vector<Setting> all = settings(unused);
  for (const Setting& s : all)
    if (s.is_of(chosen)) names.push_back(s.name);
  for (const auto& [word, given] : file) {
    if (word == "task") continue;
    const auto found = std::find_if(all.begin(), all.end(), [&, &word = word](const Setting& s) {
      return s.name == word && s.is_of(chosen);
    });
    if (found == all.end())
      fail(path, given, word + " is no setting of " + chosen + maybe(word, names));
    out.push_back("--" + word + "=" + flag_value(path, *found, given));
  }
  return out;
}

std::vector<std::string> read_flags(const std::string& path, const std::vector<std::string>& tasks,
                                    const std::string& task) {
  if (has_toml() && !std::filesystem::is_regular_file(path))
    throw UsageError(std::string(kConfig) + ": there is no file " + path);
  const TomlValue file = read_toml(path, kConfig);
  return flags_of(path, *file.as<TomlTable>(), tasks, task);
}

/// A text of TOML.
std::string toml_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    char code[8];
    if (c == '"' || c == '\\') {
      out += std::string("\\") + c;
    } else if (static_cast<unsigned char>(c) < ' ' || c == 127) {
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      out += code;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string toml_value(const Setting& s) {
  if (std::holds_alternative<std::string*>(s.value)) return toml_text(s.text());
  if (const auto* b = std::get_if<bool*>(&s.value)) return **b ? "true" : "false";
  return s.text();
}

TrainOptions with_absolute_paths(TrainOptions o) {
  for (std::string* path : {&o.data, &o.test, &o.pretrained})
    if (!path->empty()) *path = std::filesystem::absolute(*path).lexically_normal().string();
  return o;
}

}  // namespace

std::vector<std::string> with_config(const Command& app, const std::vector<std::string>& words) {
  if (words.size() < 2 || words[1] != "train") return words;
  std::vector<std::string> tasks, rest;
  for (const Command& command : app.commands())
    if (command.name() == "train")
      for (const Command& task : command.commands()) tasks.push_back(task.name());
  std::string path, task;
  const std::string with_value = std::string(kConfig) + "=";
  for (size_t i = 2; i < words.size(); ++i) {
    if (words[i] == kConfig && i + 1 < words.size())
      path = words[++i];
    else if (words[i].starts_with(with_value))
      path = words[i].substr(with_value.size());
    else if (rest.empty() && task.empty() &&
             std::find(tasks.begin(), tasks.end(), words[i]) != tasks.end())
      task = words[i];
    else
      rest.push_back(words[i]);
  }
  if (path.empty()) return words;
  std::vector<std::string> out = {words[0], words[1]};
  for (std::string& flag : read_flags(path, tasks, task)) out.push_back(std::move(flag));
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

std::string config_toml(const TrainOptions& options) {
  TrainOptions o = with_absolute_paths(options);
  std::string out =
      "# The settings of this run: `taeda train --config <this file>` does it once more. Flags "
      "that are "
      "given besides count more.\ntask = " +
      toml_text(o.task) + "\n";
  for (const Setting& s : settings(o))
    if (s.is_of(o.task) && !s.is_unset()) out += std::string(s.name) + " = " + toml_value(s) + "\n";
  return out;
}

logging::JsonObject config_json(const TrainOptions& options) {
  TrainOptions o = with_absolute_paths(options);
  logging::JsonObject out;
  out.set("task", o.task);
  for (const Setting& s : settings(o))
    if (s.is_of(o.task) && !s.is_unset())
      std::visit([&](const auto* value) { out.set(s.name, *value); }, s.value);
  return out;
}

}  // namespace taeda::tool
