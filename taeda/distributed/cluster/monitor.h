// What ranks report about their progress, as a table.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "taeda/distributed/cluster/worker.h"

namespace taeda::inline v0_2::distributed::cluster {

/// Tells a process which descriptor takes its reports.
inline constexpr const char* kProgressFile = "TAEDA_PROGRESS_FD";

/// One report; counts from the start of the program.
struct Report {
  int64_t rank = 0, step = 0, images = 0;
  int64_t host_bytes = 0, device_bytes = 0;
  int64_t waited_us = 0;  ///< for other ranks
  int64_t time_us = 0;    ///< of that machine's steady clock

  std::string line() const;
  static std::optional<Report> parse(std::string_view line);
};

/// Memory of this process that is not swapped out.
int64_t resident_bytes();

/// What a rank does, from two of its reports.
struct Pace {
  int64_t rank = 0, step = 0;
  double images_per_second = 0, waiting = 0;  ///< waiting: a share of the time
  int64_t host_bytes = 0, device_bytes = 0;

  std::string line() const;
  static std::optional<Pace> parse(std::string_view line);
};

/// The ranks' latest paces.
class Paces {
 public:
  /// Takes whole lines of reports.
  void add(std::string_view reports);
  /// Lines of paces, for another machine, and from one.
  std::string lines() const;
  void add_lines(std::string_view lines);

  bool empty() const { return paces_.empty(); }
  /// A table with a row for each rank.
  std::string table() const;
  /// "step 120, 4,312 images/s, 1.2 GiB, waiting 3.1%": the slowest rank's step, the sum of the
  /// images, the most memory of a rank, the most waiting.
  std::string summary() const;

 private:
  /// A rank's reports of the last seconds: the oldest and the newest.
  struct Window {
    Report first, last;
  };
  std::map<int64_t, Window> windows_;
  std::map<int64_t, Pace> paces_;
};

/// Shows paces between the lines that processes print: on a terminal as a table below them that is
/// drawn again, elsewhere as a line now and then.
class Monitor {
 public:
  /// `draw` takes what moves a terminal's cursor; by default it goes to stdout.
  Monitor(bool terminal, ShowLine show, std::function<void(const std::string&)> draw = {});

  /// Shows a line of a process; the table stays below.
  void show(bool error, std::string_view line);
  /// Shows the paces, if the last time is long enough ago.
  void update(const Paces& paces);
  /// Shows the paces, and leaves them where they are.
  void finish(const Paces& paces);

 private:
  void erase();

  const bool terminal_;
  const ShowLine show_;
  const std::function<void(const std::string&)> draw_;
  size_t drawn_ = 0;  ///< lines of the table that is shown
  std::chrono::steady_clock::time_point next_ = {};
};

}  // namespace taeda::inline v0_2::distributed::cluster
