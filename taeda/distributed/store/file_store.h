// A store for processes that share a file system.
#pragma once

#include <memory>

#include "taeda/distributed/store/store.h"

namespace taeda::inline v0_2::distributed {

namespace detail {
class FileLog;
}

/// Keys and values in a file that all processes open, under locks that the system releases when a
/// process ends in whatever way. The file is made with mode 0600 if it does not exist or is empty.
///
/// With a `world_size` (not with -1) the last of at least so many members removes the file when it
/// leaves, also after others crashed. A file that a crashed job left behind, which nobody has open
/// any more, is begun anew; one that another living job uses, told by world size and job name
/// (`TAEDA_DISTRIBUTED_JOB_ID`, TORCHELASTIC_RUN_ID or SLURM_JOB_ID), is refused.
class FileStore final : public Store {
 public:
  explicit FileStore(std::string path, int64_t world_size = -1,
                     std::chrono::milliseconds timeout = kDefaultTimeout);
  ~FileStore() override;
  FileStore(const FileStore&) = delete;
  FileStore& operator=(const FileStore&) = delete;

  void set(const std::string& key, std::string_view value) override;
  std::string get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t amount) override;
  std::string compare_set(const std::string& key, std::string_view expected,
                          std::string_view desired) override;
  bool delete_key(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys,
            std::optional<std::chrono::milliseconds> timeout = {}) override;
  int64_t num_keys() override;

  const std::string& path() const;

 private:
  std::string wait_for(const char* operation, const std::vector<std::string>& keys,
                       std::chrono::milliseconds timeout);

  std::unique_ptr<detail::FileLog> log_;
};

}  // namespace taeda::distributed
