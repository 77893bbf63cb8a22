// Where plug-ins are looked for: never relative to the working directory.
#include "taeda/device/plugin.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "tests/io/temporary_folder.h"

namespace taeda {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Set in the process that the test of the library's own folder starts.
constexpr const char* kOwnFolder = "TAEDA_TEST_OWN_FOLDER";

/// Set in the process that the test of raised privileges starts.
constexpr const char* kRaised = "TAEDA_TEST_RAISED";

class Plugins : public testing::Test {
 protected:
  Plugins() : before_(fs::current_path()) {}
  ~Plugins() override {
    fs::current_path(before_);
    ::unsetenv("TAEDA_PLUGIN_PATH");
  }

  /// Why a plug-in that nobody has made is not loaded.
  static std::string reason() {
    std::string out;
    EXPECT_EQ(detail::open_plugin_library("nobody_made_it", &out).handle, nullptr);
    return out;
  }

 private:
  const fs::path before_;
};

TEST_F(Plugins, OfTheWorkingDirectoryAreNotLoaded) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "plugins");
  for (const char* name : {"libtaeda_nobody_made_it.so", "plugins/libtaeda_nobody_made_it.so"})
    std::ofstream(folder / name) << "no library";
  fs::current_path(folder.path());
  for (const char* path : {"", ":", ".", "plugins:", "plugins:/nowhere"}) {
    ::setenv("TAEDA_PLUGIN_PATH", path, 1);
    EXPECT_THAT(reason(), AllOf(HasSubstr("no plug-in libtaeda_nobody_made_it.so was found in /"),
                                Not(HasSubstr("could not be loaded"))))
        << path;
  }
  EXPECT_THAT(reason(), HasSubstr("/nowhere; 'plugins' was left out: it is in TAEDA_PLUGIN_PATH, "
                                  "but is no absolute path"));
  ASSERT_FALSE(load_plugins().empty());
  EXPECT_EQ(load_plugins()[0].name, "plugins");
  ::setenv("TAEDA_PLUGIN_PATH", (folder / "plugins").c_str(), 1);
  EXPECT_THAT(reason(), HasSubstr("could not be loaded")) << "where the variable says, they are";
}

TEST_F(Plugins, TheLibrarysOwnFolderIsWhereItWasLoadedFrom) {
  if (const char* folder = std::getenv(kOwnFolder)) {
    fs::current_path("/");
    EXPECT_THAT(reason(), HasSubstr(std::string("was found in ") + folder));
    return;
  }
  Dl_info info;
  ASSERT_NE(::dladdr(reinterpret_cast<void*>(&detail::open_plugin_library), &info), 0);
  const fs::path library = fs::canonical(info.dli_fname);
  if (library == fs::canonical("/proc/self/exe")) GTEST_SKIP() << "a static library";
  fs::current_path(library.parent_path().parent_path());
  const std::string relative = library.parent_path().filename();
  const std::string command =
      "LD_LIBRARY_PATH=" + relative + " " + kOwnFolder + "='" + library.parent_path().string() +
      "' /proc/" + std::to_string(::getpid()) +
      "/exe --gtest_filter=Plugins.TheLibrarysOwnFolderIsWhereItWasLoadedFrom > /dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(Plugins, OfTheVariableAreNotLoadedWithRaisedPrivileges) {
  constexpr int kNotRaised = 77;
  if (std::getenv(kRaised)) {
    if (::getauxval(AT_SECURE) == 0) std::_Exit(kNotRaised);
    EXPECT_THAT(reason(), AllOf(HasSubstr("was found in /"), Not(HasSubstr("/nowhere"))));
    return;
  }
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give this program to another user";
  const TemporaryFolder folder;
  fs::copy_file("/proc/self/exe", folder / "raised");
  ::chmod(folder.path().c_str(), 0755);
  ::chmod((folder / "raised").c_str(), 04755);
  const std::string command =
      std::string(kRaised) +
      "=1 TAEDA_PLUGIN_PATH=/nowhere setpriv --reuid=65534 --clear-groups '" + (folder / "raised") +
      "' --gtest_filter=Plugins.OfTheVariableAreNotLoadedWithRaisedPrivileges > /dev/null";
  const int status = std::system(command.c_str());
  if (WIFEXITED(status) && WEXITSTATUS(status) >= kNotRaised)
    GTEST_SKIP() << "no program gets another user's rights here";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace taeda
