#include "tools/taeda/launch/hosts.h"

#include <filesystem>
#include <set>
#include <sstream>

#if defined(TAEDA_HAS_TOML)
#include "tools/taeda/toml.h"
#endif

#include "tools/taeda/command.h"

namespace taeda::tool {

namespace {

#if defined(TAEDA_HAS_TOML)

/// A table of the file, which refuses keys that it does not know.
class Table {
 public:
  Table(const std::string& path, const toml::table& table, std::string name)
      : path_(path), table_(table), name_(std::move(name)) {}

  template <class T>
  void read(const std::string& key, T& value) {
    known_.insert(key);
    const toml::node* node = table_.get(key);
    if (!node) return;
    const auto found = node->value_exact<T>();
    if (!found) fail(*node, key, kind_name<T>());
    value = *found;
  }
  template <class T>
  void read(const std::string& key, std::vector<T>& values) {
    known_.insert(key);
    const toml::node* node = table_.get(key);
    if (!node) return;
    const toml::array* array = node->as_array();
    const std::string rule = "a list, each of it " + std::string(kind_name<T>());
    if (!array) fail(*node, key, rule);
    for (const toml::node& element : *array) {
      const auto found = element.value_exact<T>();
      if (!found) fail(element, key, rule);
      values.push_back(*found);
    }
  }
  void read(const std::string& key, std::map<std::string, std::string>& values) {
    known_.insert(key);
    const toml::node* node = table_.get(key);
    if (!node) return;
    if (!node->is_table()) fail(*node, key, "a table of texts");
    for (const auto& [name, value] : *node->as_table()) {
      const auto text = value.value_exact<std::string>();
      if (!text) fail(value, key + "." + std::string(name.str()), "a text");
      values[std::string(name.str())] = *text;
    }
  }
  /// The elements of a list; none where there is no such key.
  std::vector<const toml::node*> list(const std::string& key) {
    known_.insert(key);
    std::vector<const toml::node*> out;
    const toml::node* node = table_.get(key);
    if (!node) return out;
    if (!node->is_array()) fail(*node, key, "a list");
    for (const toml::node& element : *node->as_array()) out.push_back(&element);
    return out;
  }
  bool has(const std::string& key) const { return table_.contains(key); }
  [[noreturn]] void fail(const toml::node& node, const std::string& key,
                         const std::string& rule) const {
    std::ostringstream out;
    out << path_ << ", line " << node.source().begin.line << ": " << name_ << key << " must be "
        << rule;
    throw UsageError(out.str());
  }
  void check_number(const std::string& key, int64_t value, int64_t least, int64_t most) const {
    const toml::node* given = table_.get(key);
    if (value < least || value > most)
      fail(given ? *given : table_, key,
           "a number from " + std::to_string(least) + " to " + std::to_string(most) + ", got " +
               std::to_string(value));
  }
  /// Throws for keys that nobody has read.
  void finish() const {
    std::string all;
    for (const std::string& name : known_) all += (all.empty() ? "" : ", ") + name;
    for (const auto& [key, node] : table_)
      if (!known_.contains(std::string(key.str())))
        fail(node, std::string(key.str()), "one of " + all);
  }

 private:
  template <class T>
  static const char* kind_name() {
    return std::is_same_v<T, int64_t> ? "a whole number"
           : std::is_same_v<T, bool>  ? "true or false"
                                      : "a text";
  }

  const std::string& path_;
  const toml::table& table_;
  const std::string name_;
  std::set<std::string> known_;
};

Machine read_machine(const std::string& path, const toml::node& node, size_t number) {
  const std::string name = "machine " + std::to_string(number) + ": ";
  if (!node.is_table()) throw UsageError(path + ": " + name + "expected [[machines]]");
  Table table(path, *node.as_table(), name);
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
  table.check_number("processes", out.processes, 1, 4096);
  table.check_number("port", out.port, 1, 65535);
  return out;
}

Cluster cluster_of(const std::string& path, const toml::table& file) {
  Table table(path, file, "");
  Cluster out;
  table.read("port", out.port);
  table.check_number("port", out.port, 1, 65535);
  table.read("ssh_options", out.ssh_options);
  table.read("environment", out.environment);
  for (const toml::node* machine : table.list("machines"))
    out.machines.push_back(read_machine(path, *machine, out.machines.size() + 1));
  table.finish();
  if (out.machines.empty()) throw UsageError(path + " names no [[machines]]");
  return out;
}

#endif

/// A word as a shell reads it.
std::string shell_word(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

}  // namespace

Cluster read_cluster(const std::string& path) {
#if defined(TAEDA_HAS_TOML)
  if (!std::filesystem::exists(path)) throw UsageError("cannot read " + path);
  try {
    return cluster_of(path, parse_toml_file(path));
  } catch (const toml::parse_error& e) {
    std::ostringstream out;
    out << path << ", line " << e.source().begin.line << ": " << e.description();
    throw UsageError(out.str());
  }
#else
  throw UsageError("--hosts " + path +
                   " needs toml++, which this build lacks: install Debian's libtomlplusplus-dev "
                   "and build with TAEDA_TOML=ON");
#endif
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
