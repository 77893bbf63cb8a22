#include "taeda/base/tracing.h"

#include <chrono>
#include <mutex>
#include <new>
#include <unordered_set>
#include <utility>

#include "taeda/base/tracing_log.h"

namespace taeda::inline v0_2::tracing {

constexpr size_t kRecordsPerChunk = 512;

struct Chunk {
  Record records[kRecordsPerChunk];
  std::unique_ptr<Chunk> next;
};

/// The records of one thread in one session. Only its thread writes; `stop` reads the first
/// `written` of them from another.
struct ThreadLog {
  ThreadLog(uint64_t n, int t) : number(n), thread(t) {}
  ~ThreadLog() {
    while (first) first = std::move(first->next);  // a loop: chains are long
  }

  const uint64_t number;  ///< of the session
  const int thread;
  uint64_t place = 0;
  std::unique_ptr<Chunk> first;
  Chunk* last = nullptr;
  std::atomic<uint64_t> written{0};
  std::atomic<uint64_t> dropped{0};
  std::unordered_set<std::string> names;

  const char* keep(const char* name) { return names.emplace(name).first->c_str(); }
  void add(const Record& record);
};

namespace {

struct Session {
  std::mutex mutex;
  std::vector<std::shared_ptr<ThreadLog>> logs;
  /// Of the session that is on; 0 between sessions.
  std::atomic<uint64_t> current{0};
  std::atomic<int64_t> chunks_left{0};
  std::atomic<uint64_t> launches{0};
  std::atomic<uint64_t> first_launch{0};
  uint64_t count = 0;
  std::atomic<int64_t> start{0};
  std::atomic<DeviceTracer*> tracer{nullptr};
  std::atomic<bool> announces{false};
  std::atomic<bool> has_work[kDeviceTypes][kMaxDeviceIndex] = {};
};

/// Never destroyed: threads may tell something until the process ends.
Session& session() {
  static auto* s = new Session;
  return *s;
}

constinit std::atomic<void (*)(const char*)> kernel_observer{nullptr};

void tell_listeners(const char* name) {
  if (auto* listener = operation_listener.load(std::memory_order_acquire)) listener(name);
  if (auto* observer = kernel_observer.load(std::memory_order_acquire)) observer(name);
}

constinit thread_local const Span* open_span = nullptr;
constinit thread_local ThreadLog* thread_log = nullptr;
constinit thread_local bool thread_ends = false;
constinit thread_local std::string* next_shapes = nullptr;

/// Keeps this thread's log alive while the thread may write to it.
struct LogOwner {
  std::shared_ptr<ThreadLog> log;
  ~LogOwner() {
    thread_log = nullptr;
    thread_ends = true;
    delete std::exchange(next_shapes, nullptr);
  }
};

LogOwner& log_owner() {
  static thread_local LogOwner owner;
  return owner;
}

ThreadLog* open_log(uint64_t number) {
  if (thread_ends) return nullptr;
  Session& s = session();
  std::lock_guard lock(s.mutex);
  if (s.current.load(std::memory_order_relaxed) != number) return nullptr;
  auto log = std::make_shared<ThreadLog>(number, static_cast<int>(s.logs.size()) + 1);
  s.logs.push_back(log);
  log_owner().log = log;
  return thread_log = log.get();
}

/// This thread's log of the session that is on; nullptr between sessions.
ThreadLog* current_log() {
  const uint64_t number = session().current.load(std::memory_order_acquire);
  if (number == 0) return nullptr;
  if (thread_log && thread_log->number == number) return thread_log;
  return open_log(number);
}

/// Kinds whose spans are scopes of the library's own functions. A range of the program may end
/// anywhere.
bool is_scope(Kind kind) {
  return kind == Kind::Operation || kind == Kind::Backward || kind == Kind::Module;
}

}  // namespace

void ThreadLog::add(const Record& record) {
  const uint64_t n = written.load(std::memory_order_relaxed);
  if (n % kRecordsPerChunk == 0) {
    std::unique_ptr<Chunk> chunk;
    if (session().chunks_left.fetch_sub(1, std::memory_order_relaxed) > 0)
      chunk.reset(new (std::nothrow) Chunk);
    if (!chunk) {
      dropped.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    Chunk* raw = chunk.get();
    (last ? last->next : first) = std::move(chunk);
    last = raw;
  }
  last->records[n % kRecordsPerChunk] = record;
  written.store(n + 1, std::memory_order_release);
}

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Span::enter(Kind kind, const char* name, const char* shown) {
  entered_ = true;
  announced_ = false;
  kind_ = kind;
  from_ = to_ = Device();
  name_ = name;
  shapes_ = nullptr;
  bytes_ = 0;
  if (is_scope(kind)) {
    outer_ = open_span;
    open_span = this;
  }
  log_ = wants(recorded_by(kind)) ? current_log() : nullptr;
  if ((kind == Kind::Operation || kind == Kind::Copy) && wants(kScopes)) tell_listeners(name);
  if (!log_) return;
  // What an operation is called stays; other names may go with what is being called.
  shown_ = kind == Kind::Operation && !shown ? name : log_->keep(shown ? shown : name);
  place_ = log_->place++;
  if (kind == Kind::Operation) {
    if (next_shapes && !next_shapes->empty()) {
      set_shapes(*next_shapes);
      next_shapes->clear();
    }
  }
  if (kind == Kind::Operation || kind == Kind::Copy) {
    announced_ = session().announces.load(std::memory_order_relaxed);
    if (announced_) session().tracer.load()->push(span_id(log_->thread, place_));
  }
  start_ = now();
}

void Span::leave() noexcept {
  if (is_scope(kind_)) open_span = outer_;
  if (!log_) return;
  const int64_t end = now();
  if (announced_) session().tracer.load()->pop();
  // Not if its session is over, whether or not another one is on.
  Session& s = session();
  if (thread_log != log_ || s.current.load(std::memory_order_relaxed) != log_->number ||
      start_ < s.start.load(std::memory_order_relaxed))
    return;
  Record r;
  r.kind = kind_;
  r.device = to_;
  r.from = from_;
  r.name = shown_;
  r.start = start_;
  r.end = end;
  r.enter = place_;
  r.leave = log_->place++;
  r.bytes = bytes_;
  r.shapes = shapes_;
  log_->add(r);
}

void Span::set_copy(int64_t bytes, Device from, Device to) {
  bytes_ = bytes;
  from_ = from;
  to_ = to;
}

void Span::set_shapes(const std::string& text) {
  if (recorded()) shapes_ = log_->keep(text.c_str());
}

const Span* innermost() { return open_span; }
const Span* set_innermost(const Span* span) { return std::exchange(open_span, span); }

std::string module_path() {
  std::string path;
  for (const Span* s = open_span; s; s = s->outer()) {
    if (s->kind() != Kind::Module || !*s->name()) continue;
    path = path.empty() ? s->name() : s->name() + ("." + path);
  }
  return path;
}

void set_next_shapes(std::string text) {
  if (thread_ends) return;
  if (!next_shapes) {
    log_owner();  // which deletes it
    next_shapes = new std::string;
  }
  *next_shapes = std::move(text);
}

uint64_t launched(const char* name, Device device, int64_t stream) {
  if (!wants(kDeviceWork)) [[likely]]
    return 0;
  ThreadLog* log = current_log();
  if (!log) return 0;
  Record r;
  r.kind = Kind::Launch;
  r.device = device;
  r.name = name;
  r.start = r.end = now();
  r.enter = r.leave = log->place++;
  r.launch = session().launches.fetch_add(1, std::memory_order_relaxed) + 1;
  r.stream = stream;
  log->add(r);
  if (device.has_index())
    session().has_work[static_cast<int>(device.type())][device.index()].store(
        true, std::memory_order_relaxed);
  return r.launch;
}

DeviceWork::DeviceWork(uint64_t launch, const char* name, Device device, int64_t stream)
    : launch_(launch), name_(name), device_(device), stream_(stream) {
  if (launch_ != 0) start_ = now();
}

DeviceWork::~DeviceWork() {
  if (launch_ == 0 || !wants(kDeviceWork)) return;
  const int64_t end = now();
  ThreadLog* log = current_log();
  if (!log || launch_ <= session().first_launch.load(std::memory_order_relaxed)) return;
  Record r;
  r.kind = Kind::DeviceWork;
  r.device = device_;
  r.name = name_;
  r.start = start_;
  r.end = end;
  r.enter = r.leave = log->place++;
  r.launch = launch_;
  r.stream = stream_;
  log->add(r);
}

void memory(Device device, int64_t bytes, int64_t allocated, int64_t reserved) {
  ThreadLog* log = current_log();
  if (!log) return;
  Record r;
  r.kind = Kind::Memory;
  r.device = device;
  r.start = r.end = now();
  r.enter = r.leave = log->place++;
  r.bytes = bytes;
  r.allocated = allocated;
  r.reserved = reserved;
  log->add(r);
}

bool start(uint32_t what, uint64_t max_records) {
  Session& s = session();
  {
    std::lock_guard lock(s.mutex);
    if (s.current.load(std::memory_order_relaxed) != 0) return false;
    s.logs.clear();
    s.chunks_left = static_cast<int64_t>((max_records + kRecordsPerChunk - 1) / kRecordsPerChunk);
    s.first_launch = s.launches.load();
    s.start = now();
    for (auto& type : s.has_work)
      for (auto& device : type) device.store(false, std::memory_order_relaxed);
    s.current.store(++s.count, std::memory_order_release);
  }
  current_log();  // this thread is number 1
  wanted.fetch_or(what & ~uint32_t{kScopes});
  return true;
}

std::vector<Device> devices_with_work() {
  std::vector<Device> out;
  for (int type = 0; type < kDeviceTypes; ++type)
    for (int i = 0; i < kMaxDeviceIndex; ++i)
      if (session().has_work[type][i].load(std::memory_order_relaxed))
        out.emplace_back(static_cast<DeviceType>(type), i);
  return out;
}

bool is_running() { return session().current.load() != 0; }

Recording stop() {
  wanted.fetch_and(kScopes);
  Session& s = session();
  std::lock_guard lock(s.mutex);
  s.current.store(0, std::memory_order_release);
  Recording out;
  out.start = s.start;
  out.end = now();
  for (const auto& log : s.logs) {
    ThreadRecords& thread = out.threads.emplace_back();
    thread.thread = log->thread;
    const uint64_t n = log->written.load(std::memory_order_acquire);
    thread.records.reserve(n);
    const Chunk* chunk = n > 0 ? log->first.get() : nullptr;  // the first comes with a record
    for (uint64_t i = 0; i < n; ++i) {
      if (i > 0 && i % kRecordsPerChunk == 0) chunk = chunk->next.get();
      thread.records.push_back(chunk->records[i % kRecordsPerChunk]);
    }
    out.dropped += log->dropped.load(std::memory_order_relaxed);
    out.names.push_back(log);
  }
  s.logs.clear();
  // Other threads may be writing; they let go of their logs when they open the next one, or end.
  if (thread_log) {
    thread_log = nullptr;
    log_owner().log.reset();
  }
  return out;
}

void want_scopes(bool on) {
  static std::mutex mutex;
  static int count = 0;
  std::lock_guard lock(mutex);
  count += on ? 1 : -1;
  if (count > 0)
    wanted.fetch_or(kScopes);
  else
    wanted.fetch_and(~uint32_t{kScopes});
}

void observe_kernels(void (*observer)(const char* kernel)) {
  const auto before = kernel_observer.exchange(observer, std::memory_order_acq_rel);
  if ((before == nullptr) != (observer == nullptr)) want_scopes(observer != nullptr);
}

void set_device_tracer(DeviceTracer* tracer) { session().tracer.store(tracer); }

DeviceTracer* device_tracer() { return session().tracer.load(); }

void announce_operations(bool on) {
  session().announces.store(on && session().tracer.load(), std::memory_order_relaxed);
}

}  // namespace taeda::tracing
