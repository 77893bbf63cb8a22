// Several "machines" on this one: network namespaces, joined by a bridge in one more. They have no
// names, so that nothing is left of them when the test and its processes are gone, however it ends.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/distributed/process.h"

namespace taeda {

/// A network namespace that lives as long as the object and the processes in it.
class NetworkNamespace {
 public:
  NetworkNamespace();
  ~NetworkNamespace();
  NetworkNamespace(const NetworkNamespace&) = delete;
  NetworkNamespace& operator=(const NetworkNamespace&) = delete;

  /// Where other programs find it.
  std::string path() const;
  /// Runs a shell's command in it; throws with the command if it fails.
  void run(const std::string& command) const;
  /// Starts a process in it.
  std::unique_ptr<Process> start(const std::string& role,
                                 std::map<std::string, std::string> environment) const;

 private:
  class Visit;
  int file_ = -1;
};

/// Machine i has the address 192.0.2.<i + 1> on its interface eth0.
class Machines {
 public:
  explicit Machines(int count);
  /// Why there can be none; empty if there can.
  static std::string missing();

  const NetworkNamespace& operator[](int machine) const {
    return *machines_.at(static_cast<size_t>(machine));
  }
  static std::string address(int machine) { return "192.0.2." + std::to_string(machine + 1); }

  void set_link(int machine, bool up) const;
  /// Whatever is sent to the machine or by it disappears.
  void drop_silently(int machine) const;
  void slow_link(int machine) const;
  /// Another one takes the machine's address and resets the connections that it does not know, as
  /// one that was started anew would; the old one is cut off.
  void replace(int machine);

 private:
  /// Joins a new namespace to the bridge, with the address of machine `machine`.
  std::unique_ptr<NetworkNamespace> plug_in(const std::string& port, int machine) const;
  static std::string port(int machine) { return "port" + std::to_string(machine); }

  NetworkNamespace bridge_;
  std::vector<std::unique_ptr<NetworkNamespace>> machines_, replacements_;
};

}  // namespace taeda
