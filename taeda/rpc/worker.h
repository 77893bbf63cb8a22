// The name and number of a worker.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <variant>

namespace taeda::inline v0_2::distributed::rpc {

struct WorkerInfo {
  std::string name;
  int64_t id = -1;  ///< its rank

  friend bool operator==(const WorkerInfo&, const WorkerInfo&) = default;
};

/// "WorkerInfo(id=1, name=worker1)"
std::string to_string(const WorkerInfo& worker);
std::ostream& operator<<(std::ostream& out, const WorkerInfo& worker);

/// A worker as functions take it: by name, number or information.
class WorkerRef {
 public:
  WorkerRef(std::string name) : value_(std::move(name)) {}
  WorkerRef(const char* name) : value_(std::string(name)) {}
  WorkerRef(int64_t id) : value_(id) {}
  WorkerRef(int id) : value_(int64_t{id}) {}
  WorkerRef(const WorkerInfo& worker) : value_(worker.id) {}

  const std::variant<std::string, int64_t>& value() const { return value_; }

 private:
  std::variant<std::string, int64_t> value_;
};

}  // namespace taeda::inline v0_2::distributed::rpc
