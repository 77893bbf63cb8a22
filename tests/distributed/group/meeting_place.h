// Where the processes of a test meet.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "taeda/distributed/store/file_store.h"
#include "tests/distributed/process.h"

namespace taeda {

/// A file for a FileStore, gone at the end.
struct MeetingPlace {
  std::string path =
      (std::filesystem::temp_directory_path() / ("taeda_group_" + std::to_string(getpid())))
          .string();
  MeetingPlace() { std::filesystem::remove(path); }
  ~MeetingPlace() { std::filesystem::remove(path); }
};

/// `size` processes in a role, each with RANK and WORLD_SIZE.
inline std::vector<std::unique_ptr<Process>> start_ranks(
    const std::string& role, int size, const MeetingPlace& place,
    std::map<std::string, std::string> environment = {}) {
  std::vector<std::unique_ptr<Process>> out;
  environment["WORLD_SIZE"] = std::to_string(size);
  environment["TAEDA_TEST_PATH"] = place.path;
  for (int rank = 0; rank < size; ++rank) {
    environment["RANK"] = std::to_string(rank);
    out.push_back(std::make_unique<Process>(role, environment));
  }
  return out;
}

/// What such a process knows.
inline std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}
inline int own_rank() { return std::stoi(variable("RANK")); }
inline int world_size() { return std::stoi(variable("WORLD_SIZE")); }
inline std::shared_ptr<distributed::FileStore> common_store() {
  return std::make_shared<distributed::FileStore>(variable("TAEDA_TEST_PATH"), world_size());
}

}  // namespace taeda
