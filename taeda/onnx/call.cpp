#include <algorithm>

#include "taeda/base/error.h"
#include "taeda/onnx/lower.h"
#include "taeda/ops/create/create.h"
#include "taeda/tensor/promote.h"

namespace taeda::inline v0_2::onnx {

Call::Call(Lowering& lowering, size_t index)
    : lowering_(lowering), index_(index), call_(lowering.traces().first().calls[index]) {}

void Call::refuse(const std::string& why) const {
  throw NotImplementedError(taeda::detail::concat(
      "the operation '", call_.name, "'",
      call_.place.empty() ? std::string() : " in module " + call_.place,
      " cannot be exported to ONNX: ", why,
      ". docs/onnx.md lists what can be; write this part with those, or export a part of the model "
      "without it."));
}

int64_t Call::integer(size_t i, int64_t fallback) const {
  if (!has(i)) return fallback;
  const Size out = size(i);
  if (!out.is_constant())
    refuse("its argument #" + std::to_string(i) + " depends on the open axis '" +
           lowering_.traces().axes()[out.axes[0]].name + "'");
  return out.value;
}

std::vector<int64_t> Call::integers(size_t i) const {
  std::vector<int64_t> out;
  if (!has(i)) return out;
  if (is<int64_t>(i)) return {integer(i)};
  for (const Size& size : sizes(i)) {
    if (!size.is_constant())
      refuse("its argument #" + std::to_string(i) + " depends on the open axis '" +
             lowering_.traces().axes()[size.axes[0]].name + "'");
    out.push_back(size.value);
  }
  return out;
}

std::vector<int64_t> Call::spread(size_t i, size_t n, int64_t fallback) const {
  std::vector<int64_t> out = integers(i);
  if (out.empty()) out.assign(n, fallback);
  if (out.size() == 1) out.assign(n, out[0]);
  return out;
}

double Call::real(size_t i, double fallback) const {
  if (i >= count()) return fallback;
  if (const auto* d = std::get_if<double>(&call_.arguments[i])) return *d;
  if (const Scalar* s = scalar(i)) return s->toDouble();
  return is<int64_t>(i) ? static_cast<double>(integer(i)) : fallback;
}

bool Call::flag(size_t i, bool fallback) const {
  return is<bool>(i) ? std::get<bool>(call_.arguments[i]) : fallback;
}

std::string Call::text(size_t i, std::string fallback) const {
  return is<std::string>(i) ? std::get<std::string>(call_.arguments[i]) : std::move(fallback);
}

int64_t Call::dim(size_t i, int64_t of_rank, int64_t fallback) const {
  return wrap_dim(integer(i, fallback), of_rank);
}

int64_t Call::fixed_size(size_t i, int64_t dim) const {
  const Size out = lowering_.traces().size(id(i), static_cast<size_t>(dim));
  if (!out.is_constant())
    refuse("dimension " + std::to_string(dim) + " of its argument #" + std::to_string(i) +
           " depends on the open axis '" + lowering_.traces().axes()[out.axes[0]].name + "'");
  return out.value;
}

std::string Call::number(double value, ScalarType dtype) const {
  return lowering_.constant(scalar_tensor(value, dtype));
}

std::string Call::cast(const std::string& name, ScalarType from, ScalarType to) {
  if (from == to) return name;
  constexpr std::pair<ScalarType, int64_t> kNumbers[] = {
      {kFloat, 1}, {kByte, 2}, {kChar, 3},  {kShort, 5},   {kInt, 6},
      {kLong, 7},  {kBool, 9}, {kHalf, 10}, {kDouble, 11}, {kBFloat16, 16}};
  for (const auto& [dtype, code] : kNumbers)
    if (dtype == to) return emit("Cast", {name}, {{"to", code}});
  refuse(std::string("ONNX does not cast to ") + dtype_name(to));
}

std::string Call::operand(size_t i, ScalarType dtype) const {
  if (const Scalar* s = scalar(i)) {
    // A size that depends on an axis, as a number.
    if (s->is_integral()) {
      const Size size = lowering_.traces().argument(index_, i);
      if (!size.is_constant())
        return const_cast<Call*>(this)->cast(lowering_.size_number(size), kLong, dtype);
      return lowering_.constant(scalar_tensor(*s, dtype));
    }
    return lowering_.constant(scalar_tensor(*s, dtype));
  }
  const TracedValue& v = value(i);
  if (v.dtype == dtype) return in(i);
  if (v.sizes.empty() && (v.kind == TracedValue::Kind::Constant || lowering_.is_folded(id(i))))
    return lowering_.constant(v.tensor.to(dtype));
  return const_cast<Call*>(this)->cast(in(i), v.dtype, dtype);
}

ScalarType Call::common_dtype(std::initializer_list<size_t> arguments) const {
  // Tensors of no elements but the right number of dimensions stand for the values.
  std::vector<Tensor> stand_ins;
  stand_ins.reserve(arguments.size());
  std::vector<Operand> operands;
  for (const size_t i : arguments) {
    if (const Scalar* s = scalar(i)) {
      operands.emplace_back(*s);
    } else if (is<double>(i)) {
      operands.emplace_back(Scalar(real(i)));
    } else {
      const TracedValue& v = value(i);
      operands.emplace_back(
          stand_ins.emplace_back(make_tensor(DimVector(v.sizes.size(), 1), v.dtype, Device(kCPU))));
    }
  }
  return result_type(operands);
}

std::string Call::reshape(const std::string& name, const std::vector<Size>& from,
                          const std::vector<Size>& to) {
  if (from == to) return name;
  // 0 keeps the size at its place, and one -1 is found by whoever runs it: then nothing has to be
  // computed.
  std::vector<int64_t> shape;
  int unknown = 0;
  bool empty = false;
  for (size_t d = 0; d < to.size(); ++d) {
    empty = empty || to[d].value == 0;
    if (to[d].is_constant()) {
      shape.push_back(to[d].value);
    } else if (d < from.size() && from[d] == to[d] && to[d].factor != 0) {
      shape.push_back(0);
    } else {
      shape.push_back(-1);
      ++unknown;
    }
  }
  if (unknown <= 1 && !empty) return emit("Reshape", {name, ints(shape)});
  return emit("Reshape", {name, lowering_.size_list(to)});
}

std::string Call::transpose(const std::string& name, std::vector<int64_t> order) {
  bool moved = false;
  for (size_t d = 0; d < order.size(); ++d) moved = moved || order[d] != static_cast<int64_t>(d);
  return moved ? emit("Transpose", {name}, {{"perm", std::move(order)}}) : name;
}

std::string Call::unsqueeze(const std::string& name, std::vector<int64_t> axes) {
  return emit("Unsqueeze", {name, ints(std::move(axes))});
}

std::string Call::squeeze(const std::string& name, std::vector<int64_t> axes) {
  return emit("Squeeze", {name, ints(std::move(axes))});
}

std::string Call::slice(const std::string& name, int64_t axis, const Size& start, const Size& end,
                        int64_t step) {
  return emit("Slice", {name, lowering_.size_list({start}), lowering_.size_list({end}),
                        ints({axis}), ints({step})});
}

std::string Call::reduce(const std::string& op, const std::string& name, std::vector<int64_t> axes,
                         bool keepdim) {
  constexpr int64_t kAxesAreInputs = 18;
  Attributes attributes{{"keepdims", int64_t{keepdim}}};
  Names inputs{name};
  if (!axes.empty()) {
    if (op == "ReduceSum" || opset() >= kAxesAreInputs)
      inputs.push_back(ints(std::move(axes)));
    else
      attributes.emplace("axes", std::move(axes));
  }
  return emit(op, std::move(inputs), std::move(attributes));
}

}  // namespace taeda::inline v0_2::onnx
