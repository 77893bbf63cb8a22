// Texts and numbers that programs pass on from elsewhere: equations, names of devices, shapes.
#include "taeda/base/device.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/linalg/einsum.h"
#include "taeda/ops/shape/shape.h"
#include "tests/fuzz/reader.h"

namespace taeda::fuzz {
namespace {

/// A byte with the number of operands, one with the dimensions of each, and the equation.
void read_equation(std::string_view bytes) {
  Numbers numbers(bytes);
  std::vector<Tensor> operands(numbers.byte() % 4);
  for (Tensor& operand : operands) {
    const unsigned form = numbers.byte();
    std::vector<int64_t> sizes(form % 4);
    for (size_t d = 0; d < sizes.size(); ++d) sizes[d] = form >> (2 + d) & 3;
    operand = ones(sizes);
  }
  einsum(std::string(numbers.rest()), operands);
}

std::vector<int64_t> list_of(Numbers& numbers) {
  std::vector<int64_t> out(numbers.byte() % 6);
  for (int64_t& value : out) value = numbers.any();
  return out;
}

/// One view after the other of 24 numbers, none of which may reach beyond them.
void read_views(std::string_view bytes) {
  Numbers numbers(bytes);
  const Tensor base = arange(24);
  const auto* first = base.data_ptr<int64_t>();
  Tensor t = base.view({2, 3, 4});
  while (!numbers.empty()) {
    switch (numbers.byte() % 9) {
      case 0: t = t.view(list_of(numbers)); break;
      case 1: t = t.expand(list_of(numbers)); break;
      case 2: t = t.permute(list_of(numbers)); break;
      case 3: t = t.narrow(numbers.any(), numbers.any(), numbers.any()); break;
      case 4: t = t.unfold(numbers.any(), numbers.any(), numbers.any()); break;
      case 5: t = t.select(numbers.any(), numbers.any()); break;
      case 6: t = t.transpose(numbers.any(), numbers.any()); break;
      case 7: t = t.unsqueeze(numbers.any()); break;
      default: {
        const std::vector<int64_t> sizes = list_of(numbers), strides = list_of(numbers);
        t = t.as_strided(sizes, strides, numbers.any());
      }
    }
    if (t.numel() == 0) continue;
    int64_t last = 0;
    for (int64_t d = 0; d < t.dim(); ++d) last += (t.size(d) - 1) * t.stride(d);
    const int64_t begin = t.data_ptr<int64_t>() - first;
    if (begin < 0 || last < 0 || begin + last >= 24) __builtin_trap();
  }
}

}  // namespace

Reader fuzz_einsum() { return {&read_equation}; }

Reader fuzz_device() {
  return {[](std::string_view bytes) { Device device{std::string(bytes)}; }};
}

Reader fuzz_views() { return {&read_views}; }

}  // namespace taeda::fuzz
