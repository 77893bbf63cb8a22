// Python-style text of a tensor, with its place in the graph.
#include <cstdio>

#include "taeda/autograd/node.h"
#include "taeda/base/error.h"
#include "taeda/tensor/mapped.h"
#include "taeda/tensor/print.h"

namespace taeda::inline v0_2 {

namespace {

/// All samples, with the innermost level outside.
std::string mapped_text(const Tensor& t) {
  std::string value = lowered(t).repr();
  for (size_t at = 0; (at = value.find('\n', at)) != value.npos; at += 5)
    value.insert(at + 1, "    ");
  const int level = innermost_of(mapped_levels(t));
  return detail::concat("BatchedTensor(lvl=", level, ", bdim=0, value=\n    ", value, "\n)");
}

}  // namespace

std::string Tensor::repr() const {
  if (!defined()) return "tensor(<undefined>)";
  if (is_mapped(*this)) return mapped_text(*this);
  std::vector<std::string> suffixes;
  try {
    if (const auto fn = grad_fn())
      suffixes.push_back(std::string("grad_fn=<") + fn->name() + ">");
    else if (requires_grad())
      suffixes.push_back("requires_grad=True");
  } catch (const Error&) {  // a view whose base was changed in place: it can be looked at still
    suffixes.push_back("grad_fn=<Invalid>");
  }
  return format_tensor(*this, suffixes);
}

void Tensor::print() const { std::printf("%s\n", repr().c_str()); }

}  // namespace taeda::inline v0_2
