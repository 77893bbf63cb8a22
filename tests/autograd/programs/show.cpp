#include "tests/autograd/programs/show.h"

#include "taeda/base/error.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::programs {

std::string list_of(IntArrayRef values) {
  std::string out = "(";
  for (int64_t v : values) out += std::to_string(v) + ",";
  return out + ")";
}

namespace {

/// Whether rows of real numbers begin where complex ones may lie.
bool are_pairs(const Tensor& x) {
  for (int64_t k = 0; k + 1 < x.dim(); ++k)
    if (x.stride(k) % 2 != 0) return false;
  return x.storage_offset() % 2 == 0;
}

}  // namespace

std::vector<Tensor> show(const Instruction& i, const Tensor& x, const std::string& of,
                         std::string* text) {
  const int64_t n = x.dim();
  const int64_t d = n > 0 ? i.p % n : 0, e = n > 0 ? i.q % n : 0;
  const auto call = [&](auto... parts) { *text = taeda::detail::concat(of, ".", parts...); };
  const bool sized = n > 0 && x.size(d) > 0;
  switch (i.op) {
    case Op::Flatten:
      if (x.numel() == 0 || !x.layout().view({x.numel()})) return {};
      call("view(-1)");
      return {x.view({-1})};
    case Op::Transpose:
      if (n < 2) return {};
      call("transpose(", d, ", ", e, ")");
      return {x.transpose(d, e)};
    case Op::Permute: {
      if (n < 2) return {};
      DimVector order;
      for (int64_t k = 0; k < n; ++k) order.push_back((k + 1 + d) % n);
      call("permute(", list_of(order), ")");
      return {x.permute(order)};
    }
    case Op::Select: {
      if (!sized) return {};
      const int64_t at = i.q % x.size(d);
      call("select(", d, ", ", at, ")");
      return {x.select(d, at)};
    }
    case Op::Slice: {
      if (!sized) return {};
      const int64_t from = i.q % x.size(d), step = 1 + (i.q >> 4) % 2;
      call("__getitem__((slice(None),)*", d, " + (slice(", from, ", None, ", step, "),))");
      return {x.slice(d, from, std::nullopt, step)};
    }
    case Op::Narrow: {
      if (!sized) return {};
      const int64_t from = i.q % x.size(d), length = 1 + (i.q >> 4) % (x.size(d) - from);
      call("narrow(", d, ", ", from, ", ", length, ")");
      return {x.narrow(d, from, length)};
    }
    case Op::Squeeze: call("squeeze()"); return {x.squeeze()};
    case Op::Unsqueeze:
      if (n > 3) return {};
      call("unsqueeze(", i.p % (n + 1), ")");
      return {x.unsqueeze(i.p % (n + 1))};
    case Op::Expand: {
      if (n > 3 || x.numel() > 16) return {};
      DimVector sizes{2};
      for (int64_t s : x.sizes()) sizes.push_back(s);
      call("expand(", list_of(sizes), ")");
      return {x.expand(sizes)};
    }
    case Op::Diagonal:
      if (n < 2 || d == e) return {};
      call("diagonal(0, ", d, ", ", e, ")");
      return {x.diagonal(0, d, e)};
    case Op::Unfold: {
      if (!sized || n > 3) return {};
      const int64_t size = 1 + i.q % x.size(d), step = 1 + (i.q >> 4) % 2;
      call("unfold(", d, ", ", size, ", ", step, ")");
      return {x.unfold(d, size, step)};
    }
    case Op::AsStrided: {
      if (x.numel() < 2 || !x.layout().is_non_overlapping_and_dense()) return {};
      const int64_t length = 1 + i.p % (x.numel() - 1), stride = i.q % 2;
      call("as_strided((", length, ",), (", stride, ",), ", x.storage_offset() + 1, ")");
      return {x.as_strided({length}, {stride}, x.storage_offset() + 1)};
    }
    case Op::Chunk:
      if (!sized) return {};
      call("chunk(2, ", d, ")");
      return x.chunk(2, d);
    case Op::Unbind:
      if (!sized) return {};
      call("unbind(", d, ")");
      return x.unbind(d);
    case Op::Reinterpret: {
      if (n == 0 || x.stride(-1) != 1) return {};
      const ScalarType to = x.is_complex() ? kDouble : kComplexDouble;
      if (to == kComplexDouble && (x.size(-1) % 2 != 0 || !are_pairs(x))) return {};
      call("view(torch.", x.is_complex() ? "float64" : "complex128", ")");
      return {x.view(to)};
    }
    case Op::ViewAsReal:
      if (!x.is_complex() || n > 3) return {};
      *text = "torch.view_as_real(" + of + ")";
      return {view_as_real(x)};
    case Op::ViewAsComplex: {
      if (x.is_complex() || n == 0 || x.size(-1) != 2 || x.stride(-1) != 1 || !are_pairs(x))
        return {};
      *text = "torch.view_as_complex(" + of + ")";
      return {view_as_complex(x)};
    }
    case Op::Real:
      if (!x.is_complex()) return {};
      call("real");
      return {real(x)};
    case Op::Imag:
      if (!x.is_complex()) return {};
      call("imag");
      return {imag(x)};
    default: return {};
  }
}

}  // namespace taeda::programs
