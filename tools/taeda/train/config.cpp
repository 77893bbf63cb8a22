#include "tools/taeda/train/config.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <sstream>

#if defined(TAEDA_HAS_TOML)
#include "tools/taeda/toml.h"
#endif

#include "taeda/base/nearest.h"

namespace taeda::tool {

namespace {

constexpr const char* kConfig = "--config";

#if defined(TAEDA_HAS_TOML)

[[noreturn]] void fail(const std::string& path, const toml::node& node, const std::string& text) {
  std::ostringstream out;
  out << path << ", line " << node.source().begin.line << ": " << text;
  throw UsageError(out.str());
}

/// The value as it stands behind a flag.
std::string flag_value(const std::string& path, const Setting& s, const toml::node& node) {
  if (std::holds_alternative<std::string*>(s.value)) {
    if (const auto v = node.value_exact<std::string>()) return *v;
    fail(path, node, std::string(s.name) + " must be a text");
  }
  if (std::holds_alternative<bool*>(s.value)) {
    if (const auto v = node.value_exact<bool>()) return *v ? "true" : "false";
    fail(path, node, std::string(s.name) + " must be true or false");
  }
  if (const auto v = node.value_exact<int64_t>()) return std::to_string(*v);
  if (std::holds_alternative<int64_t*>(s.value))
    fail(path, node, std::string(s.name) + " must be a whole number");
  if (const auto v = node.value_exact<double>()) return exact_text(*v);
  fail(path, node, std::string(s.name) + " must be a number");
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
std::vector<std::string> flags_of(const std::string& path, const toml::table& file,
                                  const std::vector<std::string>& tasks, const std::string& task) {
  const toml::node* named = file.get("task");
  const auto name = named ? named->value_exact<std::string>() : std::optional<std::string>();
  if (named && !name) fail(path, *named, "task must be a text");
  if (!named && task.empty())
    throw UsageError(path + " names no task: expected task = \"...\" with one of " + joined(tasks));
  const std::string chosen = name.value_or(task);
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
  for (const auto& [key, node] : file) {
    const std::string word(key.str());
    if (word == "task") continue;
    const auto found = std::find_if(all.begin(), all.end(), [&](const Setting& s) {
      return s.name == word && s.is_of(chosen);
    });
    if (found == all.end())
      fail(path, node, word + " is no setting of " + chosen + maybe(word, names));
    out.push_back("--" + word + "=" + flag_value(path, *found, node));
  }
  return out;
}

std::vector<std::string> read_flags(const std::string& path, const std::vector<std::string>& tasks,
                                    const std::string& task) {
  if (!std::filesystem::is_regular_file(path))
    throw UsageError(std::string(kConfig) + ": there is no file " + path);
  try {
    return flags_of(path, parse_toml_file(path), tasks, task);
  } catch (const toml::parse_error& e) {
    std::ostringstream out;
    out << path << ", line " << e.source().begin.line << ": " << e.description();
    throw UsageError(out.str());
  }
}

#else

std::vector<std::string> read_flags(const std::string& path, const std::vector<std::string>&,
                                    const std::string&) {
  throw UsageError(std::string(kConfig) + " " + path +
                   " needs toml++, which this build lacks: install Debian's libtomlplusplus-dev "
                   "and build with TAEDA_TOML=ON");
}

#endif

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

std::vector<std::string> with_config(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.size() < 2 || words[1] != "train") return words;
  std::vector<std::string> tasks, rest;
  const CLI::App* train = app.get_subcommand("train");
  for (const CLI::App* c : train->get_subcommands([](const CLI::App*) { return true; }))
    tasks.push_back(c->get_name());
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
