// What the caching allocator tells about its memory: figures, tables, snapshots, errors.
#include <algorithm>
#include <cstdio>
#include <unordered_set>

#include "taeda/base/error.h"
#include "taeda/base/json.h"
#include "taeda/device/caching_allocator.h"

namespace taeda::inline v0_2 {

namespace {

constexpr size_t kReportedBlocks = 10;

void add_stat(std::map<std::string, int64_t>& out, const std::string& name, const MemoryStat& s) {
  out[name + ".current"] = s.current;
  out[name + ".peak"] = s.peak;
  out[name + ".allocated"] = s.allocated;
  out[name + ".freed"] = s.freed;
}

/// Every counted quantity of `stats`, with its name.
template <class F>
void for_each_stat(const MemoryStats& stats, F&& f) {
  f("allocated_bytes", stats.allocated_bytes);
  f("requested_bytes", stats.requested_bytes);
  f("active_bytes", stats.active_bytes);
  f("reserved_bytes", stats.reserved_bytes);
  f("allocation", stats.allocation);
  f("active", stats.active);
  f("segment", stats.segment);
}

std::string hex(const void* address) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", address);
  return text;
}

std::string to_json(const MemoryBlock& b) {
  std::string out = "{\"address\": " + json::quoted(hex(b.address)) +
                    ", \"size\": " + json::number(b.bytes) +
                    ", \"requested_size\": " + json::number(b.requested) +
                    ", \"state\": " + json::quoted(b.state);
  if (!b.module.empty()) out += ", \"module\": " + json::quoted(b.module);
  if (!b.operation.empty()) out += ", \"operation\": " + json::quoted(b.operation);
  return out + "}";
}

std::string to_json(const MemorySegment& s) {
  std::string out = "{\"device\": " + json::quoted(s.device.str()) +
                    ", \"address\": " + json::quoted(hex(s.address)) +
                    ", \"total_size\": " + json::number(s.bytes) +
                    ", \"allocated_size\": " + json::number(s.allocated) +
                    ", \"active_size\": " + json::number(s.active) +
                    ", \"stream\": " + json::number(s.stream) +
                    ", \"segment_type\": " + (s.small ? "\"small\"" : "\"large\"") +
                    ", \"is_expandable\": " + (s.expandable ? "true" : "false") + ", \"blocks\": [";
  for (size_t i = 0; i < s.blocks.size(); ++i) out += (i ? ", " : "") + to_json(s.blocks[i]);
  return out + "]}";
}

}  // namespace

std::map<std::string, int64_t> MemoryStats::to_map() const {
  std::map<std::string, int64_t> out;
  for_each_stat(*this, [&](const std::string& name, const PooledStat& s) {
    add_stat(out, name + ".all", s.all);
    add_stat(out, name + ".small_pool", s.small);
    add_stat(out, name + ".large_pool", s.large);
  });
  out["inactive_split.all.current"] = inactive_splits;
  out["inactive_split_bytes.all.current"] = inactive_split_bytes;
  out["num_alloc_retries"] = retries;
  out["num_ooms"] = ooms;
  return out;
}

std::string to_json(const std::vector<MemorySegment>& snapshot) {
  std::string out = "[";
  for (size_t i = 0; i < snapshot.size(); ++i) out += (i ? ",\n " : "") + to_json(snapshot[i]);
  return out + "]\n";
}

namespace detail {

PooledStat Counter::report() const {
  PooledStat out;
  for (const bool small : {false, true}) {
    MemoryStat& s = small ? out.small : out.large;
    s.current = current_[small];
    s.peak = peak_[small];
    s.allocated = total_[small] - total_at_reset_[small];
    s.freed = total_[small] - current_[small] - freed_at_reset_[small];
  }
  out.all = {out.small.current + out.large.current, peak_of_all_,
             out.small.allocated + out.large.allocated, out.small.freed + out.large.freed};
  return out;
}

void Counter::reset_peak() {
  for (const bool small : {false, true}) peak_[small] = current_[small];
  peak_of_all_ = current();
}

void Counter::reset_accumulated() {
  for (const bool small : {false, true}) {
    total_at_reset_[small] = total_[small];
    freed_at_reset_[small] = total_[small] - current_[small];
  }
}

namespace {

/// The neighbour with memory behind it, or nullptr.
const Block* mapped_before(const Block* b) {
  return b->before && b->before->mapped ? b->before : nullptr;
}
const Block* mapped_after(const Block* b) {
  return b->after && b->after->mapped ? b->after : nullptr;
}

/// Live blocks and those that wait; `peaks` are from while blocks waited.
MemoryStat active(const MemoryStat& live, const MemoryStat& waiting, const MemoryStat& peaks) {
  return {live.current + waiting.current, std::max(live.peak, peaks.peak), live.allocated,
          live.freed - waiting.allocated + waiting.freed};
}

PooledStat active(const PooledStat& live, const PooledStat& waiting, const PooledStat& peaks) {
  return {active(live.all, waiting.all, peaks.all), active(live.small, waiting.small, peaks.small),
          active(live.large, waiting.large, peaks.large)};
}

}  // namespace

MemoryStats CachingAllocator::counted() const {
  MemoryStats s = stats_;
  s.allocated_bytes = live_bytes_.report();
  s.requested_bytes = requested_bytes_.report();
  s.allocation = live_blocks_.report();
  s.active_bytes = active(s.allocated_bytes, waiting_bytes_.report(), stats_.active_bytes);
  s.active = active(s.allocation, waiting_blocks_.report(), stats_.active);
  return s;
}

void CachingAllocator::note_active_peaks() {
  const MemoryStats now = counted();
  const auto raise = [](MemoryStat& peaks, const MemoryStat& s) {
    peaks.peak = std::max(peaks.peak, s.current);
  };
  for (auto which : {&PooledStat::all, &PooledStat::small, &PooledStat::large}) {
    raise(stats_.active.*which, now.active.*which);
    raise(stats_.active_bytes.*which, now.active_bytes.*which);
  }
}

MemoryStats CachingAllocator::stats() {
  Lock lock(mutex_);
  MemoryStats s = counted();
  s.allocated = s.allocated_bytes.all.current;
  s.peak_allocated = s.allocated_bytes.all.peak;
  s.reserved = s.reserved_bytes.all.current;
  s.peak_reserved = s.reserved_bytes.all.peak;
  s.allocations = s.allocation.all.allocated;
  s.segment_allocations = s.segment.all.allocated;
  s.largest_free_block = largest_free();
  const auto count = [&s](const Block* b) {
    if (!mapped_before(b) && !mapped_after(b)) return;  // a whole segment can be given back
    ++s.inactive_splits;
    s.inactive_split_bytes += static_cast<int64_t>(b->bytes);
  };
  for (const auto& p : pools_) {
    p->small.for_each(count);
    p->large.for_each(count);
  }
  return s;
}

void CachingAllocator::reset_peak() {
  Lock lock(mutex_);
  for (Counter* c :
       {&live_bytes_, &requested_bytes_, &live_blocks_, &waiting_bytes_, &waiting_blocks_})
    c->reset_peak();
  for (auto which : {&PooledStat::all, &PooledStat::small, &PooledStat::large}) {
    for (MemoryStat* s : {&(stats_.reserved_bytes.*which), &(stats_.segment.*which)})
      s->peak = s->current;
    (stats_.active.*which).peak = (stats_.active_bytes.*which).peak = 0;
  }
  note_active_peaks();
}

void CachingAllocator::reset_accumulated() {
  Lock lock(mutex_);
  for (Counter* c :
       {&live_bytes_, &requested_bytes_, &live_blocks_, &waiting_bytes_, &waiting_blocks_})
    c->reset_accumulated();
  for (auto which : {&PooledStat::all, &PooledStat::small, &PooledStat::large})
    for (MemoryStat* s : {&(stats_.reserved_bytes.*which), &(stats_.segment.*which)})
      s->allocated = s->freed = 0;
  stats_.retries = stats_.ooms = 0;
}

std::vector<BlockInfo> CachingAllocator::live_blocks(size_t limit) {
  Lock lock(mutex_);
  return largest_live(limit);
}

std::vector<BlockInfo> CachingAllocator::largest_live(size_t limit) const {
  std::vector<const Block*> all;
  live_.for_each([&](const Block* b) { all.push_back(b); });
  const size_t n = std::min(limit, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n), all.end(),
                    [](const Block* a, const Block* b) {
                      return a->bytes != b->bytes ? a->bytes > b->bytes : a->address < b->address;
                    });
  std::vector<BlockInfo> out;
  for (size_t i = 0; i < n; ++i) {
    const Block& b = *all[i];
    out.push_back({b.address, static_cast<int64_t>(b.bytes),
                   b.tag         ? *b.tag
                   : b.operation ? *b.operation
                                 : ""});
  }
  return out;
}

void CachingAllocator::throw_out_of_memory(size_t bytes, Lock& lock) {
  ++stats_.ooms;
  size_t free = 0, total = 0;
  backend_.memory_info(device_, &free, &total);
  std::string name = to_string(backend_.type());
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c - 'a' + 'A'; });
  std::string message =
      concat(name, " out of memory. Tried to allocate ", format_bytes(static_cast<int64_t>(bytes)),
             " (", device(), "; ", format_bytes(static_cast<int64_t>(total)), " total capacity; ",
             format_bytes(live_bytes_.current()), " already allocated; ",
             format_bytes(static_cast<int64_t>(free)), " free; ",
             format_bytes(stats_.reserved_bytes.all.current),
             " reserved in total; largest free block ", format_bytes(largest_free()), ")");
  const int64_t unused = stats_.reserved_bytes.all.current - live_bytes_.current();
  if (virtual_memory_ && !allocator::expandable_segments() &&
      static_cast<size_t>(unused) + free >= bytes)
    message +=
        "\nSo much is free, but in pieces: TAEDA_ALLOC_CONF=expandable_segments:True avoids that.";
  if (fraction_ < 1)
    message += concat("\nThis process may take ", fraction_, " of the device's memory.");
  const std::vector<BlockInfo> blocks = largest_live(kReportedBlocks);
  if (!blocks.empty()) message += "\nLargest live blocks:";
  bool named = blocks.empty();
  for (const BlockInfo& b : blocks) {
    message += concat("\n  ", format_bytes(b.bytes), b.tag.empty() ? "" : "  ", b.tag);
    named |= !b.tag.empty();
  }
  if (!named) message += "\nTAEDA_MEMORY_HISTORY=1 tells what they were allocated for.";
  lock.unlock();
  throw OutOfMemoryError(message);
}

std::vector<const Block*> CachingAllocator::segment_heads() const {
  std::unordered_set<const Block*> found;
  const auto add = [&](const Block* b) {
    while (mapped_before(b)) b = b->before;
    found.insert(b);
  };
  live_.for_each(add);
  for (const auto& p : pools_) {
    p->small.for_each(add);
    p->large.for_each(add);
  }
  for (const PendingStream& p : pending_)
    for (const PendingEvent& e : p.events) add(e.block);
  std::vector<const Block*> heads(found.begin(), found.end());
  std::sort(heads.begin(), heads.end(),
            [](const Block* a, const Block* b) { return a->address < b->address; });
  return heads;
}

std::vector<MemorySegment> CachingAllocator::snapshot() {
  Lock lock(mutex_);
  std::vector<MemorySegment> out;
  for (const Block* head : segment_heads()) {
    MemorySegment& s = out.emplace_back();
    s.device = device();
    s.address = head->address;
    s.expandable = is_expandable(head);
    for (const auto& p : pools_)
      if (head->pool == &p->small || head->pool == &p->large) {
        s.stream = p->stream;
        s.small = head->pool == &p->small;
      }
    for (const Block* b = head; b; b = mapped_after(b)) {
      const bool live = live_.find(b->address) == b;
      MemoryBlock& block = s.blocks.emplace_back();
      block.address = b->address;
      block.bytes = static_cast<int64_t>(b->bytes);
      s.bytes += block.bytes;
      if (!b->free) s.active += block.bytes;
      if (!b->free && !live) block.state = "active_pending_free";
      if (!live) continue;
      s.allocated += block.bytes;
      block.requested = static_cast<int64_t>(b->requested);
      block.state = "active_allocated";
      if (b->tag) block.module = *b->tag;
      if (b->operation) block.operation = *b->operation;
    }
  }
  return out;
}

namespace {

/// The lines of a summary, all of one width.
class SummaryTable {
 public:
  static constexpr size_t kName = 22, kCell = 11, kWidth = kName + 2 + 4 * (kCell + 3);

  void rule(char c) { out += "|" + std::string(kWidth, c) + "|\n"; }
  void title(const std::string& text) {
    const size_t left = (kWidth - std::min(kWidth, text.size())) / 2;
    line(std::string(left, ' ') + text);
  }
  void line(const std::string& text) {
    out += "|" + text + std::string(kWidth - std::min(kWidth, text.size()), ' ') + "|\n";
  }
  void row(const std::string& name, const std::string& a, const std::string& b = "",
           const std::string& c = "", const std::string& d = "") {
    char text[128];
    std::snprintf(text, sizeof text, " %-22s | %11s | %11s | %11s | %11s ", name.c_str(), a.c_str(),
                  b.c_str(), c.c_str(), d.c_str());
    line(text);
  }
  void stat(const std::string& name, const MemoryStat& s, bool bytes) {
    const auto text = [&](int64_t n) { return bytes ? format_bytes(n) : std::to_string(n); };
    row(name, text(s.current), text(s.peak), text(s.allocated), text(s.freed));
  }

  std::string out;
};

}  // namespace

std::string CachingAllocator::summary(bool abbreviated) {
  const MemoryStats s = stats();
  SummaryTable t;
  t.rule('=');
  t.title(concat("memory summary of ", device()));
  t.rule('-');
  t.title(concat("out-of-memory errors: ", s.ooms, "   |   allocation retries: ", s.retries));
  t.rule('=');
  t.row("Metric", "Cur Usage", "Peak Usage", "Tot Alloc", "Tot Freed");
  const struct {
    const char* name;
    const PooledStat& stat;
    bool bytes;
  } rows[] = {
      {"Allocated memory", s.allocated_bytes, true}, {"Active memory", s.active_bytes, true},
      {"Requested memory", s.requested_bytes, true}, {"Reserved memory", s.reserved_bytes, true},
      {"Allocations", s.allocation, false},          {"Active allocs", s.active, false},
      {"Reserved segments", s.segment, false}};
  for (const auto& row : rows) {
    t.rule('-');
    t.stat(row.name, row.stat.all, row.bytes);
    if (abbreviated) continue;
    t.stat("      from large pool", row.stat.large, row.bytes);
    t.stat("      from small pool", row.stat.small, row.bytes);
  }
  t.rule('-');
  t.row("Non-releasable memory", format_bytes(s.inactive_split_bytes));
  t.row("Largest free block", format_bytes(s.largest_free_block));
  t.rule('=');
  const std::vector<BlockInfo> blocks = live_blocks(kReportedBlocks);
  if (blocks.empty()) return t.out;
  t.line(" Largest live blocks");
  t.rule('-');
  for (const BlockInfo& b : blocks) {
    char size[32];
    std::snprintf(size, sizeof size, " %11s  ", format_bytes(b.bytes).c_str());
    t.line(size + b.tag.substr(0, SummaryTable::kWidth - 16));
  }
  t.rule('=');
  return t.out;
}

}  // namespace detail
}  // namespace taeda
