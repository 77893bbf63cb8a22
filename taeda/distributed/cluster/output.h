// What a launcher shows, written by threads of its own: who reads it may stand still, or be gone,
// and the launcher must not.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace taeda::inline v0_2::distributed::cluster {

/// Lines for two files, by default this process's standard output and error; in the order in which
/// they were given where both are the same file. A reader who is only slow makes `full()` true, and
/// nothing is lost. Of one who has taken nothing for `kPatience` the lines beyond `kMostWaiting`
/// bytes are dropped, which a line says when he reads again.
class Output {
 public:
  static constexpr size_t kMostWaiting = 4 << 20;
  static constexpr std::chrono::seconds kPatience{10};

  explicit Output(int standard = 1, int error = 2, std::chrono::milliseconds patience = kPatience);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Shows a line. Never waits.
  void line(bool error, std::string_view text);
  /// The same for bytes as they are, such as a terminal's commands.
  void write(bool error, std::string bytes);
  /// Whether much waits for a reader who reads: who has more to show should wait, too.
  bool full() const;
  /// Waits up to `time` until all is written, or known to be lost; whether it is.
  bool settled(std::chrono::milliseconds time) const;
  /// Why something could not be written, and how much; empty where all could.
  std::string loss() const;
  /// Ends the showing: waits until the reader has taken all, up to a stop signal, and up to a
  /// moment where the launcher was `stopped`. Returns the status for exit(): `status`, or 1 in the
  /// place of 0 where something could not be written, which is said on stderr.
  int deliver(int status, bool stopped);

 private:
  struct Sink;
  std::array<std::shared_ptr<Sink>, 2> sinks_;  ///< one for both where they are the same file
  const std::array<int, 2> files_;
};

}  // namespace taeda::inline v0_2::distributed::cluster
