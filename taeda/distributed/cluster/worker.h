// One process of a job as who started it sees it: what it prints, and how it ended.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "taeda/distributed/cluster/child.h"
#include "taeda/distributed/cluster/descriptor.h"

namespace taeda::inline v0_2::distributed::cluster {

/// Shows a line of a process, or of the launcher itself; `error` for what was meant for stderr.
using ShowLine = std::function<void(bool error, std::string_view line)>;

/// Cuts what arrives into lines.
class LineCutter {
 public:
  /// Calls f(line) for each line that is whole with `bytes`.
  void add(std::string_view bytes, const std::function<void(std::string_view)>& f);
  /// The last line, if it has no end.
  void finish(const std::function<void(std::string_view)>& f);

 private:
  std::string partial_;
};

struct WorkerOptions {
  ChildOptions child;
  int64_t rank = 0, local_rank = 0;
  std::string log_folder = {};  ///< stdout.log and stderr.log go there; empty: nowhere
  /// Which outputs (stdout, stderr) are shown, and which go to files.
  std::array<bool, 2> shown = {true, true}, kept = {};
  std::array<std::string, 2> prefixes = {};  ///< of each line that is shown
  /// Lines of an output that hold one of these words go to this file, too, as they are shown.
  std::array<std::vector<std::string>, 2> filters = {};
  std::array<int, 2> filtered = {-1, -1};
};

/// Opens a log for writing, `more` behind what it holds. Throws DistributedError where it cannot be
/// written, or is no regular file.
Descriptor open_log(const std::string& folder, const char* name, bool more);

class Worker {
 public:
  /// Throws DistributedError when program or log files cannot be opened.
  Worker(WorkerOptions options, ShowLine show);

  int64_t rank() const { return options_.rank; }
  int64_t local_rank() const { return options_.local_rank; }
  Child& child() { return child_; }
  /// The descriptors that something can be read from, -1 for one that has ended.
  std::array<int, 2> outputs() const;
  /// Learns whether it has ended, and passes on what it has printed: unless `may_show` is false, as
  /// long as it runs.
  void look(bool may_show = true);
  /// How it ended, once what it printed has been passed on.
  const std::optional<ExitStatus>& ended() const { return ended_; }
  bool failed() const { return ended_ && !ended_->ok(); }
  /// The last lines that it wrote to stderr.
  std::string last_words() const;

 private:
  struct Stream {
    Descriptor pipe, file;
    LineCutter lines;
  };
  Child start();
  void open(size_t index, Descriptor& end);
  void pass_on(size_t index, std::string_view bytes);
  void show(size_t index, std::string_view line);

  WorkerOptions options_;
  ShowLine show_;
  std::array<Stream, 2> streams_;  ///< stdout, stderr
  std::deque<std::string> last_;
  std::optional<ExitStatus> ended_;
  Child child_;
};

}  // namespace taeda::inline v0_2::distributed::cluster
