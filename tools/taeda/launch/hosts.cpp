#include "tools/taeda/launch/hosts.h"

#include <filesystem>
#include <set>

#include "tools/taeda/command.h"
#include "tools/taeda/toml.h"

namespace taeda::tool {

namespace {

/// A table of the file, which refuses keys that it does not know.
class Table {
 public:
  Table(const std::string& path, const TomlValue& table, std::string name)
      : path_(path), at_(table), table_(*table.as<TomlTable>()), name_(std::move(name)) {}

  template <class T>
  void read(const std::string& key, T& value) {
    known_.insert(key);
    const TomlValue* node = find(table_, key);
    if (!node) return;
    const T* found = node->as<T>();
    if (!found) fail(*node, key, kind_name<T>());
    value = *found;
  }
  template <class T>
  void read(const std::string& key, std::vector<T>& values) {
    known_.insert(key);
    const TomlValue* node = find(table_, key);
    if (!node) return;
    const auto* array = node->as<TomlArray>();
    const std::string rule = "a list, each of it " + std::string(kind_name<T>());
    if (!array) fail(*node, key, rule);
    for (const TomlValue& element : *array) {
      const T* found = element.as<T>();
      if (!found) fail(element, key, rule);
      values.push_back(*found);
    }
  }
  void read(const std::string& key, std::map<std::string, std::string>& values) {
    known_.insert(key);
    const TomlValue* node = find(table_, key);
    if (!node) return;
    const auto* texts = node->as<TomlTable>();
    if (!texts) fail(*node, key, "a table of texts");
    for (const auto& [name, value] : *texts) {
      const auto* text = value.as<std::string>();
      if (!text) fail(value, key + "." + name, "a text");
      values[name] = *text;
    }
  }
  /// The elements of a list; none where there is no such key.
  TomlArray list(const std::string& key) {
    known_.insert(key);
    const TomlValue* node = find(table_, key);
    if (!node) return {};
    if (!node->as<TomlArray>()) fail(*node, key, "a list");
    return *node->as<TomlArray>();
  }
  bool has(const std::string& key) const { return find(table_, key) != nullptr; }
  [[noreturn]] void fail(const TomlValue& at, const std::string& key,
                         const std::string& rule) const {
    throw UsageError(
        taeda::detail::concat(path_, ", line ", at.line, ": ", name_, key, " must be ", rule));
  }
  void check_number(const std::string& key, int64_t value, int64_t least, int64_t most) const {
    const TomlValue* given = find(table_, key);
    if (value < least || value > most)
      fail(given ? *given : at_, key,
           "a number from " + std::to_string(least) + " to " + std::to_string(most) + ", got " +
               std::to_string(value));
  }
  /// Throws for keys that nobody has read.
  void finish() const {
    std::string all;
    for (const std::string& name : known_) all += (all.empty() ? "" : ", ") + name;
    for (const auto& [key, value] : table_)
      if (!known_.contains(key)) fail(value, key, "one of " + all);
  }

 private:
  template <class T>
  static const char* kind_name() {
    return std::is_same_v<T, int64_t> ? "a whole number"
           : std::is_same_v<T, bool>  ? "true or false"
                                      : "a text";
  }

  const std::string& path_;
  const TomlValue& at_;
  const TomlTable& table_;
  const std::string name_;
  std::set<std::string> known_;
};

Machine read_machine(const std::string& path, const TomlValue& given, size_t number) {
  const std::string name = "machine " + std::to_string(number) + ": ";
  if (!given.as<TomlTable>()) throw UsageError(path + ": " + name + "expected [[machines]]");
  Table table(path, given, name);
  Machine out;
  bool local = false;
  table.read("address", out.address);
  table.read("ssh", out.ssh);
  table.read("local", local);
  table.read("port", out.port);
  table.read("devices", out.devices);
  table.read("processes", out.processes);
  table.read("taeda", out.taeda);
  table.read("folder", out.folder);
  table.finish();
  if (out.address.empty()) throw UsageError(path + ": " + name + "has no address");
  if (local && table.has("ssh")) throw UsageError(path + ": " + name + "is local, or has ssh");
  if (!local && out.ssh.empty()) out.ssh = out.address;
  if (!table.has("processes") && !out.devices.empty())
    out.processes = static_cast<int64_t>(out.devices.size());
  table.check_number("processes", out.processes, 1, distributed::cluster::kMostProcesses);
  table.check_number("port", out.port, 1, 65535);
  return out;
}

Cluster cluster_of(const std::string& path, const TomlValue& file) {
  Table table(path, file, "");
  Cluster out;
  table.read("port", out.port);
  table.check_number("port", out.port, 1, 65535);
  table.read("ssh_options", out.ssh_options);
  table.read("environment", out.environment);
  for (const TomlValue& machine : table.list("machines"))
    out.machines.push_back(read_machine(path, machine, out.machines.size() + 1));
  table.finish();
  if (out.machines.empty()) throw UsageError(path + " names no [[machines]]");
  return out;
}

/// A word as a shell reads it.
std::string shell_word(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

}  // namespace

Cluster read_cluster(const std::string& path) {
  if (has_toml() && !std::filesystem::exists(path)) throw UsageError("cannot read " + path);
  return cluster_of(path, read_toml(path, "--hosts"));
}

std::vector<std::string> command_on(const Cluster& cluster, const Machine& machine,
                                    const std::vector<std::string>& words) {
  std::string line = machine.folder.empty() ? "" : "cd " + shell_word(machine.folder) + " && ";
  line += "exec " + shell_word(machine.taeda);
  for (const std::string& word : words) line += " " + shell_word(word);
  if (machine.ssh.empty()) return {"sh", "-c", line};
  std::vector<std::string> out = {
      "ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-p", std::to_string(machine.port)};
  out.insert(out.end(), cluster.ssh_options.begin(), cluster.ssh_options.end());
  out.insert(out.end(), {machine.ssh, "--", line});
  return out;
}

}  // namespace taeda::tool
