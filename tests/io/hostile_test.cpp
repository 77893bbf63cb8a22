// Small files that ask for gigabytes: what a process that loads one takes at most. Each is loaded
// by a process of its own, whose peak the system tells.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "taeda/io/npy.h"
#include "taeda/io/pt_reader.h"
#include "taeda/io/zip_archive.h"
#include "taeda/ops/create/create.h"
#include "tests/io/temporary_folder.h"

extern char** environ;

namespace taeda::io {
namespace {

constexpr const char* kHostilePath = "TAEDA_TEST_HOSTILE_PATH";
/// Beyond what the program takes before it reads: the budget of a file of a few KiB, and room for
/// what allocators and sanitizers keep.
constexpr int64_t kMostKib = 96 << 10;

/// The most memory that this process has had, in KiB.
int64_t peak_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::atoll(line.c_str() + 6);
  return -1;
}

/// The role of a process that loads a file and tells whether that stayed small.
TEST(Hostile, Loader) {
  const char* path = std::getenv(kHostilePath);
  if (!path) GTEST_SKIP() << "a role for SmallFilesTakeLittleMemory";
  const int64_t before = peak_kib();
  ASSERT_GT(before, 0);
  try {
    if (std::string(path).ends_with("npz"))
      load_npz(path);
    else
      load_pt(path);
  } catch (const Error&) {
  }
  EXPECT_LT(peak_kib() - before, kMostKib);
}

bool loads_in_little_memory(const std::string& path) {
  ::setenv(kHostilePath, path.c_str(), 1);
  std::string program = "/proc/self/exe", filter = "--gtest_filter=Hostile.Loader";
  char* arguments[] = {program.data(), filter.data(), nullptr};
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, program.c_str(), nullptr, nullptr, arguments, environ);
  ::unsetenv(kHostilePath);
  int status = 0;
  return error == 0 && ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

std::string memo(int index) { return std::string("q") + static_cast<char>(index); }
std::string recall(int index) { return std::string("h") + static_cast<char>(index); }

/// A tuple that is named again and again through torch.Size: 2^15 copies of it, if it were copied.
std::string sizes_pickle() {
  std::string out = "\x80\x02(";
  for (int i = 0; i < 400; ++i) out += "N";
  out += "tq\1ctorch\nSize\nq\2(";
  for (int i = 0; i < 100; ++i) out += "h\2h\1\x85R";
  out += "tq\3(";
  for (int i = 0; i < 100; ++i) out += "h\2h\3\x85R";
  return out + "t.";
}

/// Dictionaries in dictionaries, each of which has the next one under many names: a path for each
/// choice of names.
std::string keys_pickle(int levels, int names) {
  std::string out = "\x80\x02K\1" + memo(0);
  for (int level = 0; level < levels; ++level) {
    out += "}(";
    for (int k = 0; k < names; ++k)
      out += "\x8c\x10" + std::string(15, 'k') + static_cast<char>('a' + k) + recall(level);
    out += "u" + memo(level + 1);
  }
  return out + ".";
}

std::string pt_of(const std::string& pickle) {
  return make_zip({{"archive/data.pkl", pickle}, {"archive/version", "3\n"}}, false);
}

/// An array of 4.1 GB of nothing, as its directory and its header claim it.
std::string npz_of_gigabytes() {
  std::string array = serialize_npy(zeros({1}));
  const size_t shape = array.find("(1,)");
  array.replace(shape, 14, "(1030000000,) ");
  std::string out = make_zip({{"a.npy", array}}, true);
  const size_t directory = out.find("PK\1\2");
  const uint32_t claimed = 4120000128u;
  for (size_t at : {directory + 24, size_t{22}})  // unpacked sizes of directory and entry
    for (size_t i = 0; i < 4; ++i) out[at + i] = static_cast<char>(claimed >> 8 * i);
  return out;
}

TEST(Hostile, SmallFilesTakeLittleMemory) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  const TemporaryFolder folder;
  const auto stays_small = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
    EXPECT_LT(bytes.size(), 8000u) << name;
    EXPECT_TRUE(loads_in_little_memory(folder / name)) << name;
  };
  stays_small("sizes.pt", pt_of(sizes_pickle()));
  stays_small("keys.pt", pt_of(keys_pickle(12, 4)));
  stays_small("deep_keys.pt", pt_of(keys_pickle(90, 2)));
  stays_small("claims.npz", npz_of_gigabytes());
}

}  // namespace
}  // namespace taeda::io
