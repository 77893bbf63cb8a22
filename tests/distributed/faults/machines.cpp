#include "tests/distributed/faults/machines.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "tests/error_of.h"

namespace taeda {
namespace {

void require_call(bool success, const char* what) {
  if (!success) throw std::system_error(errno, std::generic_category(), what);
}

int namespace_of_thread() {
  const int file = ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  require_call(file >= 0, "the thread's network namespace");
  return file;
}

}  // namespace

/// The calling thread, and what it starts, is in a namespace for a scope.
class NetworkNamespace::Visit {
 public:
  explicit Visit(int file) : home_(namespace_of_thread()) {
    require_call(::setns(file, CLONE_NEWNET) == 0, "entering a network namespace");
  }
  ~Visit() {
    if (::setns(home_, CLONE_NEWNET) != 0) std::abort();
    ::close(home_);
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  int home_;
};

NetworkNamespace::NetworkNamespace() {
  const int home = namespace_of_thread();
  const bool made = ::unshare(CLONE_NEWNET) == 0;
  const int error = errno;
  if (made) {
    file_ = namespace_of_thread();
    require_call(::setns(home, CLONE_NEWNET) == 0, "leaving a network namespace");
  }
  ::close(home);
  errno = error;
  require_call(made, "making a network namespace");
}

NetworkNamespace::~NetworkNamespace() { ::close(file_); }

std::string NetworkNamespace::path() const {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file_);
}

void NetworkNamespace::run(const std::string& command) const {
  const Visit here(file_);
  if (std::system(("(" + command + ") > /dev/null 2>&1").c_str()) != 0)
    throw std::runtime_error("`" + command + "` failed in a network namespace");
}

std::unique_ptr<Process> NetworkNamespace::start(
    const std::string& role, std::map<std::string, std::string> environment) const {
  const Visit here(file_);
  return std::make_unique<Process>(role, std::move(environment));
}

Machines::Machines(int count) {
  bridge_.run("ip link add bridge type bridge && ip link set bridge up");
  for (int i = 0; i < count; ++i) machines_.push_back(plug_in(port(i), i));
}

std::unique_ptr<NetworkNamespace> Machines::plug_in(const std::string& port, int machine) const {
  auto out = std::make_unique<NetworkNamespace>();
  const std::string hardware = " address 02:00:00:00:00:0" + std::to_string(machine + 1);
  bridge_.run("ip link add " + port + " type veth peer name eth0 && ip link set eth0 netns " +
              out->path() + " && ip link set " + port + " master bridge up");
  out->run("ip link set lo up && ip address add " + address(machine) +
           "/24 dev eth0 && ip link set eth0" + hardware + " up");
  return out;
}

std::string Machines::missing() {
  static const std::string reason = error_of([] { Machines(1); });
  return reason == "no error" ? "" : "machines on this one need root and iproute2: " + reason;
}

void Machines::set_link(int machine, bool up) const {
  bridge_.run("ip link set " + port(machine) + (up ? " up" : " down"));
}

void Machines::drop_silently(int machine) const {
  bridge_.run("ip link set " + port(machine) + " nomaster");
}

void Machines::slow_link(int machine) const {
  const std::string limit = " root tbf rate 200mbit burst 64kb latency 500ms";
  bridge_.run("tc qdisc add dev " + port(machine) + limit);
  (*this)[machine].run("tc qdisc add dev eth0" + limit);
}

void Machines::replace(int machine) {
  drop_silently(machine);
  replacements_.push_back(plug_in("new" + port(machine), machine));
}

}  // namespace taeda
