// Tensors as text: as Python shows them, and as libtorch's operator<< does.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// torch.set_printoptions.
/// Numbers of digits, elements and columns; the defaults are PyTorch's.
struct PrintOptions {
  int precision = 4;
  int64_t threshold = 1000;  ///< more elements than this are summarised
  int64_t edgeitems = 3;     ///< shown at each end of a summarised dimension
  int64_t linewidth = 80;
  std::optional<bool> sci_mode;
};
const PrintOptions& print_options();
void set_printoptions(const PrintOptions& options);

/// "tensor([1., 2.], device='sim:0', <suffixes>)".
std::string format_tensor(const Tensor& t, const std::vector<std::string>& suffixes);

/// libtorch's layout: values in columns, then "[ CPUFloatType{2,3} ]".
void print(std::ostream& out, const Tensor& t, int64_t linesize = 80);

}  // namespace taeda
