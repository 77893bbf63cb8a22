#include "taeda/distributed/cluster/stop_signals.h"

#include <atomic>

namespace taeda::inline v0_2::distributed::cluster {

namespace {

std::atomic<int> last_stop{0}, stops{0};

void remember(int signal) {
  last_stop = signal;
  ++stops;
}

}  // namespace

StopSignals::StopSignals(const std::vector<int>& signals) {
  last_stop = stops = 0;
  struct sigaction action = {}, before = {};
  action.sa_handler = remember;
  for (const int signal : signals) {
    ::sigaction(signal, nullptr, &before);
    if (signal == SIGHUP && before.sa_handler == SIG_IGN) continue;
    ::sigaction(signal, &action, &before);
    before_.emplace_back(signal, before);
  }
}

StopSignals::~StopSignals() {
  for (const auto& [signal, action] : before_) ::sigaction(signal, &action, nullptr);
}

int StopSignals::last() const { return last_stop; }
int StopSignals::count() const { return stops; }

}  // namespace taeda::inline v0_2::distributed::cluster
