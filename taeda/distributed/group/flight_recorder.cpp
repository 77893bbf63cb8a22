#include "taeda/distributed/group/flight_recorder.h"

#include <unistd.h>

#include <algorithm>

#include "taeda/base/json.h"
#include "taeda/io/atomic_file.h"

namespace taeda::inline v0_2::distributed {

namespace {

std::string micros(FlightRecorder::Time time) {
  using namespace std::chrono;
  return std::to_string(duration_cast<microseconds>(time.time_since_epoch()).count());
}

const char* name_of(FlightRecorder::State state) {
  switch (state) {
    case FlightRecorder::State::Running: return "running";
    case FlightRecorder::State::Done: return "done";
    case FlightRecorder::State::Failed: return "failed";
    case FlightRecorder::State::Withdrawn: return "withdrawn";
  }
  return "unknown";
}

std::string shape_json(const Fingerprint& what) {
  std::string out = "[";
  for (const int64_t n : what.shape) out += (out.size() > 1 ? "," : "") + std::to_string(n);
  return out + "]";
}

std::string field(const char* name, const std::string& value) {
  return ",\"" + std::string(name) + "\":" + value;
}

std::string follows_json(const Fingerprint& what) {
  return what.follows > 0 ? field("follows", std::to_string(what.follows)) : "";
}

std::string what_json(const Fingerprint& what) {
  std::string out = field("op", json::quoted(what.op)) +
                    field("sequence", std::to_string(what.sequence)) + follows_json(what) +
                    field("shape", shape_json(what));
  if (what.dtype != ScalarType::Undefined)
    out += field("dtype", json::quoted(dtype_name(what.dtype)));
  if (what.reduce) out += field("reduce", json::quoted(to_string(*what.reduce)));
  if (what.peer >= 0) out += field("peer", std::to_string(what.peer));
  return out + field("file", json::quoted(what.site.file_name())) +
         field("line", std::to_string(what.site.line()));
}

}  // namespace

FlightRecorder& FlightRecorder::instance() {
  static auto* recorder = new FlightRecorder;
  return *recorder;
}

uint32_t FlightRecorder::add_group(const std::string& name, int rank) {
  std::lock_guard lock(mutex_);
  groups_.push_back({name, rank});
  return static_cast<uint32_t>(groups_.size() - 1);
}

uint64_t FlightRecorder::begin(uint32_t group, const Fingerprint& what) {
  const Time now = std::chrono::system_clock::now();
  std::lock_guard lock(mutex_);
  if (entries_.size() < kEntries) entries_.emplace_back();
  Entry& entry = entries_[count_ % kEntries];
  entry.number = ++count_;
  entry.group = group;
  entry.state = State::Running;
  entry.started = entry.ended = now;
  entry.what = what;
  return entry.number;
}

void FlightRecorder::end(uint64_t number, bool failed) {
  end_as(number, failed ? State::Failed : State::Done);
}

void FlightRecorder::withdraw(uint64_t number) { end_as(number, State::Withdrawn); }

void FlightRecorder::end_as(uint64_t number, State state) {
  const Time now = std::chrono::system_clock::now();
  std::lock_guard lock(mutex_);
  Entry& entry = entries_[(number - 1) % kEntries];
  if (entry.number != number) return;  // newer ones took its place
  entry.state = state;
  entry.ended = now;
}

std::vector<FlightRecorder::Entry> FlightRecorder::last(uint32_t group, size_t limit) const {
  std::vector<Entry> out;
  std::lock_guard lock(mutex_);
  const uint64_t oldest = count_ > kEntries ? count_ - kEntries : 0;
  for (uint64_t n = count_; n > oldest && out.size() < limit; --n)
    if (const Entry& entry = entries_[(n - 1) % kEntries];
        entry.group == group && entry.state != State::Withdrawn)
      out.push_back(entry);
  std::reverse(out.begin(), out.end());
  return out;
}

std::string FlightRecorder::to_json() const {
  std::lock_guard lock(mutex_);
  std::string out = "{\"version\":1,\"process\":" + std::to_string(getpid()) + ",\"entries\":[";
  const uint64_t oldest = count_ > kEntries ? count_ - kEntries : 0;
  for (uint64_t n = oldest; n < count_; ++n) {
    const Entry& entry = entries_[n % kEntries];
    const Group& group = groups_[entry.group];
    out += n == oldest ? "\n" : ",\n";
    out += "{\"number\":" + std::to_string(entry.number) +
           field("group", json::quoted(group.name)) + field("rank", std::to_string(group.rank)) +
           field("state", json::quoted(name_of(entry.state))) +
           field("started_us", micros(entry.started)) + field("ended_us", micros(entry.ended)) +
           what_json(entry.what) + "}";
  }
  return out + "\n]}\n";
}

std::string flight_record() { return FlightRecorder::instance().to_json(); }

void write_flight_record(const std::string& path) {
  const std::string text = flight_record();
  io::AtomicFile file(path, io::AtomicFile::AtLink::Replace);
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace taeda::inline v0_2::distributed
