// A variable of the environment, for the time of a test.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace taeda {

class Variable {
 public:
  /// Without a value the variable is taken away.
  Variable(std::string name, std::optional<std::string> value) : name_(std::move(name)) {
    if (const char* text = std::getenv(name_.c_str())) before_ = text;
    put(value);
  }
  ~Variable() { put(before_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void put(const std::optional<std::string>& value) {
    if (value)
      ::setenv(name_.c_str(), value->c_str(), 1);
    else
      ::unsetenv(name_.c_str());
  }

  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace taeda
