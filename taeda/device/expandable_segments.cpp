// Segments that grow where they are.
//
// A pool reserves addresses for more than the device's memory, once, and puts memory behind them
// page by page as it needs more. Its free blocks are then neighbours as often as can be: what
// several requests left behind serves one that is larger. Memory that is given back leaves a hole.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>

#include "taeda/base/error.h"
#include "taeda/device/caching_allocator.h"

namespace taeda::inline v0_2 {

namespace {

constexpr size_t kSmallPoolLimit = size_t{1} << 20;  // of a request
// A large page costs fewer calls, a small one leaves less unused.
constexpr size_t kSmallPage = size_t{2} << 20;
constexpr size_t kLargePage = size_t{20} << 20;

constexpr size_t whole_pages(size_t bytes, size_t page) { return (bytes + page - 1) / page * page; }

bool parse_bool(const std::string& text, const std::string& setting) {
  TAEDA_CHECK_VALUE(text == "True" || text == "False", "Expected a single True/False argument in '",
                    setting, "'");
  return text == "True";
}

/// The value of expandable_segments in a list of settings.
bool parse_settings(const std::string& settings) {
  bool expandable = false;
  for (size_t begin = 0; begin < settings.size();) {
    const size_t end = std::min(settings.find(',', begin), settings.size());
    const std::string setting = settings.substr(begin, end - begin);
    const size_t colon = setting.find(':');
    TAEDA_CHECK_VALUE(setting.substr(0, colon) == "expandable_segments",
                      "Unrecognized CachingAllocator option: ", setting,
                      "; there is expandable_segments:True");
    expandable = parse_bool(colon == std::string::npos ? "" : setting.substr(colon + 1), setting);
    begin = end + 1;
  }
  return expandable;
}

std::atomic<bool>& expandable_setting() {
  static std::atomic<bool> value{[] {
    const char* text = std::getenv("TAEDA_ALLOC_CONF");
    try {
      return text && parse_settings(text);
    } catch (const ValueError& e) {
      throw ValueError(detail::concat("TAEDA_ALLOC_CONF: ", e.message()));
    }
  }()};
  return value;
}

}  // namespace

namespace allocator {

void set_settings(const std::string& settings) {
  const bool expandable = parse_settings(settings);
  expandable_setting().store(expandable, std::memory_order_relaxed);
}

bool expandable_segments() { return expandable_setting().load(std::memory_order_relaxed); }

}  // namespace allocator

namespace detail {

bool CachingAllocator::is_expandable(const Block* block) const {
  return std::any_of(expandable_.begin(), expandable_.end(),
                     [&](const auto& s) { return s->contains(block); });
}

/// The pool's segment, made when it is first needed; nullptr if the device cannot have one.
ExpandableSegment* CachingAllocator::expandable_of(FreeLists& pool, bool small) {
  for (const auto& s : expandable_)
    if (s->pool == &pool) return s.get();
  const size_t granularity = virtual_memory_->granularity(device_);
  if (granularity == 0) return nullptr;
  const size_t page = whole_pages(small ? kSmallPage : kLargePage, granularity);
  size_t free = 0, total = 0;
  backend_.memory_info(device_, &free, &total);
  const size_t bytes = whole_pages(total + total / 8 + page, page);
  void* base = virtual_memory_->reserve(device_, bytes);
  if (!base) return nullptr;
  Block* hole = new_record();
  hole->address = static_cast<char*>(base);
  hole->bytes = bytes;
  hole->pool = &pool;
  hole->mapped = false;
  expandable_.push_back(std::make_unique<ExpandableSegment>(
      ExpandableSegment{&pool, static_cast<char*>(base), bytes, page, 0, {hole}}));
  return expandable_.back().get();
}

/// Memory behind all pages, or behind none.
bool CachingAllocator::map_pages(const ExpandableSegment& segment, char* begin, size_t bytes) {
  for (size_t at = 0; at < bytes; at += segment.page) {
    if (virtual_memory_->map(device_, begin + at, segment.page)) continue;
    while (at > 0) virtual_memory_->unmap(device_, begin + (at -= segment.page), segment.page);
    return false;
  }
  return true;
}

/// A block of at least `bytes` where fewest pages are missing to it, with its free neighbours.
/// nullptr without expandable segments, or if the device has not enough memory.
Block* CachingAllocator::extend(FreeLists& pool, size_t bytes) {
  if (!virtual_memory_ || !allocator::expandable_segments()) return nullptr;
  const bool small = bytes <= kSmallPoolLimit;
  ExpandableSegment* segment = expandable_of(pool, small);
  if (!segment) return nullptr;
  std::vector<Block*>& holes = segment->holes;
  size_t best = holes.size(), missing = 0;
  for (size_t i = 0; i < holes.size(); ++i) {
    const Block* before = holes[i]->before;
    const Block* after = holes[i]->after;
    const size_t have = before && before->free ? before->bytes : 0;
    const size_t need = std::min(whole_pages(bytes - have, segment->page), holes[i]->bytes);
    const size_t behind = need == holes[i]->bytes && after && after->free ? after->bytes : 0;
    if (have + need + behind < bytes || (best < holes.size() && need >= missing)) continue;
    best = i;
    missing = need;
  }
  if (best == holes.size() || exceeds_fraction(missing)) return nullptr;
  Block* block = holes[best];
  if (!map_pages(*segment, block->address, missing)) return nullptr;
  if (missing < block->bytes)
    holes[best] = cut(block, missing);
  else
    holes.erase(holes.begin() + static_cast<std::ptrdiff_t>(best));
  block->mapped = true;
  if (segment->mapped == 0) stats_.segment.increase(small, 1);
  segment->mapped += missing;
  stats_.reserved_bytes.increase(small, static_cast<int64_t>(missing));
  return merge(block);
}

/// The whole pages of a free block as a block that is in no list; nullptr if it has none.
Block* CachingAllocator::cut_pages(const ExpandableSegment& segment, Block* block) {
  const auto offset = static_cast<size_t>(block->address - segment.base);
  const size_t begin = whole_pages(offset, segment.page);
  const size_t end = (offset + block->bytes) / segment.page * segment.page;
  if (begin >= end) return nullptr;
  FreeLists& pool = *block->pool;
  pool.remove(block);
  if (begin > offset) {
    Block* rest = cut(block, begin - offset);
    pool.insert(block);
    block = rest;
  }
  if (block->bytes > end - begin) pool.insert(cut(block, end - begin));
  return block;
}

/// The memory behind the block is gone: joins it with holes beside it.
void CachingAllocator::make_hole(ExpandableSegment& segment, Block* block) {
  const bool small = segment.page < kLargePage;
  stats_.reserved_bytes.decrease(small, static_cast<int64_t>(block->bytes));
  segment.mapped -= block->bytes;
  if (segment.mapped == 0) stats_.segment.decrease(small, 1);
  block->mapped = false;
  std::vector<Block*>& holes = segment.holes;
  auto at = std::lower_bound(holes.begin(), holes.end(), block, [](const Block* a, const Block* b) {
    return a->address < b->address;
  });
  const auto absorb = [&](Block* first, Block* second) {
    first->bytes += second->bytes;
    first->after = second->after;
    if (first->after) first->after->before = first;
    recycle(second);
  };
  if (Block* after = block->after; after && !after->mapped) {
    at = holes.erase(at);
    absorb(block, after);
  }
  if (Block* before = block->before; before && !before->mapped)
    absorb(before, block);
  else
    holes.insert(at, block);
}

/// Takes every page without a live block out of the lists, apart from graphs' pools, which keep
/// theirs.
std::vector<CachingAllocator::FreePages> CachingAllocator::take_free_pages() {
  std::vector<FreePages> taken;
  for (const auto& p : pools_) {
    if (is_private(*p)) continue;
    for (const auto& s : expandable_) {
      if (s->pool != &p->small && s->pool != &p->large) continue;
      std::vector<Block*> free;
      s->pool->for_each([&](Block* b) {
        if (s->contains(b)) free.push_back(b);
      });
      for (Block* b : free)
        if (Block* pages = cut_pages(*s, b)) taken.push_back({s.get(), pages});
    }
  }
  return taken;
}

/// Gives back pages that are not in use, and the addresses of segments that have none left. The
/// lock is open for the giving back, as in `release_segments`. Nothing is given back during a
/// capture, because the device must not be waited for.
void CachingAllocator::trim_expandable_segments(Lock& lock) {
  if (capture_pool_) return;
  const std::vector<FreePages> taken = take_free_pages();
  std::exception_ptr error;
  if (!taken.empty()) {
    lock.unlock();
    try {
      backend_.device_synchronize(device_);  // their stream may still use them
    } catch (...) {
      error = std::current_exception();
    }
    for (const FreePages& t : taken)
      for (size_t at = 0; at < t.block->bytes && !error; at += t.segment->page)
        virtual_memory_->unmap(device_, t.block->address + at, t.segment->page);
    lock.lock();
    for (const FreePages& t : taken) error ? give_to_pool(t.block) : make_hole(*t.segment, t.block);
  }
  std::erase_if(expandable_, [&](const auto& s) {
    if (s->mapped > 0) return false;
    recycle(s->holes.front());
    virtual_memory_->unreserve(device_, s->base, s->bytes);
    return true;
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace detail
}  // namespace taeda
