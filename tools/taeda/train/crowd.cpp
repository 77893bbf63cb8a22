#include "tools/taeda/train/crowd.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "taeda/base/parallel_for.h"

namespace taeda::tool {

namespace {

/// Threads of the run: --threads, or as many as the library would take.
int threads_of(const std::vector<std::string>& words) {
  const std::string flag = "--threads";
  int out = get_num_threads();
  for (size_t i = 0; i < words.size(); ++i) {
    std::string value;
    if (words[i] == flag && i + 1 < words.size()) value = words[i + 1];
    if (words[i].starts_with(flag + "=")) value = words[i].substr(flag.size() + 1);
    if (const int given = std::atoi(value.c_str()); given > 0) out = given;
  }
  return out;
}

/// How many computed in the last minute, on the average.
double load() {
  double out = 0;
  return ::getloadavg(&out, 1) == 1 ? out : 0;
}

}  // namespace

void wait_as_the_machine_allows(char** argv, const std::vector<std::string>& words) {
  constexpr double kSpare = 0.5;  // what others' daemons take
  if (words.size() < 2 || words[1] != "train") return;
  if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT")) return;
  const int threads = threads_of(words);
  if (threads < 2 || threads + load() <= std::thread::hardware_concurrency() + kSpare) return;
  std::error_code failed;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", failed).string();
  ::setenv("OMP_WAIT_POLICY", "passive", 1);
  if (!failed) ::execv(program.c_str(), argv);  // returns on failure: it goes on as it is
}

}  // namespace taeda::tool
