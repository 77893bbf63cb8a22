#include "taeda/distributed/cluster/stop_signals.h"

#include <atomic>

namespace taeda::inline v0_2::distributed::cluster {

namespace {

constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP};
std::atomic<int> last_stop{0}, stops{0};

void remember(int signal) {
  last_stop = signal;
  ++stops;
}

}  // namespace

StopSignals::StopSignals() {
  last_stop = stops = 0;
  struct sigaction action = {};
  action.sa_handler = remember;
  for (int i = 0; i < 3; ++i) ::sigaction(kStopSignals[i], &action, &before_[i]);
}

StopSignals::~StopSignals() {
  for (int i = 0; i < 3; ++i) ::sigaction(kStopSignals[i], &before_[i], nullptr);
}

int StopSignals::last() const { return last_stop; }
int StopSignals::count() const { return stops; }

}  // namespace taeda::inline v0_2::distributed::cluster
