#include "taeda/distributed/cluster/reporting_children.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <utility>

namespace taeda::inline v0_2::distributed::cluster {

void ReportingChildren::start(const ChildOptions& options, Descriptor report) {
  children_.push_back({Child(options), std::move(report)});
}

bool ReportingChildren::all_ended() const {
  return std::ranges::all_of(children_,
                             [](const ReportingChild& c) { return c.ended.has_value(); });
}

void ReportingChildren::look(std::chrono::milliseconds time) {
  std::vector<pollfd> files;
  for (const ReportingChild& c : children_) files.push_back({c.report.get(), POLLIN, 0});
  ::poll(files.data(), files.size(), static_cast<int>(time.count()));
  for (ReportingChild& c : children_) {
    const std::optional<ExitStatus> status = c.child.status();
    if (c.report && !read_available(c.report.get(), c.said)) c.report.close();
    c.ended = status;
  }
}

void ReportingChildren::signal_all(int number) {
  for (ReportingChild& c : children_) c.child.signal(number);
}

void ReportingChildren::kill_all() {
  signal_all(SIGKILL);
  for (ReportingChild& c : children_) c.child.wait();
}

}  // namespace taeda::inline v0_2::distributed::cluster
