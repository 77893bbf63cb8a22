#include "taeda/io/atomic_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "taeda/base/error.h"
#include "taeda/io/mapped_file.h"
#include "taeda/io/temporary_file.h"
#include "tests/error_of.h"
#include "tests/io/interposed.h"
#include "tests/io/temporary_folder.h"

namespace taeda::io {
namespace {

TEST(AtomicFile, AppearsOnCommitOnly) {
  const TemporaryFolder folder;
  const std::string path = folder / "out";
  {
    AtomicFile file(path);
    file.write("new");
    EXPECT_FALSE(std::filesystem::exists(path));
    file.commit();
    EXPECT_EQ(contents(path), "new");
    EXPECT_THROW(file.commit(), Error);
  }
  {
    AtomicFile file(path);
    file.write("half-writ");
  }
  EXPECT_EQ(contents(path), "new") << "what was there stays";
  EXPECT_EQ(folder.count(), 1u) << "nothing is left behind";
  write_file(path, "");
  EXPECT_EQ(contents(path), "");
}

TEST(AtomicFile, WritersOfOneFileDoNotMeet) {
  const TemporaryFolder folder;
  AtomicFile a(folder / "out"), b(folder / "out");
  a.write("a");
  b.write("b");
  b.commit();
  a.commit();
  EXPECT_EQ(contents(folder / "out"), "a");
}

TEST(AtomicFile, NamesPathAndReason) {
  const TemporaryFolder folder;
  const auto error = [](const std::string& path) {
    try {
      write_file(path, "x");
    } catch (const Error& e) {
      return e.message();
    }
    return std::string("no error");
  };
  EXPECT_EQ(error(folder / "none/out"),
            "cannot write " + (folder / "none/out") + ": No such file or directory (open)");
  EXPECT_THAT(error(folder / ""), testing::HasSubstr("not the name of a file"));
  std::filesystem::create_directory(folder / "taken");
  EXPECT_THAT(error(folder / "taken"), testing::HasSubstr("Is a directory (rename)"));
  EXPECT_EQ(folder.count(), 1u);
}

TEST(AtomicFile, ReportsAFullDisk) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  AtomicFile file(TemporaryFolder().path());
  ASSERT_TRUE(std::freopen("/dev/full", "wb", file.stream()));
  file.write(std::string(10, 'x'));
  EXPECT_THROW(file.commit(), Error);
}

TEST(AtomicFile, TakesAnotherNameWhereOneIsTaken) {
  const TemporaryFolder folder;
  write_file(folder / "out", "old");  // the folder is swept
  const RepeatedRandom same(3);
  AtomicFile a(folder / "out"), b(folder / "out");
  a.write("a");
  b.write("b");
  a.commit();
  b.commit();
  EXPECT_EQ(contents(folder / "out"), "b");
  EXPECT_EQ(folder.count(), 1u);
}

TEST(AtomicFile, RemovesWhatKilledProcessesLeft) {
  const TemporaryFolder folder;
  const std::string left = folder / ".out.0123456789abcdef.taeda~";
  const std::string other = folder / ".out.0123456789abcdeX.taeda~";
  std::ofstream(left) << "half";
  std::ofstream(other) << "a file of somebody else";
  const TemporaryFile living = make_temporary_beside(folder / "out", 0600);
  ASSERT_GE(living.descriptor, 0);
  write_file(folder / "out", "new");
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(other));
  EXPECT_TRUE(std::filesystem::exists(living.path)) << "whoever writes it holds its lock";
  ::close(living.descriptor);
  sweep_temporaries(folder.path());
  EXPECT_FALSE(std::filesystem::exists(living.path));
}

TEST(AtomicFile, KeepsPermissionsAndLinks) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const auto mode = [&](const std::string& path) { return fs::status(path).permissions(); };
  fs::create_directory(folder / "real");
  write_file(folder / "real/secret", "old");
  ASSERT_EQ(::chmod((folder / "real/secret").c_str(), 0640), 0);
  fs::create_symlink("real/secret", folder / "link");
  fs::create_symlink("link", folder / "chain");
  write_file(folder / "chain", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_TRUE(fs::is_symlink(folder / "chain"));
  EXPECT_EQ(contents(folder / "real/secret"), "new");
  EXPECT_EQ(mode(folder / "real/secret"), fs::perms(0640));
  fs::create_symlink("real/later", folder / "dangling");
  write_file(folder / "dangling", "made");
  EXPECT_EQ(contents(folder / "real/later"), "made");
  EXPECT_THROW(write_file("/dev/null", "x"), Error);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(AtomicFile, NamesOfAnyLength) {
  const TemporaryFolder folder;
  const std::string name(255, 'n');
  write_file(folder / name, "x");
  EXPECT_EQ(contents(folder / name), "x");
}

TEST(AtomicFile, ReportsThatTheFolderWasNotFlushed) {
  const TemporaryFolder folder;
  const FailingFolderSync failing;
  EXPECT_EQ(error_of([&] { write_file(folder / "out", "x"); }),
            "cannot write " + (folder / "out") + ": Input/output error (fsync of the folder)");
}

TEST(MappedFile, SeesTheWholeFile) {
  const TemporaryFolder folder;
  write_file(folder / "a", "some bytes");
  write_file(folder / "empty", "");
  const auto file = MappedFile::open(folder / "a");
  EXPECT_EQ(std::string(file->data(), file->size()), "some bytes");
  EXPECT_EQ(MappedFile::open(folder / "empty")->size(), 0u);
  EXPECT_THROW(MappedFile::open(folder / "none"), Error);
  EXPECT_THROW(MappedFile::open(folder.path()), Error);
}

}  // namespace
}  // namespace taeda::io
