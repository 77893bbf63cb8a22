#include "tests/distributed/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <thread>
#include <vector>

namespace taeda {
namespace {

constexpr const char* kRole = "TAEDA_TEST_ROLE";

std::map<std::string, int (*)()>& roles() {
  static std::map<std::string, int (*)()> all;
  return all;
}

/// This program's environment with `added` in place of variables of the same name.
std::vector<std::string> environment_with(const std::map<std::string, std::string>& added) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    if (!added.contains(text.substr(0, text.find('=')))) out.push_back(text);
  }
  for (const auto& [name, value] : added) out.push_back(name + "=" + value);
  return out;
}

}  // namespace

Role::Role(const char* name, int (*run)()) { roles()[name] = run; }

std::optional<int> run_role() {
  const char* name = std::getenv(kRole);
  if (!name) return {};
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  try {
    return roles().at(name)();
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
}

Process::Process(const std::string& role, std::map<std::string, std::string> environment) {
  environment[kRole] = role;
  std::vector<std::string> texts = environment_with(environment);
  std::vector<char*> entries;
  for (std::string& text : texts) entries.push_back(text.data());
  entries.push_back(nullptr);

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  char program[] = "/proc/self/exe";
  char* arguments[] = {program, nullptr};
  // In a group of its own: the system hangs up on a whole group whose parent ends while one of it
  // is stopped, and the tests that run beside are in ours.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int error = ::posix_spawn(&id_, program, &actions, &attributes, arguments, entries.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  output_ = ends[0];
  if (error != 0) throw std::runtime_error("cannot start a process in the role " + role);
}

Process::~Process() {
  if (!status_) {
    signal(SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  ::close(output_);
}

void Process::signal(int number) {
  if (status_) return;
  ::kill(id_, number);
  siginfo_t info;
  if (number == SIGSTOP) ::waitid(P_PID, static_cast<id_t>(id_), &info, WSTOPPED | WNOWAIT);
}

bool Process::stopped(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const int flags = WSTOPPED | WEXITED | WNOHANG | WNOWAIT;
  siginfo_t info = {};
  while (::waitid(P_PID, static_cast<id_t>(id_), &info, flags) == 0 && info.si_pid == 0 &&
         std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return info.si_pid == id_ && info.si_code == CLD_STOPPED;
}

std::optional<int> Process::wait(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!status_) {
    int status = 0;
    if (::waitpid(id_, &status, WNOHANG) == id_)
      status_ = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    else if (std::chrono::steady_clock::now() >= deadline)
      break;
    else
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return status_;
}

std::string Process::line(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  size_t end;
  while ((end = read_.find('\n')) == std::string::npos) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd ready = {output_, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) return {};
    char buffer[4096];
    const ssize_t n = ::read(output_, buffer, sizeof buffer);
    if (n <= 0) return {};
    read_.append(buffer, static_cast<size_t>(n));
  }
  const std::string out = read_.substr(0, end);
  read_.erase(0, end + 1);
  return out;
}

}  // namespace taeda
