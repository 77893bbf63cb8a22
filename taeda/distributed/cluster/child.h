// Programs that this process starts, and how they end.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace taeda::inline v0_2::distributed::cluster {

struct ChildOptions {
  std::vector<std::string> command;  ///< a program, looked for in PATH, and its arguments
  std::string program = {};          ///< what is run, if it is not the first of `command`
  /// Variables in place of, or besides, this process's. Without a value a variable is taken away.
  std::map<std::string, std::optional<std::string>> environment = {};
  /// What the child has as standard input, output and error; -1: this process's own, for input
  /// nothing to read.
  int input = -1, output = -1, error = -1;
  std::vector<int> inherited = {};  ///< descriptors that it has under the same numbers
  pid_t group = -1;                 ///< the process group that it joins; 0: its own; -1: this one
};

/// How a process ended.
struct ExitStatus {
  int code = 0;    ///< of exit(); 0 where a signal ended it
  int signal = 0;  ///< 0 where none did

  bool ok() const { return code == 0 && signal == 0; }
  /// As shells say it: the code, or 128 and the signal.
  int shell_code() const { return signal ? 128 + signal : code; }
  /// "exited with status 3", "was ended by SIGSEGV (Segmentation fault)".
  std::string text() const;
};

/// "SIGSEGV"; "signal 63" for one without a name.
std::string signal_name(int signal);

/// A program that runs. It dies with the thread that started it, whatever ends that: it is killed
/// when the object goes, and by the system when the thread ends.
class Child {
 public:
  /// Throws DistributedError with the system's reason when the program cannot be started.
  explicit Child(const ChildOptions& options);
  ~Child();
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;

  pid_t id() const { return id_; }
  /// How it ended; none while it runs. Does not wait.
  std::optional<ExitStatus> status();
  /// Waits for its end.
  ExitStatus wait();
  /// Sends a signal, if it runs.
  void signal(int number);

 private:
  pid_t id_ = -1;
  std::optional<ExitStatus> status_;
};

}  // namespace taeda::inline v0_2::distributed::cluster
