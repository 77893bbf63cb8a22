#include "taeda/distributed/cluster/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/distributed/cluster/descriptor.h"

namespace taeda::inline v0_2::distributed::cluster {

namespace {

/// Of a process whose end somebody else was told: the program ignores SIGCHLD, or waits for any.
constexpr int kUnknownCode = 255;

/// The strings that a program is started with, made before the fork: between fork and exec a
/// process that had threads may call little more than the system.
struct Image {
  std::string program;
  std::vector<std::string> arguments, variables;
  std::vector<char*> argv, envp;
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

Image image_of(const ChildOptions& options) {
  Image out;
  out.program = options.program.empty() ? options.command[0] : options.program;
  out.arguments = options.command;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    if (!options.environment.contains(text.substr(0, text.find('='))))
      out.variables.push_back(text);
  }
  for (const auto& [name, value] : options.environment)
    if (value) out.variables.push_back(name + "=" + *value);
  out.argv = pointers(out.arguments);
  out.envp = pointers(out.variables);
  return out;
}

/// Gives the child a standard descriptor.
bool put(int file, int standard) { return file < 0 || ::dup2(file, standard) >= 0; }

bool prepare(const ChildOptions& options, pid_t parent, int nothing) {
  if (options.group >= 0 && ::setpgid(0, options.group) != 0) return false;
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return false;
  if (::getppid() != parent) ::_exit(1);  // it ended before it could be watched
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (!put(options.input < 0 ? nothing : options.input, STDIN_FILENO) ||
      !put(options.output, STDOUT_FILENO) || !put(options.error, STDERR_FILENO))
    return false;
  for (const int file : options.inherited)
    if (::fcntl(file, F_SETFD, 0) != 0) return false;
  return true;
}

/// In the child: becomes the program, or says why not.
[[noreturn]] void become(const ChildOptions& options, const Image& image, pid_t parent, int nothing,
                         int report) {
  if (prepare(options, parent, nothing))
    ::execvpe(image.program.c_str(), image.argv.data(), image.envp.data());
  const int reason = errno;
  if (::write(report, &reason, sizeof reason) < 0) ::_exit(126);
  ::_exit(127);
}

}  // namespace

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

std::string ExitStatus::text() const {
  if (!signal) return "exited with status " + std::to_string(code);
  const char* what = ::sigdescr_np(signal);
  return "was ended by " + signal_name(signal) + (what ? " (" + std::string(what) + ")" : "");
}

Child::Child(const ChildOptions& options) {
  TAEDA_CHECK_VALUE(!options.command.empty(), "a process needs a program to run, but got none");
  const Image image = image_of(options);
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Pipe report;
  ::fcntl(report.read.get(), F_SETFL, 0);  // waits until the child has become the program
  const pid_t parent = ::getpid();
  id_ = ::fork();
  if (id_ == 0) become(options, image, parent, nothing.get(), report.write.get());
  int reason = errno;
  report.write.close();
  if (id_ > 0 && ::read(report.read.get(), &reason, sizeof reason) != sizeof reason) return;
  if (id_ > 0) wait();
  taeda::detail::fail<DistributedError>("cannot start '" + image.program + "' (" +
                                        std::strerror(reason) + ")");
}

Child::Child(Child&& other) noexcept
    : id_(std::exchange(other.id_, -1)), status_(std::move(other.status_)) {}

Child::~Child() {
  if (id_ <= 0 || status_) return;
  signal(SIGKILL);
  wait();
}

std::optional<ExitStatus> Child::status() {
  if (status_) return status_;
  int status = 0;
  const pid_t ended = ::waitpid(id_, &status, WNOHANG);
  if (ended < 0 && errno == ECHILD)
    status_ = ExitStatus{.code = kUnknownCode};
  else if (ended == id_)
    status_ = WIFSIGNALED(status) ? ExitStatus{.signal = WTERMSIG(status)}
                                  : ExitStatus{.code = WEXITSTATUS(status)};
  return status_;
}

ExitStatus Child::wait() {
  siginfo_t ended;
  while (!status()) ::waitid(P_PID, static_cast<id_t>(id_), &ended, WEXITED | WNOWAIT);
  return *status_;
}

void Child::signal(int number) {
  if (!status()) ::kill(id_, number);
}

}  // namespace taeda::inline v0_2::distributed::cluster
