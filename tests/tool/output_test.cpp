// The `taeda` command where its output is not read, cannot be written, or is not there.
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

#include <chrono>
#include <optional>
#include <thread>

#include "taeda/distributed/engine.h"
#include "tests/tool/common.h"

namespace taeda {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;
using testing::AllOf;
using testing::HasSubstr;

/// The command with its standard output in a pipe that nobody reads until a test does.
class Unread {
 public:
  explicit Unread(const std::string& arguments) {
    const std::string command =
        std::string("exec ") + TAEDA_TOOL + " " + arguments + " 2>" + errors_ + " </dev/null";
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    output_ = ends[0];
    id_ = ::fork();
    if (id_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(ends[1], STDOUT_FILENO);
      ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(ends[1]);
  }
  ~Unread() {
    if (!status_) {
      ::kill(id_, SIGKILL);
      ::waitpid(id_, nullptr, 0);
    }
    ::close(output_);
  }

  /// Waits until the pipe takes no more; false where that does not come.
  bool is_full() const {
    const int capacity = ::fcntl(output_, F_GETPIPE_SZ);
    return within_time([&] {
      int bytes = 0;
      return ::ioctl(output_, FIONREAD, &bytes) == 0 && bytes >= capacity - 4096;
    });
  }
  /// Waits until stderr holds `text`.
  bool says(const std::string& text) const {
    return within_time([&] { return contents(errors_).find(text) != std::string::npos; });
  }
  void signal(int number) const { ::kill(id_, number); }
  /// Reads all that comes until the command has ended.
  std::string read() {
    std::string out;
    char buffer[65536];
    pollfd ready = {output_, POLLIN, 0};
    while (::poll(&ready, 1, 20'000) == 1) {
      const ssize_t n = ::read(output_, buffer, sizeof buffer);
      if (n <= 0) break;
      out.append(buffer, static_cast<size_t>(n));
    }
    return out;
  }
  /// The exit code, or 128 and the signal; -1 where it does not end.
  int wait() {
    int status = 0;
    if (!within_time([&] { return ::waitpid(id_, &status, WNOHANG) == id_; })) return -1;
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return *status_;
  }
  std::string errors() const { return contents(errors_); }

 private:
  static bool within_time(const std::function<bool()>& done) {
    const auto deadline = steady_clock::now() + seconds(20);
    while (!done()) {
      if (steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }

  const TemporaryFolder folder_;
  const std::string errors_ = folder_ / "err";
  pid_t id_ = -1;
  int output_ = -1;
  std::optional<int> status_;
};

class LaunchOutput : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "gRPC was built without ThreadSanitizer";
#else
    if (!distributed::has_engine("grpc")) GTEST_SKIP() << "the engine 'grpc' is missing";
#endif
  }
};

TEST_F(LaunchOutput, ThatNobodyReadsMakesNobodyDeaf) {
  for (const int number : {SIGTERM, SIGINT}) {
    Unread tool("launch --shutdown-timeout 5 yes");
    ASSERT_TRUE(tool.is_full());
    tool.signal(number);
    EXPECT_EQ(tool.wait(), 128 + number);
  }
}

TEST_F(LaunchOutput, ThatNobodyReadsHidesNoFailure) {
  const TemporaryFolder folder;
  const std::string sign = folder / "full";
  Unread tool("launch --nproc-per-node 2 sh -c 'test $RANK = 0 && exec yes; until [ -e " + sign +
              " ]; do sleep 0.02; done; exit 7'");
  ASSERT_TRUE(tool.is_full());
  write_bytes(sign, "");
  EXPECT_TRUE(tool.says("taeda: rank 1 (local rank 1 on ")) << tool.errors();
  EXPECT_THAT(tool.read(), HasSubstr("[rank 0] y\n"));
  EXPECT_EQ(tool.wait(), 7);
}

TEST_F(LaunchOutput, OfASlowReaderIsWhole) {
  constexpr int kLines = 400'000;
  Unread tool("launch seq " + std::to_string(kLines));
  ASSERT_TRUE(tool.is_full());
  std::string expected;
  for (int i = 1; i <= kLines; ++i) expected += std::to_string(i) + "\n";
  EXPECT_TRUE(tool.read() == expected);
  EXPECT_EQ(tool.wait(), 0);
}

/// How a command ends whose output goes to a place as a shell writes it.
Outcome with_output(const std::string& arguments, const std::string& place) {
  const TemporaryFolder folder;
  const std::string command = std::string("timeout 100 ") + TAEDA_TOOL + " " + arguments + " 2>" +
                              (folder / "err") + " </dev/null " + place;
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), "",
          contents(folder / "err")};
}

TEST(ToolOutput, ThatIsLostIsAFailure) {
  for (const char* command : {"ops floor", "info --json", "--version", "--help"}) {
    const Outcome full = with_output(command, ">/dev/full");
    EXPECT_EQ(full.code, 1) << command;
    EXPECT_EQ(full.err, "taeda: the output cannot be written (No space left on device)\n");
    const Outcome closed = with_output(command, ">&-");
    EXPECT_EQ(closed.code, 1) << command;
    EXPECT_EQ(closed.err, "taeda: the output cannot be written (Bad file descriptor)\n");
  }
}

TEST_F(LaunchOutput, ThatIsLostIsAFailure) {
  for (const auto& [place, reason] : {std::pair(">/dev/full", "No space left on device"),
                                      std::pair(">&-", "Bad file descriptor")}) {
    const Outcome o = with_output("launch --nproc-per-node 2 echo hello", place);
    EXPECT_EQ(o.code, 1) << place;
    EXPECT_THAT(o.err, AllOf(HasSubstr("taeda: the standard output cannot be written"),
                             HasSubstr(reason), HasSubstr("2 lines are lost")));
    EXPECT_EQ(with_output("launch sh -c 'echo hello; exit 5'", place).code, 5);
    EXPECT_EQ(with_output("launch true", place).code, 0) << "nothing was to be shown";
  }
}

TEST_F(Train, WithoutAnOutputWritesToNoOtherFile) {
  const Outcome o =
      with_output(arguments("--device cpu --model mlp --epochs 1 --workers 0", out), ">&-");
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.err, HasSubstr("the output cannot be written (Bad file descriptor)"));
  for (const auto& entry : std::filesystem::directory_iterator(out))
    EXPECT_EQ(contents(entry.path()).find("│ epoch │"), std::string::npos) << entry.path();
  const Outcome good = taeda_tool("eval " + out);
  EXPECT_EQ(good.code, 0) << good.err;
}

TEST_F(LaunchOutput, GoesOnWhereAHangUpIsIgnored) {
  struct sigaction ignore = {}, before = {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGHUP, &ignore, &before);
  Outcome o;
  const TemporaryFolder folder;
  watch_taeda_tool(
      "launch sh -c 'echo ready; until [ -e " + (folder / "go") +
          " ]; do sleep 0.02; done; echo end'",
      "ready",
      [&](pid_t process) {
        ::kill(process, SIGHUP);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));  // for what must not happen
        write_bytes(folder / "go", "");
      },
      &o);
  ::sigaction(SIGHUP, &before, nullptr);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("end\n"));
}

TEST_F(LaunchOutput, WithoutALoopbackInterfaceIsAnErrorAtOnce) {
  if (std::system("unshare -rn true 2>/dev/null") != 0) GTEST_SKIP() << "no namespaces here";
  const Outcome o = taeda_tool("launch --standalone true", "unshare -rn timeout 20");
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.err, HasSubstr("this machine cannot reach its own address 127.0.0.1 (Network is "
                               "unreachable): its loopback interface is down"));
}

TEST_F(LaunchOutput, ASecretInAPipeIsRefused) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "secret").c_str(), 0600), 0);
  const Outcome o = taeda_tool(
      "launch true", "TAEDA_DISTRIBUTED_SECRET_FILE=" + (folder / "secret") + " timeout 20");
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.err, HasSubstr("is not a regular file"));
}

TEST_F(Train, FromAPipeIsRefused) {
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& command :
       {arguments("--device cpu --resume " + pipe, out),
        arguments("--device cpu --pretrained " + pipe, out), "inspect " + pipe, "eval " + pipe}) {
    const Outcome o = taeda_tool(command, "timeout 20");
    EXPECT_EQ(o.code, 2) << command;
    EXPECT_THAT(o.err, HasSubstr("cannot read " + pipe + ": not a regular file")) << command;
  }
}

}  // namespace
}  // namespace taeda
