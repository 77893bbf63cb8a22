// A line search that ends where both of Wolfe's conditions hold.
#pragma once

#include <functional>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::optim {

/// A point of a line x + t * d: the loss there, its gradient, and the slope along d.
struct LinePoint {
  double t = 0;
  double loss = 0;
  Tensor grad;
  double slope = 0;
};

/// Where a search ended, and how often it evaluated the loss.
struct LineSearchResult {
  LinePoint point;
  int64_t evaluations = 0;
};

/// Evaluates loss, gradient and slope at x + t * d.
using LineFunction = std::function<LinePoint(double t)>;

/// Looks for a step with sufficient decrease and a flat enough slope, from `start` at t = 0 with
/// the first guess `t`: brackets one, then shrinks the bracket by cubic interpolation (Nocedal and
/// Wright 2006, algorithms 3.5 and 3.6, with PyTorch's constants). `longest` is the largest
/// component of d.
LineSearchResult strong_wolfe(const LineFunction& at, const LinePoint& start, double t,
                              double longest);

}  // namespace taeda::optim
