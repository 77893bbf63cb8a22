// Comparing gradients with finite differences.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::autograd {

/// What is checked: outputs from inputs, the same ones each time.
using GradcheckFn = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

/// Step and tolerances, torch.autograd.gradcheck's: |a - n| <= atol + rtol * |n|.
/// The inputs' shapes may be any; differences throw Error unless it says otherwise.
struct GradcheckOptions {
  double eps = 1e-6;
  double atol = 1e-5;
  double rtol = 1e-3;
};

/// Checks the gradients of `fn` at `inputs` against central differences, for every floating or
/// complex output and every input that requires a gradient. Inputs must be float64 or complex128;
/// real and imaginary parts are moved, and compared, one by one. Throws Error, naming output, input
/// and both Jacobians, at the first mismatch.
bool gradcheck(const GradcheckFn& fn, const std::vector<Tensor>& inputs,
               const GradcheckOptions& options = {});

/// The same for the gradients of the gradients; `grad_outputs` are drawn from a fixed sequence if
/// empty.
bool gradgradcheck(const GradcheckFn& fn, const std::vector<Tensor>& inputs,
                   const std::vector<Tensor>& grad_outputs = {},
                   const GradcheckOptions& options = {});

namespace detail {
/// What gradcheck and gradgradcheck throw; empty where gradients agree. Inputs may be of any
/// floating dtype.
std::string gradient_mismatch(const GradcheckFn& fn, const std::vector<Tensor>& inputs,
                              const GradcheckOptions& options);
std::string second_gradient_mismatch(const GradcheckFn& fn, const std::vector<Tensor>& inputs,
                                     const std::vector<Tensor>& grad_outputs,
                                     const GradcheckOptions& options);
}  // namespace detail

}  // namespace taeda::autograd
