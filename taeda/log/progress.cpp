#include "taeda/log/progress.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::logging {

namespace {

/// Block characters that fill a cell in eighths.
constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

std::string bar(double fraction, size_t columns, bool unicode) {
  if (!unicode) {
    const auto full = static_cast<size_t>(std::floor(fraction * static_cast<double>(columns)));
    return std::string(full, '#') + std::string(columns - full, ' ');
  }
  const auto eighths = static_cast<size_t>(std::floor(fraction * static_cast<double>(columns) * 8));
  std::string out;
  for (size_t i = 0; i < eighths / 8; ++i) out += "█";
  out += kEighths[eighths % 8];
  return out + std::string(columns - std::min(columns, (eighths + 7) / 8), ' ');
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

ProgressBar::ProgressBar(std::string label, int64_t total, std::string unit,
                         ProgressOptions options)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      total_(std::max<int64_t>(total, 0)),
      options_(std::move(options)),
      in_place_(options_.in_place < 0 ? options_.stream && is_terminal(options_.stream)
                                      : options_.in_place > 0) {
  TAEDA_CHECK_VALUE(options_.stream, "ProgressBar '", label_, "': the stream is a null pointer");
  start_ = last_ = now();
}

ProgressBar::~ProgressBar() {
  if (in_place_ && drawn_ && !finished_) std::fputs("\r\x1b[K", options_.stream);
}

double ProgressBar::now() const { return options_.clock ? options_.clock() : steady_seconds(); }

double ProgressBar::rate() const {
  const double seconds = elapsed();
  return seconds > 0 ? static_cast<double>(done_) / seconds : 0;
}

void ProgressBar::advance(int64_t n, const std::function<std::string()>& note) {
  done_ += n;
  const double wait = in_place_ ? options_.redraw_seconds : options_.line_seconds;
  if (now() - last_ < wait) return;
  if (note) note_ = note();
  draw();
}

void ProgressBar::finish() {
  if (finished_) return;
  finished_ = true;
  if (in_place_) {
    if (drawn_) std::fputs("\r\x1b[K", options_.stream);
  } else if (drawn_ && shown_ != done_) {
    draw();
  }
  std::fflush(options_.stream);
}

std::string ProgressBar::line(size_t columns) const {
  const double fraction =
      total_ > 0 ? std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_)) : 1;
  char percent[8];
  std::snprintf(percent, sizeof percent, "%3.0f%%", std::floor(fraction * 100));
  std::string tail = with_commas(done_) + "/" + with_commas(total_) + "  " +
                     with_commas(std::llround(rate())) + " " + unit_ + "/s";
  if (!note_.empty()) tail += "  " + note_;
  if (done_ > 0 && done_ < total_)
    tail += "  ETA " + format_duration(elapsed() * (1 / fraction - 1));
  const std::string head = label_ + "  " + percent + " ";
  if (!in_place_) return head + " " + tail;
  const size_t used = display_width(head) + display_width(tail) + 4;
  const size_t cells = columns > used + 5 ? std::min<size_t>(columns - used, 40) : 0;
  const std::string whole =
      cells ? head + "|" + bar(fraction, cells, options_.unicode) + "| " + tail : head + " " + tail;
  return std::string(clip(whole, columns - 1));
}

void ProgressBar::draw() {
  last_ = now();
  drawn_ = true;
  shown_ = done_;
  const size_t columns = options_.width ? options_.width : terminal_width(options_.stream);
  const std::string text = line(columns);
  if (in_place_)
    std::fprintf(options_.stream, "\r%s\x1b[K", text.c_str());
  else
    std::fprintf(options_.stream, "%s\n", text.c_str());
  std::fflush(options_.stream);
}

}  // namespace taeda::inline v0_2::logging
