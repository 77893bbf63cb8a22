// How learning rates go over the epochs, as functions of numbers alone: what schedules of C++, of
// Python and of the command share. Those that end in `_change` are the factor from one epoch to the
// next, for schedules that follow others' changes of the rate.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

namespace taeda::inline v0_2::optim::rates {

/// The factor of an initial rate that is multiplied with gamma every `size` epochs.
inline double stepped(double epoch, double size, double gamma) {
  return std::pow(gamma, std::floor(epoch / size));
}
inline double stepped_change(double epoch, double size, double gamma) {
  return epoch == 0 || std::fmod(epoch, size) != 0 ? 1 : gamma;
}

/// A factor for the first `total` epochs, then 1.
inline double constant(double epoch, double factor, double total) {
  return factor + (epoch >= total ? 1 - factor : 0);
}
inline double constant_change(double epoch, double factor, double total) {
  return epoch == 0 ? factor : epoch == total ? 1 / factor : 1;
}

/// From `start` to `end` in `total` epochs.
inline double linear(double epoch, double start, double end, double total) {
  return start + (end - start) * std::min(total, epoch) / total;
}
inline double linear_change(double epoch, double start, double end, double total) {
  if (epoch == 0) return start;
  if (epoch > total) return 1;
  return 1 + (end - start) / (total * start + (epoch - 1) * (end - start));
}

/// (1 - epoch / total)^power, to 0.
inline double polynomial(double epoch, double total, double power) {
  return std::pow(1 - std::min(total, epoch) / total, power);
}
inline double polynomial_change(double epoch, double total, double power) {
  if (epoch == 0 || epoch > total) return 1;
  return std::pow((1 - epoch / total) / (1 - (epoch - 1) / total), power);
}

/// Half a cosine, from 1 to 0 in `total` epochs, and back.
inline double cosine(double epoch, double total) {
  return (1 + std::cos(std::numbers::pi * epoch / total)) / 2;
}
/// From `base` to `least` along it.
inline double cosine_rate(double base, double least, double epoch, double total) {
  return least + (base - least) * cosine(epoch, total);
}
/// The same from the rate of the epoch before: a factor of what is above the least one, which is
/// 0 / 0 right after that was reached.
inline double cosine_next(double rate, double base, double least, double epoch, double total) {
  if (std::fmod(epoch - 1 - total, 2 * total) == 0)
    return rate + (base - least) * ((1 - std::cos(std::numbers::pi / total)) / 2);
  return cosine(epoch, total) / cosine(epoch - 1, total) * (rate - least) + least;
}

/// From `start` to `end`, along a line or half a cosine, when a part of the way is done.
inline double annealed(double start, double end, double part, bool by_cosine) {
  if (!by_cosine) return (end - start) * part + start;
  return end + (start - end) / 2 * (std::cos(std::numbers::pi * part) + 1);
}

/// The number of a cycle of `up` and `down` steps, 1 for the first, and how high it stands: 0 to 1.
inline std::pair<double, double> cycle(double step, double up, double down) {
  const double total = up + down, top = up / total;
  const double number = std::floor(1 + step / total), x = 1 + step / total - number;
  return {number, x <= top ? x / top : (x - 1) / (top - 1)};
}

/// From `start` towards `end`, as far as a cycle stands high, times what its peak is.
inline double cycled(double start, double end, double height, double peak) {
  return start + (end - start) * height * peak;
}
/// How high the peaks of cycles are: all the same, half of the one before, or less by gamma with
/// every step. `x` counts cycles from 1, or steps.
enum class Peaks { Equal, Halved, Shrinking };
inline double peak(Peaks peaks, double x, double gamma) {
  return peaks == Peaks::Equal ? 1 : peaks == Peaks::Halved ? std::exp2(1 - x) : std::pow(gamma, x);
}

/// A phase of one cycle: until which step, from which rate to which, 0 being the first, 1 the
/// largest and 2 the last one. Momentum is low where the rate is the largest, and high elsewhere.
struct Phase {
  double end;
  int from, to;
};
/// Up in a part of all steps, and down; of three phases the second one is as long as the first.
inline std::vector<Phase> one_cycle(double steps, double part, bool three_phases) {
  const double rise = part * steps;
  if (!three_phases) return {{rise - 1, 0, 1}, {steps - 1, 1, 2}};
  return {{rise - 1, 0, 1}, {2 * rise - 2, 1, 0}, {steps - 1, 0, 2}};
}
/// The number of the phase that a step is in, and how far it is there.
inline std::pair<size_t, double> phase_of(double step, const std::vector<double>& ends) {
  size_t i = 0;
  while (i + 1 < ends.size() && step > ends[i]) ++i;
  const double start = i == 0 ? 0 : ends[i - 1];
  return {i, (step - start) / (ends[i] - start)};
}

/// Among cycles of `first`, first * factor, ... epochs: how far an epoch is in its cycle, and how
/// long that is.
template <class Number>
std::pair<Number, Number> restarted(Number epoch, Number first, Number factor) {
  Number length = first, at = epoch;
  if (factor == 1 && epoch >= first) at -= first * static_cast<int64_t>(epoch / first);
  for (; at >= length; length *= factor) at -= length;
  return {at, length};
}

/// The rate of an epoch, from that of the epoch before, on the way to `target` in `total` epochs,
/// along a line or half a cosine.
inline double approached(double rate, double target, double epoch, double total, bool by_cosine) {
  const auto part = [&](double at) {
    const double t = total == 0 ? 1 : std::clamp(at / total, 0.0, 1.0);
    return annealed(0, 1, t, by_cosine);
  };
  const double before = part(epoch - 1), now = part(epoch);
  const double start = before == 1 ? target : (rate - before * target) / (1 - before);
  return now * target + start * (1 - now);
}

/// Whether a metric that is to grow, or to shrink, is better than the best one by more than a
/// threshold, a number or a part of the best.
inline bool is_better(double metric, double best, double threshold, bool grows, bool relative) {
  const double sign = grows ? 1 : -1;
  const double bound = relative ? best * (1 + sign * threshold) : best + sign * threshold;
  return grows ? metric > bound : metric < bound;
}

/// Counts an epoch: whether a metric has not been better for more than `patience` epochs, `bad`,
/// and the rate falls now; after that `rest` epochs of `cooldown` do not count.
inline bool plateau_ends(bool better, double patience, int64_t cooldown, int64_t& bad,
                         int64_t& rest) {
  bad = better || rest > 0 ? 0 : bad + 1;
  rest = std::max<int64_t>(rest - 1, 0);
  if (static_cast<double>(bad) <= patience) return false;
  bad = 0;
  rest = cooldown;
  return true;
}

/// What a rate falls to: not below the least one, and only if that is further than eps.
inline double fallen(double rate, double factor, double least, double eps) {
  const double lower = std::max(rate * factor, least);
  return rate - lower > eps ? lower : rate;
}

}  // namespace taeda::inline v0_2::optim::rates
