// The file of a FileStore: a header and a record for each change, under locks.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "taeda/distributed/own_process.h"
#include "taeda/distributed/store/values.h"

namespace taeda::inline v0_2::distributed::detail {

/// One member's view of the file. What counts of it is told by the header, which is written last: a
/// record that a process did not finish is overwritten by the next one. Locks belong to the open
/// file, so that two stores of one process exclude each other, too, and the system releases them
/// when the process ends.
class FileLog {
 public:
  FileLog(std::string path, int64_t world_size, std::chrono::milliseconds timeout);
  ~FileLog();
  FileLog(const FileLog&) = delete;
  FileLog& operator=(const FileLog&) = delete;

  const std::string& path() const { return path_; }
  /// For messages: FileStore('/path').
  const std::string& name() const { return name_; }

  /// Holds the lock of the file; what it shows is what the file says.
  class Access {
   public:
    Access(FileLog& log, const char* operation, std::chrono::milliseconds timeout);
    ~Access();
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;

    const Values& values() const { return log_.values_; }
    void set(const std::string& key, std::string_view value);
    void erase(const std::string& key);

   private:
    FileLog& log_;
    const char* operation_;
    std::lock_guard<std::mutex> threads_;
  };

 private:
  /// At the beginning of the file.
  struct Header {
    char magic[8];
    uint64_t end;        // of the records that count
    int64_t world_size;  // -1: nobody said
    uint64_t joined, left;
    char job[128];
  };

  void open_locked(std::chrono::milliseconds timeout);
  void open_file();
  void lock(const char* operation, Clock::time_point deadline);
  void unlock();
  bool is_at_path() const;
  void join(int64_t world_size);
  void check_peers(const Header& header, int64_t world_size, const std::string& job) const;
  void leave();

  Header read_header(const char* operation) const;
  void write_header(const Header& header, const char* operation);
  void read_new_records(const char* operation);
  void append(const char* operation, const std::string& key, std::string_view value, bool erased);
  [[noreturn]] void fail(const char* operation, const std::string& why) const;
  [[noreturn]] void fail_with_errno(const char* operation, const std::string& what) const;

  const OwnProcess process_;
  std::string path_, name_;
  std::chrono::milliseconds timeout_;
  int file_ = -1;
  std::mutex threads_;
  uint64_t position_ = 0;  // up to where values_ follows the file
  Values values_;
};

}  // namespace taeda::inline v0_2::distributed::detail
