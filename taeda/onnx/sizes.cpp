#include "taeda/onnx/sizes.h"

#include <algorithm>
#include <cstring>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::onnx {

namespace {

/// The integer in an argument that may be a size.
int64_t integer(const TracedArgument& argument) {
  if (const auto* i = std::get_if<int64_t>(&argument)) return *i;
  const auto* scalar = std::get_if<Scalar>(&argument);
  return scalar ? scalar->toLong() : 0;
}

/// Whether two arguments are the same but for sizes. Calls are compared before.
bool same_but_sizes(const TracedArgument& a, const TracedArgument& b) {
  if (a.index() != b.index()) return false;
  if (const auto* x = std::get_if<ValueId>(&a)) return *x == std::get<ValueId>(b);
  if (const auto* x = std::get_if<std::vector<ValueId>>(&a))
    return *x == std::get<std::vector<ValueId>>(b);
  if (const auto* x = std::get_if<std::string>(&a)) return *x == std::get<std::string>(b);
  if (const auto* x = std::get_if<bool>(&a)) return *x == std::get<bool>(b);
  if (const auto* x = std::get_if<double>(&a)) return *x == std::get<double>(b);
  if (const auto* x = std::get_if<std::vector<double>>(&a))
    return *x == std::get<std::vector<double>>(b);
  if (const auto* x = std::get_if<ScalarType>(&a)) return *x == std::get<ScalarType>(b);
  if (const auto* x = std::get_if<std::vector<int64_t>>(&a))
    return x->size() == std::get<std::vector<int64_t>>(b).size();
  if (const auto* x = std::get_if<Scalar>(&a)) {
    const Scalar& y = std::get<Scalar>(b);
    return x->type() == y.type() && (x->is_integral() || x->toDouble() == y.toDouble());
  }
  if (const auto* x = std::get_if<std::vector<TracedIndex>>(&a)) {
    const auto& y = std::get<std::vector<TracedIndex>>(b);
    if (x->size() != y.size()) return false;
    for (size_t i = 0; i < y.size(); ++i) {
      const TracedIndex &p = (*x)[i], &q = y[i];
      if (p.kind != q.kind || p.integer != q.integer || p.start != q.start || p.stop != q.stop ||
          p.step != q.step || p.value != q.value)
        return false;
    }
  }
  return true;
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  if (a.sizes() != b.sizes() || a.dtype() != b.dtype()) return false;
  const Tensor x = a.cpu().contiguous(), y = b.cpu().contiguous();
  return x.numel() == 0 ||
         std::memcmp(x.data_ptr(), y.data_ptr(), static_cast<size_t>(x.nbytes())) == 0;
}

std::string call_text(const TracedCall& call) {
  return "'" + call.name + "'" + (call.place.empty() ? "" : " (in module " + call.place + ")");
}

}  // namespace

void refuse_axis(const Axis& axis, int64_t size, const std::string& what) {
  throw NotImplementedError(taeda::detail::concat(
      "the module cannot be exported with an open axis '", axis.name, "': ", what, " when it is ",
      size, " instead of ", axis.size,
      ". Leave the axis out of dynamic_axes, or make forward do the same for every size."));
}

Traces::Traces(std::vector<Trace> traces, std::vector<Axis> axes)
    : traces_(std::move(traces)), axes_(std::move(axes)) {
  for (size_t t = 1; t < traces_.size(); ++t) check_same(t);
}

void Traces::check_same(size_t t) const {
  const Trace &a = first(), &b = traces_[t];
  const Axis& axis = axes_[(t - 1) / std::size(kSteps)];
  const auto refuse = [&](const std::string& what) {
    refuse_axis(axis, axis.size + kSteps[(t - 1) % std::size(kSteps)], what);
  };
  for (size_t c = 0; c < std::min(a.calls.size(), b.calls.size()); ++c) {
    const TracedCall &x = a.calls[c], &y = b.calls[c];
    if (x.name != y.name || x.results != y.results || x.arguments.size() != y.arguments.size())
      refuse("forward calls " + call_text(y) + " in place of " + call_text(x));
    for (size_t i = 0; i < x.arguments.size(); ++i)
      if (!same_but_sizes(x.arguments[i], y.arguments[i]))
        refuse("argument #" + std::to_string(i) + " of " + call_text(x) + " is another one");
  }
  if (a.calls.size() != b.calls.size() || a.outputs != b.outputs)
    refuse("forward calls " + std::to_string(b.calls.size()) + " operations in place of " +
           std::to_string(a.calls.size()));
  for (size_t v = 0; v < a.values.size(); ++v) {
    const TracedValue &x = a.values[v], &y = b.values[v];
    if (x.dtype != y.dtype || x.sizes.size() != y.sizes.size())
      refuse("a value has another dtype or number of dimensions");
    if (x.kind == TracedValue::Kind::Constant && !same_bytes(x.tensor, y.tensor))
      refuse("a constant of sizes " + taeda::detail::concat(x.tensor.sizes()) +
             ", which no exportable operation made, is another one");
  }
}

template <class Get>
Size Traces::fit(const Get& get) const {
  Size out;
  out.value = get(first());
  std::vector<int64_t> values;
  for (const Trace& trace : traces_) values.push_back(get(trace));
  constexpr size_t kEach = std::size(kSteps);
  for (size_t a = 0; a < axes_.size(); ++a)
    for (size_t k = 0; k < kEach; ++k)
      if (values[1 + a * kEach + k] != out.value && (out.axes.empty() || out.axes.back() != a))
        out.axes.push_back(a);
  if (out.axes.empty()) return out;
  const auto holds = [&] {
    for (size_t t = 0; t < values.size(); ++t) {
      int64_t expected = out.factor;
      for (const size_t a : out.axes) {
        const bool larger = t > 0 && (t - 1) / kEach == a;
        expected *= axes_[a].size + (larger ? kSteps[(t - 1) % kEach] : 0);
      }
      if (expected + out.offset != values[t]) return false;
    }
    return true;
  };
  // What one more of the first axis adds, divided by what it adds to the product.
  const size_t a = out.axes[0];
  int64_t others = 1;
  for (const size_t axis : out.axes)
    if (axis != a) others *= axes_[axis].size;
  const int64_t added = values[1 + a * kEach] - out.value;
  if (others != 0 && added % (others * kSteps[0]) == 0) {
    out.factor = added / (others * kSteps[0]);
    out.offset = out.value - out.factor * others * axes_[a].size;
    if (out.factor != 0 && holds()) return out;
  }
  out.factor = 0;  // not to be expressed
  return out;
}

Size Traces::size(ValueId value, size_t dim) const {
  return fit([&](const Trace& t) { return t.values[static_cast<size_t>(value)].sizes[dim]; });
}

std::vector<Size> Traces::sizes(ValueId value) const {
  std::vector<Size> out;
  const size_t dims = first().values[static_cast<size_t>(value)].sizes.size();
  for (size_t d = 0; d < dims; ++d) out.push_back(size(value, d));
  return out;
}

Size Traces::argument(size_t call, size_t index) const {
  return fit([&](const Trace& t) { return integer(t.calls[call].arguments[index]); });
}

std::vector<Size> Traces::arguments(size_t call, size_t index) const {
  const auto list = [&](const Trace& t) -> const std::vector<int64_t>& {
    return std::get<std::vector<int64_t>>(t.calls[call].arguments[index]);
  };
  std::vector<Size> out;
  for (size_t i = 0; i < list(first()).size(); ++i)
    out.push_back(fit([&](const Trace& t) { return list(t)[i]; }));
  return out;
}

bool Traces::is_fixed(size_t call) const {
  const TracedCall& c = first().calls[call];
  for (size_t i = 0; i < c.arguments.size(); ++i) {
    if (std::holds_alternative<std::vector<int64_t>>(c.arguments[i])) {
      for (const Size& size : arguments(call, i))
        if (!size.is_constant()) return false;
    } else if (const auto* scalar = std::get_if<Scalar>(&c.arguments[i]);
               std::holds_alternative<int64_t>(c.arguments[i]) ||
               (scalar && scalar->is_integral())) {
      if (!argument(call, i).is_constant()) return false;
    }
  }
  for (const ValueId result : c.results) {
    if (result == kNone) continue;
    for (const Size& size : sizes(result))
      if (!size.is_constant()) return false;
  }
  return true;
}

std::string Traces::text(const Size& size) const {
  if (size.is_constant()) return std::to_string(size.value);
  std::string out = size.factor == 1 ? "" : std::to_string(size.factor);
  for (const size_t a : size.axes) out += (out.empty() ? "" : "*") + axes_[a].name;
  if (size.offset != 0) out += (size.offset > 0 ? "+" : "") + std::to_string(size.offset);
  return out;
}

}  // namespace taeda::inline v0_2::onnx
