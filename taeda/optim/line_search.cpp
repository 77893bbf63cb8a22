#include "taeda/optim/line_search.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace taeda::inline v0_2::optim {

namespace {

constexpr double kDecrease = 1e-4, kCurvature = 0.9, kLeastChange = 1e-9;
constexpr int kMostIterations = 25;

/// The minimum, within [low, high], of the cubic that has the values and slopes of both points;
/// the middle where it has none.
double cubic_minimum(const LinePoint& a, const LinePoint& b, double low, double high) {
  const bool ordered = a.t <= b.t;
  const LinePoint &left = ordered ? a : b, &right = ordered ? b : a;
  const double d1 = left.slope + right.slope - 3 * (left.loss - right.loss) / (left.t - right.t);
  const double square = d1 * d1 - left.slope * right.slope;
  if (!(square >= 0)) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const double t = right.t - (right.t - left.t) * ((right.slope + d2 - d1) /
                                                   (right.slope - left.slope + 2 * d2));
  return std::min(std::max(t, low), high);
}

/// One search: the points seen so far.
class Search {
 public:
  Search(const LineFunction& at, const LinePoint& start, double longest)
      : at_(at), start_(start), longest_(longest) {}

  LineSearchResult run(double t) {
    LinePoint found = bracket(t);
    if (!done_) found = zoom();
    return {std::move(found), evaluations_};
  }

 private:
  LinePoint evaluate(double t) {
    ++evaluations_;
    return at_(t);
  }
  bool too_high(const LinePoint& p) const {
    return p.loss > start_.loss + kDecrease * p.t * start_.slope;
  }
  bool flat(const LinePoint& p) const { return std::abs(p.slope) <= -kCurvature * start_.slope; }

  /// Steps out until a point is good, or two points enclose one. Without: start and the last one.
  LinePoint bracket(double t) {
    LinePoint before = start_, point = evaluate(t);
    for (; iterations_ < kMostIterations; ++iterations_) {
      if (too_high(point) || (iterations_ > 1 && point.loss >= before.loss)) break;
      if (flat(point)) {
        done_ = true;
        return point;
      }
      if (point.slope >= 0) break;
      const double least = point.t + 0.01 * (point.t - before.t);
      const double next = cubic_minimum(before, point, least, point.t * 10);
      before = std::exchange(point, {});
      point = evaluate(next);
    }
    ends_[0] = iterations_ == kMostIterations ? start_ : before;
    ends_[1] = std::move(point);
    return {};
  }

  /// The next step within the bracket, which stays away from its ends where the last one was near
  /// one, too.
  double next_step(bool& near_end) const {
    const double low = std::min(ends_[0].t, ends_[1].t), high = std::max(ends_[0].t, ends_[1].t);
    const double t = cubic_minimum(ends_[0], ends_[1], low, high);
    const double margin = 0.1 * (high - low);
    if (std::min(high - t, t - low) >= margin) {
      near_end = false;
      return t;
    }
    if (!near_end && t < high && t > low) {
      near_end = true;
      return t;
    }
    near_end = false;
    return std::abs(t - high) < std::abs(t - low) ? high - margin : low + margin;
  }

  LinePoint zoom() {
    bool near_end = false;
    size_t best = ends_[0].loss <= ends_[1].loss ? 0 : 1;
    for (bool good = false; !good && iterations_ < kMostIterations; ++iterations_) {
      if (std::abs(ends_[1].t - ends_[0].t) * longest_ < kLeastChange) break;
      LinePoint point = evaluate(next_step(near_end));
      if (too_high(point) || point.loss >= ends_[best].loss) {
        ends_[1 - best] = std::move(point);
        best = ends_[0].loss <= ends_[1].loss ? 0 : 1;
        continue;
      }
      good = flat(point);
      if (!good && point.slope * (ends_[1 - best].t - ends_[best].t) >= 0)
        ends_[1 - best] = ends_[best];
      ends_[best] = std::move(point);
    }
    return ends_[best];
  }

  const LineFunction& at_;
  const LinePoint& start_;
  double longest_;
  LinePoint ends_[2];
  int iterations_ = 0;
  int64_t evaluations_ = 0;
  bool done_ = false;
};

}  // namespace

LineSearchResult strong_wolfe(const LineFunction& at, const LinePoint& start, double t,
                              double longest) {
  return Search(at, start, longest).run(t);
}

}  // namespace taeda::optim
