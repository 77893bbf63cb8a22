// The command line of an example: `--name value` or `--name=value`.
#pragma once

#include <taeda/taeda.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace examples {

/// --device: "cuda" if there is one, else "cpu".
inline std::pair<std::string, std::string> device_option() {
  return {"device", taeda::cuda::is_available() ? "cuda" : "cpu"};
}

/// What a program was told. Only names that it states with their defaults are taken; --help lists
/// them and ends the program.
class Arguments {
 public:
  using Defaults = std::vector<std::pair<std::string, std::string>>;

  /// Throws ValueError for other names and for a name without a value.
  Arguments(int argc, char** argv, const Defaults& defaults) {
    for (const auto& [name, value] : defaults) values_[name] = value;
    for (int i = 1; i < argc; ++i) {
      std::string name = argv[i];
      if (name == "--help") help(argv[0]);
      const size_t equals = name.find('=');
      const bool joined = equals != std::string::npos;
      TAEDA_CHECK_VALUE(joined || i + 1 < argc || !is_known(name), name, " needs a value");
      const std::string value = joined ? name.substr(equals + 1) : i + 1 < argc ? argv[++i] : "";
      if (joined) name.resize(equals);
      TAEDA_CHECK_VALUE(is_known(name), "unknown option ", name, "; there are ", names());
      values_[name.substr(2)] = value;
    }
  }

  const std::string& operator[](const std::string& name) const { return values_.at(name); }
  taeda::Device device() const { return taeda::Device(values_.at("device")); }
  /// Throws ValueError for text that is no whole number.
  int64_t number(const std::string& name) const { return parse(name, values_.at(name)); }
  /// Those of a list: 1,2,4.
  std::vector<int64_t> numbers(const std::string& name) const {
    std::vector<int64_t> all;
    std::istringstream parts(values_.at(name));
    for (std::string part; std::getline(parts, part, ',');) all.push_back(parse(name, part));
    return all;
  }

 private:
  static int64_t parse(const std::string& name, const std::string& text) {
    char* end = nullptr;
    const int64_t n = std::strtoll(text.c_str(), &end, 10);
    TAEDA_CHECK_VALUE(!text.empty() && *end == 0, "--", name, ": expected a whole number, got '",
                      text, "'");
    return n;
  }
  bool is_known(const std::string& flag) const {
    const size_t length = std::min(flag.find('='), flag.size());
    return flag.starts_with("--") && values_.contains(flag.substr(2, length - 2));
  }
  std::string names() const {
    std::string all;
    for (const auto& [name, value] : values_) all += (all.empty() ? "--" : ", --") + name;
    return all;
  }
  [[noreturn]] void help(const char* program) const {
    std::cout << "usage: " << program << " [OPTION VALUE]...\n";
    for (const auto& [name, value] : values_)
      std::cout << "  --" << name << (value.empty() ? "" : " (" + value + ")") << "\n";
    std::exit(0);
  }

  std::map<std::string, std::string> values_;
};

}  // namespace examples
