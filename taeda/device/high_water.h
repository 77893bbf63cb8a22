// How much memory recent steps of a program had in use at once.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace taeda::inline v0_2::detail {

/// The largest amount of late. At the end of every period it falls to that period's peak, but at
/// most by half: a program whose steps reach the same peak again and again keeps its mark, one that
/// idles loses it in a few periods. No clock is read here.
class HighWater {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kPeriod{30};

  /// So much is in use now.
  void note(size_t bytes) { peak_ = std::max(peak_, bytes); }
  /// Ends the periods that are over and tells how many. `now` is what is in use.
  int64_t advance(Time time, size_t now) {
    if (begin_ == Time{}) begin_ = time;
    const int64_t over = (time - begin_) / kPeriod;
    if (over <= 0) return 0;
    mark_ = std::max(peak_, mark_ / 2);
    for (int64_t i = std::min<int64_t>(over, 64); i > 1; --i) mark_ = std::max(now, mark_ / 2);
    peak_ = now;
    begin_ += over * kPeriod;
    return over;
  }
  size_t mark() const { return std::max(mark_, peak_); }

 private:
  Time begin_{};
  size_t peak_ = 0;  ///< of the period that is under way
  size_t mark_ = 0;
};

}  // namespace taeda::detail
