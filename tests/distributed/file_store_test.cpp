#include "taeda/distributed/store/file_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "taeda/distributed/store/store.h"
#include "tests/distributed/process.h"
#include "tests/variable.h"
#include "tests/error_of.h"
#include "tests/io/full_disk.h"
#include "tests/io/temporary_folder.h"

namespace taeda::distributed {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

std::string path_of_test() { return std::getenv("TAEDA_TEST_PATH"); }

/// Counts to 100 with the others, says so, and leaves.
const Role count_in_file("count in a file", [] {
  FileStore store(path_of_test(), 4);
  for (int i = 0; i < 100; ++i) store.add("n", 1);
  store.add("done", 1);
  store.wait({"finish"});
  return 0;
});

/// Joins, says so, and writes until it is killed.
const Role write_to_file("write to a file", [] {
  FileStore store(path_of_test(), 2);
  store.set("from the writer", "1");
  std::puts("ready");
  for (const std::string value(100'000, 'x');;) store.set("large", value);
  return 0;
});

class FileStores : public testing::Test {
 protected:
  TemporaryFolder folder_;
  const std::string path_ = folder_ / "store";

  /// The writer, when it has joined; `job` is its job's name.
  std::unique_ptr<Process> started_writer(const std::string& job = "") {
    auto out = std::make_unique<Process>(
        "write to a file", std::map<std::string, std::string>{{"TAEDA_TEST_PATH", path_},
                                                              {"TAEDA_DISTRIBUTED_JOB_ID", job}});
    EXPECT_EQ(out->line(), "ready");
    return out;
  }
};

TEST_F(FileStores, ProcessesCountTogether) {
  std::vector<std::unique_ptr<Process>> processes;
  for (int i = 0; i < 3; ++i)
    processes.push_back(std::make_unique<Process>(
        "count in a file", std::map<std::string, std::string>{{"TAEDA_TEST_PATH", path_}}));
  {
    FileStore store(path_, 4);
    while (store.add("done", 0) < 3) store.add("n", 0);
    EXPECT_EQ(store.get("n"), "300");
    store.set("finish", "1");
    for (auto& process : processes) EXPECT_EQ(process->wait(), 0);
    EXPECT_TRUE(fs::exists(path_));
  }
  EXPECT_FALSE(fs::exists(path_)) << "the last of four removes it";
}

TEST_F(FileStores, TheFileIsItsOwnersAndStaysUntilAllCame) {
  {
    FileStore store(path_, 2);
    struct stat info;
    ASSERT_EQ(::stat(path_.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    store.set("key", "of the first");
  }
  EXPECT_TRUE(fs::exists(path_)) << "one of two was here";
  EXPECT_EQ(FileStore(path_, 2).get("key"), "of the first");
  EXPECT_FALSE(fs::exists(path_));
  { FileStore nobody_counts(path_); }
  EXPECT_TRUE(fs::exists(path_));
}

TEST_F(FileStores, AnEmptyFileIsANewOne) {
  std::ofstream(path_).close();
  FileStore store(path_, 1);
  store.set("key", "1");
  EXPECT_EQ(store.num_keys(), 1);
}

TEST_F(FileStores, GoesOnWhenAPeerIsKilled) {
  auto peer = started_writer();
  {
    FileStore store(path_, 2);
    EXPECT_EQ(store.get("from the writer"), "1");
    peer->signal(SIGKILL);
    EXPECT_EQ(peer->wait(), -SIGKILL);
    store.set("key", "after");
    EXPECT_EQ(store.get("key"), "after");
    EXPECT_EQ(FileStore(path_, 2).get("key"), "after");
    EXPECT_TRUE(fs::exists(path_));
  }
  EXPECT_FALSE(fs::exists(path_)) << "who is left cleans up";
}

TEST_F(FileStores, WhatACrashedJobLeftIsBegunAnew) {
  auto peer = started_writer();
  peer->signal(SIGKILL);
  EXPECT_EQ(peer->wait(), -SIGKILL);
  ASSERT_TRUE(fs::exists(path_));
  FileStore store(path_, 2);
  EXPECT_EQ(store.num_keys(), 0);
  EXPECT_FALSE(store.check({"from the writer"}));
}

TEST_F(FileStores, TheFileOfAnotherLivingJobIsRefused) {
  const Variable mine("TAEDA_DISTRIBUTED_JOB_ID", "mine");
  auto peer = started_writer("theirs");
  EXPECT_EQ(error_of([&] { FileStore store(path_, 2); }),
            "FileStore('" + path_ +
                "').open: the file is in use by job 'theirs', but this process "
                "belongs to job 'mine'");
  peer->signal(SIGKILL);
  peer->wait();
  EXPECT_EQ(FileStore(path_, 2).num_keys(), 0) << "it lives no more";
}

TEST_F(FileStores, AnotherWorldSizeIsRefused) {
  FileStore store(path_, 2);
  EXPECT_EQ(error_of([&] { FileStore other(path_, 3); }),
            "FileStore('" + path_ +
                "').open: the file is in use by a job of world size 2, but this "
                "process was told 3");
}

TEST_F(FileStores, AFileThatAnotherUserPlacedIsRefused) {
  const std::string target = path_ + ".target";
  fs::create_symlink(target, path_);
  EXPECT_THAT(error_of([&] { FileStore(path_, 1); }), HasSubstr("the file is a symbolic link"));
  EXPECT_FALSE(fs::exists(target));
  fs::remove(path_);
  std::ofstream(path_).close();
  if (::chown(path_.c_str(), 65534, 65534) != 0) GTEST_SKIP() << "only root can give files away";
  EXPECT_THAT(error_of([&] { FileStore(path_, 1); }),
              HasSubstr("the file belongs to user 65534, who could take part in the job"));
}

TEST_F(FileStores, WhatIsNoStoreStaysAsItIs) {
  std::ofstream(path_) << std::string(1000, 'x');
  EXPECT_THAT(error_of([&] { FileStore store(path_, 1); }),
              HasSubstr("the file is not one of a FileStore; give another path or remove it"));
  EXPECT_EQ(contents(path_), std::string(1000, 'x'));
  EXPECT_THAT(
      error_of([&] { FileStore store(folder_ / "no/such/folder", 1); }),
      AllOf(HasSubstr("no/such/folder').open: cannot open the file"), HasSubstr("No such file")));
}

TEST_F(FileStores, ARecordThatWasNotFinishedDoesNotCount) {
  FileStore store(path_, 1);
  store.set("key", "1");
  std::ofstream(path_, std::ios::app | std::ios::binary) << "the beginning of a recor";
  EXPECT_EQ(store.num_keys(), 1);
  store.set("other", "2");
  EXPECT_EQ(FileStore(path_).get("other"), "2");
  EXPECT_EQ(store.num_keys(), 2);
}

TEST_F(FileStores, AFileThatWasChangedOrRemovedIsAnError) {
  FileStore store(path_, 1, milliseconds(200));
  store.set("key", "1");
  fs::resize_file(path_, fs::file_size(path_) - 1);
  EXPECT_THAT(error_of([&] { store.num_keys(); }),
              HasSubstr(".num_keys: the file was changed by something other than a FileStore"));
  fs::remove(path_);
  EXPECT_THAT(error_of([&] { store.get("key"); }),
              HasSubstr(".get: the file was removed while this process used it"));
  std::ofstream(path_) << "of somebody else";
}

TEST_F(FileStores, AFullDiskIsAnErrorAndTheRestStays) {
  FileStore store(path_, 1);
  store.set("key", "1");
  {
    const FullDisk full(static_cast<rlim_t>(fs::file_size(path_)) + 100);
    EXPECT_THAT(error_of([&] { store.set("large", std::string(10'000, 'x')); }),
                HasSubstr(".set: cannot write key 'large' to the file (File too large)"));
  }
  EXPECT_FALSE(store.check({"large"}));
  EXPECT_EQ(FileStore(path_).get("key"), "1");
  store.set("large", std::string(10'000, 'x'));
  EXPECT_EQ(FileStore(path_).num_keys(), 2);
}

TEST_F(FileStores, APeerThatKeepsTheLockIsAnErrorInTime) {
  FileStore store(path_, 1, milliseconds(50));
  const int file = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  struct flock range = {};
  range.l_type = F_WRLCK;
  range.l_start = off_t{1} << 60;
  range.l_len = 1;
  ASSERT_EQ(::fcntl(file, F_OFD_SETLK, &range), 0);
  EXPECT_THAT(error_of([&] { store.set("key", "1"); }),
              HasSubstr(".set: another process held the lock of the file for the whole timeout"));
  ::close(file);
  store.set("key", "1");
}

}  // namespace
}  // namespace taeda::distributed
