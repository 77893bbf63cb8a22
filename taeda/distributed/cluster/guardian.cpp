#include "taeda/distributed/cluster/guardian.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::cluster {

namespace {

/// In the guardian, which has no program of its own and so may call nothing but the system.
[[noreturn]] void guard(int alive) {
  if (::setpgid(0, 0) != 0 || ::getpgrp() != ::getpid()) ::_exit(1);  // before it kills others
  ::dup2(alive, STDIN_FILENO);
  ::close_range(STDIN_FILENO + 1, ~0u, 0);
  char byte;
  while (::read(STDIN_FILENO, &byte, 1) != 0) {
  }
  ::kill(0, SIGKILL);
  ::_exit(0);
}

}  // namespace

Guardian::Guardian() {
  int ends[2];
  TAEDA_CHECK_AS(DistributedError, ::pipe2(ends, O_CLOEXEC) == 0, "a pipe cannot be made (",
                 std::strerror(errno), ")");
  const Descriptor read(ends[0]);
  alive_ = Descriptor(ends[1]);
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals to the group are not for the guardian
  id_ = ::fork();
  if (id_ == 0) guard(read.get());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  TAEDA_CHECK_AS(DistributedError, id_ > 0, "a process cannot be started (", std::strerror(errno),
                 ")");
  ::setpgid(id_, id_);  // whoever comes first
}

Guardian::~Guardian() {
  alive_.close();
  ::waitpid(id_, nullptr, 0);
}

void Guardian::signal(int number) const { ::kill(-id_, number); }

}  // namespace taeda::inline v0_2::distributed::cluster
