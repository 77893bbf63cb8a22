#include "taeda/distributed/cluster/monitor.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "taeda/log/table.h"
#include "taeda/log/terminal.h"

namespace taeda::inline v0_2::distributed::cluster {

namespace {

constexpr int64_t kWindowUs = 10'000'000;  ///< that paces are means over
constexpr std::chrono::milliseconds kRedraw(500), kBetweenLines(10'000);

std::string mebibytes(int64_t bytes) { return logging::with_commas(bytes >> 20) + " MiB"; }

/// Images per second, whatever two reports claim.
std::string rate(double value) {
  return logging::with_commas(static_cast<int64_t>(std::clamp(value, 0.0, 1e15)));
}

/// Whether a report's number can be one: what others sent is counted with and shown.
template <class T>
bool is_sensible(T value) {
  return value >= 0 && value <= T{1'000'000'000'000'000'000};
}
template <class... T>
bool are_sensible(T... values) {
  return (is_sensible(values) && ...);
}

/// Calls f(line) for each line of `text`.
template <class F>
void for_each_line(std::string_view text, F&& f) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    f(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

std::string Report::line() const {
  std::ostringstream out;
  out << rank << ' ' << step << ' ' << images << ' ' << host_bytes << ' ' << device_bytes << ' '
      << waited_us << ' ' << time_us << '\n';
  return out.str();
}

std::optional<Report> Report::parse(std::string_view line) {
  Report out;
  std::istringstream in{std::string(line)};
  in >> out.rank >> out.step >> out.images >> out.host_bytes >> out.device_bytes >> out.waited_us >>
      out.time_us;
  const bool good = !in.fail() && are_sensible(out.rank, out.step, out.images, out.host_bytes,
                                               out.device_bytes, out.waited_us, out.time_us);
  return good ? std::optional(out) : std::nullopt;
}

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

std::string Pace::line() const {
  std::ostringstream out;
  out << rank << ' ' << step << ' ' << images_per_second << ' ' << waiting << ' ' << host_bytes
      << ' ' << device_bytes << '\n';
  return out.str();
}

std::optional<Pace> Pace::parse(std::string_view line) {
  Pace out;
  std::istringstream in{std::string(line)};
  in >> out.rank >> out.step >> out.images_per_second >> out.waiting >> out.host_bytes >>
      out.device_bytes;
  const bool good = !in.fail() && are_sensible(out.rank, out.step, out.images_per_second,
                                               out.waiting, out.host_bytes, out.device_bytes);
  return good ? std::optional(out) : std::nullopt;
}

void Paces::add(std::string_view reports) {
  for_each_line(reports, [this](std::string_view line) {
    const std::optional<Report> report = Report::parse(line);
    if (!report) return;
    const auto [it, is_new] = windows_.try_emplace(report->rank, Window{*report, *report});
    Window& window = it->second;
    // The program was started again, or the window is full: it goes on from its newest report.
    if (report->step < window.last.step || report->time_us - window.first.time_us > kWindowUs)
      window.first = report->step < window.last.step ? *report : window.last;
    window.last = *report;
    Pace pace{.rank = report->rank,
              .step = report->step,
              .host_bytes = report->host_bytes,
              .device_bytes = report->device_bytes};
    const auto passed = static_cast<double>(report->time_us - window.first.time_us);
    if (passed > 0) {
      pace.images_per_second =
          static_cast<double>(report->images - window.first.images) * 1e6 / passed;
      pace.waiting = static_cast<double>(report->waited_us - window.first.waited_us) / passed;
    }
    paces_[report->rank] = pace;
  });
}

std::string Paces::lines() const {
  std::string out;
  for (const auto& [rank, pace] : paces_) out += pace.line();
  return out;
}

void Paces::add_lines(std::string_view lines) {
  for_each_line(lines, [this](std::string_view line) {
    if (const auto pace = Pace::parse(line)) paces_[pace->rank] = *pace;
  });
}

std::string Paces::table() const {
  logging::Table table({"rank", "step", "images/s", "memory", "device memory", "waiting"});
  for (const auto& [rank, p] : paces_)
    table.row({std::to_string(rank), logging::with_commas(p.step), rate(p.images_per_second),
               mebibytes(p.host_bytes), p.device_bytes > 0 ? mebibytes(p.device_bytes) : "",
               logging::percent(p.waiting, 1)});
  return table.str();
}

std::string Paces::summary() const {
  Pace all = paces_.empty() ? Pace{} : paces_.begin()->second;
  all.images_per_second = 0;
  for (const auto& [rank, p] : paces_) {
    all.step = std::min(all.step, p.step);
    all.images_per_second += p.images_per_second;
    all.host_bytes = std::max(all.host_bytes, p.host_bytes);
    all.waiting = std::max(all.waiting, p.waiting);
  }
  return "step " + logging::with_commas(all.step) + ", " + rate(all.images_per_second) +
         " images/s, memory up to " + mebibytes(all.host_bytes) + ", waiting up to " +
         logging::percent(all.waiting, 1);
}

Monitor::Monitor(bool terminal, ShowLine show, std::function<void(const std::string&)> draw)
    : terminal_(terminal),
      show_(std::move(show)),
      draw_(draw ? std::move(draw)
                 : [](const std::string& text) { std::fputs(text.c_str(), stdout); }) {}

void Monitor::show(bool error, std::string_view line) {
  erase();
  show_(error, line);
}

void Monitor::update(const Paces& paces) {
  const auto now = std::chrono::steady_clock::now();
  if (paces.empty() || now < next_) return;
  next_ = now + (terminal_ ? kRedraw : kBetweenLines);
  erase();
  if (!terminal_) return show_(false, "taeda: " + paces.summary());
  for_each_line(paces.table(), [this](std::string_view line) {
    show_(false, line);
    ++drawn_;
  });
}

void Monitor::finish(const Paces& paces) {
  next_ = {};
  update(paces);
  drawn_ = 0;
}

/// Takes the table away: up as many lines as it has, and all below.
void Monitor::erase() {
  if (!drawn_) return;
  draw_("\x1b[" + std::to_string(drawn_) + "A\x1b[J");
  drawn_ = 0;
}

}  // namespace taeda::inline v0_2::distributed::cluster
