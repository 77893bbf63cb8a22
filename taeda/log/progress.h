// A progress bar, by default redrawn in place on a terminal, now and then a plain line elsewhere.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

#include "taeda/log/terminal.h"

namespace taeda::inline v0_2::logging {

struct ProgressOptions {
  std::FILE* stream = stderr;
  /// Whether to redraw in place; by default whether the stream is a terminal.
  int in_place = -1;
  /// The bar's width in columns; 0, the default, asks the terminal.
  size_t width = 0;
  /// Whether the bar is made of blocks of Unicode, or ASCII's "#"; by default what the locale
  /// shows.
  bool unicode = shows_utf8();
  /// Least seconds between two updates: on a terminal, and for plain lines.
  double redraw_seconds = 0.1, line_seconds = 5;
  /// Where the time comes from, in seconds.
  std::function<double()> clock = {};
};

/// A line `label 45% |█████ | 27,000/60,000 81,234 images/s loss 0.4321 ETA 0.4 s` that is redrawn;
/// it must be used by one thread at a time.
class ProgressBar {
 public:
  ProgressBar(std::string label, int64_t total, std::string unit = "images",
              ProgressOptions options = {});
  /// Leaves the terminal's line empty, if finish() was not called.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Counts `n` more done. `note` is shown behind the rate ("loss 0.4321"); it is only evaluated
  /// when something is drawn, so that asking a device for a loss costs nothing in between.
  void advance(int64_t n, const std::function<std::string()>& note = {});
  /// Clears the bar; plain output that had lines gets a last one.
  void finish();

  double elapsed() const { return now() - start_; }
  /// How many units were done in a second so far; 0 at the start, seconds are those of a steady
  /// clock.
  double rate() const;

 private:
  double now() const;
  std::string line(size_t columns) const;
  void draw();

  std::string label_, unit_, note_;
  int64_t total_, done_ = 0, shown_ = 0;
  ProgressOptions options_;
  bool in_place_, finished_ = false, drawn_ = false;
  double start_, last_;
};

}  // namespace taeda::logging
