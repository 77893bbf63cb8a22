// Which processes are there.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace taeda {

/// Whether a process is there, and no zombie.
inline bool runs(pid_t id) {
  std::ifstream file("/proc/" + std::to_string(id) + "/stat");
  std::string number, name, state;
  return file >> number >> name >> state && state != "Z";
}

/// Those that have not ended after ten seconds.
inline std::vector<pid_t> still_running(std::vector<pid_t> ids) {
  for (int i = 0; i < 2000 && !ids.empty(); ++i) {
    std::erase_if(ids, [](pid_t id) { return !runs(id); });
    if (!ids.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return ids;
}

}  // namespace taeda
