#include "taeda/parallel/pipe/report.h"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>

namespace taeda::inline v0_2::nn {

std::ostream& operator<<(std::ostream& out, PipeSchedule schedule) {
  return out << (schedule == PipeSchedule::GPipe ? "GPipe" : "1F1B");
}

namespace {

double longest(const std::vector<PipeReport::Stage>& stages) {
  double out = 0;
  for (const PipeReport::Stage& s : stages) out = std::max(out, s.total_ms);
  return out;
}

}  // namespace

double PipeReport::ideal_bubble() const {
  const auto n = static_cast<double>(stages.size()), m = static_cast<double>(micro_batches);
  return n == 0 ? 0 : (n - 1) / (m + n - 1);
}

double PipeReport::measured_bubble() const {
  double busy = 0;
  for (const Stage& s : stages) busy += s.busy_ms;
  const double all = longest(stages) * static_cast<double>(stages.size());
  return all > 0 ? 1 - busy / all : 0;
}

std::string PipeReport::str() const {
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << schedule << ", " << micro_batches
      << (micro_batches == 1 ? " micro-batch, " : " micro-batches, ")
      << (backward ? "forward and backward" : "forward") << '\n'
      << "stage  device  modules   busy ms   idle %  kept\n";
  const double total = longest(stages);
  for (size_t i = 0; i < stages.size(); ++i) {
    const Stage& s = stages[i];
    out << std::setw(5) << i << "  " << std::left << std::setw(6) << s.device.str() << std::right
        << std::setw(9) << s.modules << std::setw(10) << std::setprecision(3) << s.busy_ms
        << std::setw(9) << std::setprecision(1) << (total > 0 ? 100 * (1 - s.busy_ms / total) : 0)
        << std::setw(6) << s.kept << '\n';
  }
  out << "bubble: " << 100 * measured_bubble() << " % of " << std::setprecision(3) << total
      << " ms; with equal stages " << std::setprecision(1) << 100 * ideal_bubble() << " %";
  return std::move(out).str();
}

std::ostream& operator<<(std::ostream& out, const PipeReport& report) {
  return out << report.str();
}

}  // namespace taeda::nn
