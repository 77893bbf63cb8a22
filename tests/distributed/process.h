// Processes of a test: this program once more, running a named function instead of tests.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>

namespace taeda {

/// What a process that was started with this name does; its result is the exit status. What it
/// throws is printed, and the status is 1.
struct Role {
  Role(const char* name, int (*run)());
};

/// Runs the role that the environment names, if it names one.
std::optional<int> run_role();

/// A process in a role. It dies with the test: when the object goes, or when the program ends.
class Process {
 public:
  /// `environment` is added to this program's.
  explicit Process(const std::string& role, std::map<std::string, std::string> environment = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Sends a signal; SIGSTOP has stopped it then.
  void signal(int number);
  /// Waits until it has stopped, by a signal of its own; false if it ends or `timeout` is over.
  bool stopped(std::chrono::milliseconds timeout = std::chrono::seconds(20));
  /// The exit status, or minus the signal that ended it; none while it runs after `timeout`.
  std::optional<int> wait(std::chrono::milliseconds timeout = std::chrono::seconds(20));
  /// The next line of what it prints, without its end; empty when it ends or `timeout` is over.
  std::string line(std::chrono::milliseconds timeout = std::chrono::seconds(20));

 private:
  pid_t id_ = -1;
  int output_ = -1;
  std::string read_;
  std::optional<int> status_;
};

}  // namespace taeda
