#include "taeda/cpu/reduce_driver.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/scratch.h"

namespace taeda::inline v0_2::cpu {

namespace {

constexpr int64_t kPieceElements = 4096;  // consecutive elements that one run adds up
constexpr int64_t kPieceRows = 128;       // of columns; more of few ones
constexpr int64_t kRowGroup = 64;         // results computed together when they lie apart
constexpr int64_t kColumnBytes = 4096;  // accumulators computed together when they lie side by side
constexpr int64_t kSegment = 131072;    // elements worth a task of their own
constexpr int64_t kEnoughGroups = 16;   // from here on, groups alone keep the threads busy

using Dim = ReducePlan::Dim;

/// Expanded dimensions count as the outermost.
int64_t distance(const Dim& d) { return d.in == 0 ? std::numeric_limits<int64_t>::max() : d.in; }

/// Sorts by stride, innermost first, and joins dimensions that follow each other in memory.
int coalesce(Dim* dims, int n) {
  // By insertion: stable, and without the memory that std::stable_sort asks for.
  for (int i = 1; i < n; ++i)
    for (int j = i; j > 0 && distance(dims[j]) < distance(dims[j - 1]); --j)
      std::swap(dims[j], dims[j - 1]);
  int m = 0;
  for (int i = 0; i < n; ++i) {
    Dim& last = dims[m > 0 ? m - 1 : 0];
    if (m > 0 && dims[i].in == last.in * last.size && dims[i].out == last.out * last.size) {
      last.size *= dims[i].size;
    } else {
      dims[m++] = dims[i];
    }
  }
  return m;
}

/// Accumulators of 1, 2, 4, ... pieces, merged as soon as two of a size are there.
class Tournament {
 public:
  Tournament(const ReduceFunctions& f, int64_t width, int64_t pieces)
      : f_(f),
        width_(width),
        bytes_(width * f.acc_size),
        memory_(static_cast<size_t>(bytes_) * (std::bit_width(static_cast<uint64_t>(pieces)) + 1)) {
  }

  /// Where the next piece goes; `add` after it was written.
  char* next() { return memory_.as<char>() + depth_ * bytes_; }
  void add() {
    ++depth_;
    for (uint64_t n = ++pieces_; (n & 1) == 0; n >>= 1) merge_top();
  }
  const char* result() {
    while (depth_ > 1) merge_top();
    return memory_.as<char>();
  }

 private:
  void merge_top() {
    --depth_;
    f_.merge(memory_.as<char>() + (depth_ - 1) * bytes_, memory_.as<char>() + depth_ * bytes_,
             width_);
  }

  const ReduceFunctions& f_;
  int64_t width_, bytes_;
  int64_t depth_ = 0;
  uint64_t pieces_ = 0;
  Scratch memory_;
};

/// The cut of one reduction into groups of results and segments of pieces.
class Walk {
 public:
  Walk(const ReducePlan& plan, const ReduceFunctions& f, const char* shift)
      : plan_(plan), f_(f), shift_(shift) {
    lane_ = plan.num_kept > 0 ? plan.kept[0] : Dim{1, 0, 0};
    run_ = plan.num_reduced > 0 ? plan.reduced[0] : Dim{1, 0, 0};
    const bool columns = lane_.size > 1 && distance(lane_) < distance(run_);
    group_ = std::min(lane_.size, columns ? kColumnBytes / f.acc_size : kRowGroup);
    piece_ = !columns ? kPieceElements : std::max(kPieceRows, kPieceElements / group_);
    groups_per_lane_ = (lane_.size + group_ - 1) / group_;
    groups = plan.outputs / lane_.size * groups_per_lane_;
    pieces_per_run_ = (run_.size + piece_ - 1) / piece_;
    pieces_ = plan.count / run_.size * pieces_per_run_;
    const int64_t piece_work = std::max<int64_t>(1, std::min(run_.size, piece_) * group_);
    segment_ = groups >= kEnoughGroups ? pieces_ : std::max<int64_t>(1, kSegment / piece_work);
    segments = (pieces_ + segment_ - 1) / segment_;
    work_per_task = std::max<int64_t>(1, plan.outputs * plan.count / (groups * segments));
  }

  int64_t width(int64_t group) const {
    return std::min(group_, lane_.size - group % groups_per_lane_ * group_);
  }

  ReduceResult result(int64_t group, const char* acc) const {
    int64_t in = 0, out = 0;
    offsets(group, &in, &out);
    const int64_t begin = group % groups_per_lane_ * group_;
    return {acc, group / groups_per_lane_ * lane_.size + begin, width(group), plan_.out + out,
            lane_.out};
  }

  /// Reduces one segment of one group and hands the accumulators to `use`.
  template <class Use>
  void task(int64_t group, int64_t segment, Use&& use) const {
    const int64_t begin = segment * segment_, end = std::min(pieces_, begin + segment_);
    int64_t in = 0, out = 0;
    offsets(group, &in, &out);
    if (end - begin == 1) {
      alignas(64) char acc[kColumnBytes];
      piece(group, in, begin, acc);
      return use(acc);
    }
    Tournament tournament(f_, width(group), end - begin);
    for (int64_t p = begin; p < end; ++p) {
      piece(group, in, p, tournament.next());
      tournament.add();
    }
    use(tournament.result());
  }

  int64_t groups, segments, work_per_task;
  int64_t group_bytes() const { return group_ * f_.acc_size; }

 private:
  void offsets(int64_t group, int64_t* in, int64_t* out) const {
    const int64_t lane = group % groups_per_lane_ * group_;
    *in = lane * lane_.in;
    *out = lane * lane_.out;
    int64_t rest = group / groups_per_lane_;
    for (int d = 1; d < plan_.num_kept; ++d) {
      const Dim& dim = plan_.kept[d];
      *in += rest % dim.size * dim.in;
      *out += rest % dim.size * dim.out;
      rest /= dim.size;
    }
  }

  void piece(int64_t group, int64_t offset, int64_t number, char* acc) const {
    const int64_t at = number % pieces_per_run_ * piece_;
    int64_t rest = number / pieces_per_run_;
    offset += at * run_.in;
    for (int d = 1; d < plan_.num_reduced; ++d) {
      offset += rest % plan_.reduced[d].size * plan_.reduced[d].in;
      rest /= plan_.reduced[d].size;
    }
    const int64_t first = group / groups_per_lane_ * lane_.size + group % groups_per_lane_ * group_;
    f_.run(acc, {plan_.in + offset, std::min(piece_, run_.size - at), run_.in, width(group),
                 lane_.in, shift_ ? shift_ + first * f_.acc_size : nullptr});
  }

  const ReducePlan& plan_;
  const ReduceFunctions& f_;
  const char* shift_;
  Dim lane_, run_;
  int64_t group_, groups_per_lane_, piece_, pieces_per_run_, pieces_, segment_;
};

/// Nothing to reduce: every result is what a run over no elements gives.
void reduce_nothing(const ReducePlan& plan, const ReduceFunctions& f,
                    const std::function<void(const ReduceResult&)>& finish) {
  alignas(64) char acc[64];
  f.run(acc, {plan.in, 0, 0, 1, 0, nullptr});
  const Dim lane = plan.num_kept > 0 ? plan.kept[0] : Dim{1, 0, 0};
  for (int64_t i = 0; i < plan.outputs; ++i) {
    char* out = plan.out + i % lane.size * lane.out;
    int64_t rest = i / lane.size;
    for (int d = 1; d < plan.num_kept; ++d) {
      out += rest % plan.kept[d].size * plan.kept[d].out;
      rest /= plan.kept[d].size;
    }
    finish({acc, i, 1, out, 0});
  }
}

}  // namespace

ReducePlan::ReducePlan(const Tensor& o, const Tensor& i, DimMask dims)
    : in(static_cast<const char*>(i.data_ptr())),
      out(o.defined() ? static_cast<char*>(o.data_ptr()) : nullptr) {
  const bool keepdim = o.defined() && o.dim() == i.dim();
  const int64_t item = i.element_size(), out_item = o.defined() ? o.element_size() : 0;
  int64_t at = 0;  // dimension of the output
  for (int64_t d = 0; d < i.dim(); ++d) {
    const int64_t size = i.sizes()[d], stride = i.strides()[d] * item;
    if (dims.has(d)) {
      count *= size;
      if (size != 1) reduced[num_reduced++] = {size, stride, 0};
    } else {
      outputs *= size;
      if (size != 1)
        kept[num_kept++] = {size, stride, o.defined() ? o.strides()[at] * out_item : 0};
    }
    if (keepdim || !dims.has(d)) ++at;
  }
  if (outputs == 0) return;
  num_kept = coalesce(kept, num_kept);
  if (count > 0) num_reduced = coalesce(reduced, num_reduced);
}

void reduce(const ReducePlan& plan, const ReduceFunctions& f, const char* shift,
            const std::function<void(const ReduceResult&)>& finish) {
  if (plan.outputs == 0) return;
  if (plan.count == 0) return reduce_nothing(plan, f, finish);
  const Walk walk(plan, f, shift);
  const int64_t grain = std::max<int64_t>(1, kParallelGrain / walk.work_per_task);
  if (walk.segments == 1) {
    parallel_for(0, walk.groups, grain, [&](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g)
        walk.task(g, 0, [&](const char* acc) { finish(walk.result(g, acc)); });
    });
    return;
  }
  const int64_t bytes = walk.group_bytes(), tasks = walk.groups * walk.segments;
  const ScratchArray<char> partial(tasks * bytes);
  parallel_for(0, tasks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t g = t / walk.segments;
      walk.task(g, t % walk.segments, [&](const char* acc) {
        std::copy_n(acc, walk.width(g) * f.acc_size, partial.get() + t * bytes);
      });
    }
  });
  for (int64_t g = 0; g < walk.groups; ++g) {
    char* base = partial.get() + g * walk.segments * bytes;
    for (int64_t step = 1; step < walk.segments; step *= 2)
      for (int64_t s = 0; s + step < walk.segments; s += 2 * step)
        f.merge(base + s * bytes, base + (s + step) * bytes, walk.width(g));
    finish(walk.result(g, base));
  }
}

}  // namespace taeda::inline v0_2::cpu
