// How learning rates go over the epochs, as functions of numbers alone: what schedules of C++, of
// Python and of the command share. Those that end in `_change` are the factor from one epoch to the
// next, for schedules that follow others' changes of the rate.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace taeda::inline v0_2::optim::rates {

/// The factor of an initial rate that is multiplied with gamma every `size` epochs.
inline double stepped(double epoch, double size, double gamma) {
  return std::pow(gamma, std::floor(epoch / size));
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
/// Of what is above the least rate. Where that was reached an epoch ago it is 0 / 0: the rate then
/// rises by `cosine_rise` of the whole.
inline double cosine_change(double epoch, double total) {
  return cosine(epoch, total) / cosine(epoch - 1, total);
}
inline double cosine_rise(double total) { return (1 - std::cos(std::numbers::pi / total)) / 2; }

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

}  // namespace taeda::inline v0_2::optim::rates
