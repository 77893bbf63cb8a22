// What measurements in several processes share.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// Seconds of one call of `f`, of several in a row.
inline double seconds_of(int calls, const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / calls;
}

inline double median_of(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

/// The number behind `name` on the command line.
inline int option(int argc, char** argv, const std::string& name, int otherwise) {
  for (int i = 1; i + 1 < argc; i += 2)
    if (name == argv[i]) return std::atoi(argv[i + 1]);
  return otherwise;
}

}  // namespace bench
