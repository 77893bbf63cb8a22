#include "taeda/distributed/cluster/worker.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::cluster {

namespace {

constexpr size_t kLongestLine = 1 << 16;
constexpr size_t kLastLines = 20;
constexpr std::array<const char*, 2> kFiles = {"stdout.log", "stderr.log"};

}  // namespace

Descriptor open_log(const std::string& folder, const char* name, bool more) {
  const std::string path = folder + "/" + name;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  // What is no file, such as a pipe that nobody reads, must not keep the launcher.
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | (more ? O_APPEND : O_TRUNC);
  Descriptor file(::open(path.c_str(), flags, 0666));
  struct stat info = {};
  const bool regular = file && ::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode);
  TAEDA_CHECK_AS(DistributedError, regular, "the log '", path, "' cannot be written (",
                 file ? "not a regular file" : std::strerror(errno), ")");
  return file;
}

void LineCutter::add(std::string_view bytes, const std::function<void(std::string_view)>& f) {
  partial_ += bytes;
  size_t begin = 0, end = 0;
  for (; (end = partial_.find('\n', begin)) != std::string::npos; begin = end + 1)
    f(std::string_view(partial_).substr(begin, end - begin));
  partial_.erase(0, begin);
  if (partial_.size() > kLongestLine) finish(f);
}

void LineCutter::finish(const std::function<void(std::string_view)>& f) {
  if (!partial_.empty()) f(partial_);
  partial_.clear();
}

Worker::Worker(WorkerOptions options, ShowLine show)
    : options_(std::move(options)), show_(std::move(show)), child_(start()) {}

Child Worker::start() {
  Descriptor out, error;  // the child's ends
  open(0, out);
  open(1, error);
  options_.child.output = out.get();
  options_.child.error = error.get();
  return Child(options_.child);
}

void Worker::open(size_t index, Descriptor& end) {
  Pipe pipe;
  streams_[index].pipe = std::move(pipe.read);
  end = std::move(pipe.write);
  if (options_.kept[index])
    streams_[index].file = open_log(options_.log_folder, kFiles[index], /*more=*/false);
}

std::array<int, 2> Worker::outputs() const {
  return {streams_[0].pipe.get(), streams_[1].pipe.get()};
}

void Worker::look(bool may_show) {
  if (ended_) return;
  const std::optional<ExitStatus> status = child_.status();
  if (!may_show && !status) return;
  for (size_t i = 0; i < streams_.size(); ++i) {
    if (!streams_[i].pipe) continue;
    std::string bytes;
    const bool more = read_available(streams_[i].pipe.get(), bytes);
    pass_on(i, bytes);
    if (!more) streams_[i].pipe.close();
  }
  if (!status) return;
  for (size_t i = 0; i < streams_.size(); ++i)
    streams_[i].lines.finish([&](std::string_view line) { show(i, line); });
  ended_ = status;
}

void Worker::pass_on(size_t index, std::string_view bytes) {
  if (streams_[index].file && !write_all(streams_[index].file.get(), bytes)) {
    show_(true, "taeda: the log in '" + options_.log_folder + "' cannot be written (" +
                    std::strerror(errno) + "); it ends here");
    streams_[index].file.close();
  }
  streams_[index].lines.add(bytes, [&](std::string_view line) { show(index, line); });
}

void Worker::show(size_t index, std::string_view line) {
  if (index == 1) {
    last_.emplace_back(line);
    if (last_.size() > kLastLines) last_.pop_front();
  }
  const std::string text = options_.prefixes[index] + std::string(line);
  const auto& filters = options_.filters[index];
  const bool chosen = std::any_of(filters.begin(), filters.end(), [&](const std::string& word) {
    return line.find(word) != std::string_view::npos;
  });
  if (chosen) write_all(options_.filtered[index], text + "\n");
  if (options_.shown[index]) show_(index == 1, text);
}

std::string Worker::last_words() const {
  std::string out;
  for (const std::string& line : last_) out += line + "\n";
  return out;
}

}  // namespace taeda::inline v0_2::distributed::cluster
