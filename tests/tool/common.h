// Running the `taeda` command as users do: a process with arguments, output and an exit code.
#pragma once

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "taeda/io/safetensors.h"
#include "tests/io/temporary_folder.h"
#include "tests/vision/idx_files.h"

namespace taeda {

struct Outcome {
  int code = -1;
  std::string out, err;
};

/// What the tool's tables are drawn for, unless a test says otherwise.
constexpr const char* kTerminal = "LC_ALL=C.UTF-8 COLUMNS=120 ";

/// Runs the tool; `environment` is put before it ("NAME=value").
inline Outcome taeda_tool(const std::string& arguments, const std::string& environment = "") {
  const TemporaryFolder folder;
  const std::string command = kTerminal + environment + " " + TAEDA_TOOL + " " + arguments + " >" +
                              (folder / "out") + " 2>" + (folder / "err") + " </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          contents(folder / "out"), contents(folder / "err")};
}

/// Runs the tool until its output shows `sign`, calls `act` with its process, and waits for its
/// end.
inline void watch_taeda_tool(const std::string& arguments, const std::string& sign,
                             const std::function<void(pid_t)>& act, Outcome* outcome) {
  const TemporaryFolder folder;
  const std::string command = "exec env " + (kTerminal + (TAEDA_TOOL " " + arguments)) + " 2>" +
                              (folder / "err") + " </dev/null";
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(ends[1]);
  char buffer[512];
  ssize_t n = 0;
  while (outcome->out.find(sign) == std::string::npos) {
    n = ::read(ends[0], buffer, sizeof buffer);
    ASSERT_GT(n, 0) << outcome->out;
    outcome->out.append(buffer, static_cast<size_t>(n));
  }
  act(child);
  while ((n = ::read(ends[0], buffer, sizeof buffer)) > 0)
    outcome->out.append(buffer, static_cast<size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  outcome->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome->err = contents(folder / "err");
}

/// The same, sending it a signal.
inline void signal_taeda_tool(const std::string& arguments, const std::string& sign, int number,
                              Outcome* outcome) {
  watch_taeda_tool(
      arguments, sign, [number](pid_t process) { ::kill(process, number); }, outcome);
}

/// Exit code 2, one line on stderr that says `message`, and no other output.
inline void expect_bad_input(const std::string& arguments, const std::string& message) {
  const Outcome o = taeda_tool(arguments);
  EXPECT_EQ(o.code, 2) << arguments;
  EXPECT_THAT(o.err, testing::StartsWith("taeda: ")) << arguments;
  EXPECT_THAT(o.err, testing::HasSubstr(message)) << arguments;
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  EXPECT_EQ(o.out, "") << arguments;
}

/// Everything in result.json but what depends on the clock.
inline std::string without_times(const std::string& folder) {
  const std::regex times("\"(seconds|[a-z]+_per_second)\": [^,}\n]+");
  return std::regex_replace(contents(folder + "/result.json"), times, "");
}

/// Every tensor and every text of a checkpoint but what depends on the clock.
inline std::string without_times_in_checkpoint(const std::string& folder) {
  const auto file = io::SafeTensors::open(folder + "/checkpoint.safetensors");
  std::string out;
  for (const auto& [name, tensor] : file.all())
    out += name + std::string(static_cast<const char*>(tensor.data_ptr()),
                              static_cast<size_t>(tensor.nbytes()));
  for (const auto& [name, text] : file.metadata())
    if (!name.ends_with("seconds")) out += name + "=" + text + "\n";
  return out;
}

/// The number behind "name": in a result.
inline double number_in(const std::string& folder, const std::string& name) {
  const std::string text = contents(folder + "/result.json");
  const size_t at = text.rfind("\"" + name + "\": ");
  return at == std::string::npos ? NAN : std::stod(text.substr(at + name.size() + 4));
}

class Train : public testing::Test {
 protected:
  Train() {
    std::filesystem::create_directory(data);
    write_fashion_files(data, 400, 100);
  }
  std::string arguments(const std::string& more, const std::string& out_folder) {
    return "train fashion-mnist --data " + data + " --out " + out_folder +
           " --epochs 2 --batch-size 20 " + more;
  }
  /// Runs with something wrong: exit code 2, one line that says `message`, and no output folder.
  void expect_usage_error(const std::string& more, const std::string& message) {
    expect_bad_input(arguments(more, out), message);
    EXPECT_FALSE(std::filesystem::exists(out)) << more;
  }
  static void expect_equal_runs(const std::string& a, const std::string& b) {
    EXPECT_EQ(without_times(a), without_times(b));
    EXPECT_TRUE(without_times_in_checkpoint(a) == without_times_in_checkpoint(b));
  }
  /// Every loss and accuracy that the run wrote down, as text.
  static std::vector<std::string> numbers(const std::string& out_folder) {
    const std::string text = contents(out_folder + "/result.json");
    const std::regex pattern("\"(train|test)_(loss|accuracy)\": [^,}\n]+");
    std::vector<std::string> found;
    for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
      found.push_back(it->str());
    return found;
  }

  TemporaryFolder folder;
  std::string data = folder / "data", out = folder / "out/deeper";
};

}  // namespace taeda
