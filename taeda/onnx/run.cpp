#include "taeda/onnx/run.h"

#include <algorithm>
#include <unordered_map>

#include "taeda/base/error.h"
#include "taeda/onnx/import.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::onnx {

namespace {

constexpr int64_t kMostNumbers = 64;

const std::unordered_map<std::string_view, void (*)(Run&)>& all_operators() {
  static const auto* operators = [] {
    auto* out = new std::unordered_map<std::string_view, void (*)(Run&)>;
    for (const auto table : {pointwise_operators(), binary_operators(), shape_operators(),
                             reduce_operators(), layer_operators(), recurrent_operators()})
      for (const Operator& op : table) out->emplace(op.name, op.run);
    return out;
  }();
  return *operators;
}

template <class T>
const T* attribute(const Node& node, const char* name, const char* kind) {
  const auto it = node.attributes.find(name);
  if (it == node.attributes.end()) return nullptr;
  const T* out = std::get_if<T>(&it->second);
  TAEDA_CHECK(out, "its attribute '", name, "' is not ", kind);
  return out;
}

}  // namespace

void (*find_operator(const std::string& name))(Run&) {
  const auto it = all_operators().find(name);
  return it == all_operators().end() ? nullptr : it->second;
}

std::vector<std::string> importable_operators() {
  std::vector<std::string> out;
  for (const auto& [name, run] : all_operators()) out.emplace_back(name);
  std::sort(out.begin(), out.end());
  return out;
}

ScalarType dtype_of_number(int64_t number) {
  constexpr std::pair<int64_t, ScalarType> kNumbers[] = {
      {1, kFloat}, {2, kByte}, {3, kChar},  {5, kShort},   {6, kInt},
      {7, kLong},  {9, kBool}, {10, kHalf}, {11, kDouble}, {16, kBFloat16}};
  for (const auto& [code, dtype] : kNumbers)
    if (code == number) return dtype;
  throw Error(taeda::detail::concat("ONNX's type ", number, " is none that Taeda has a dtype for"));
}

const Tensor& Run::in(size_t i) const {
  TAEDA_CHECK(has(i), "its input #", i, " is missing");
  return inputs[i];
}

int64_t Run::integer(const char* name, int64_t fallback) const {
  const auto* out = attribute<int64_t>(node, name, "a whole number");
  return out ? *out : fallback;
}

double Run::real(const char* name, double fallback) const {
  const auto* out = attribute<double>(node, name, "a number");
  return out ? *out : fallback;
}

std::string Run::text(const char* name, const char* fallback) const {
  const auto* out = attribute<std::string>(node, name, "a text");
  return out ? *out : fallback;
}

std::vector<int64_t> Run::integers(const char* name) const {
  const auto* out = attribute<std::vector<int64_t>>(node, name, "a list of whole numbers");
  return out ? *out : std::vector<int64_t>();
}

std::vector<double> Run::reals(const char* name) const {
  const auto* out = attribute<std::vector<double>>(node, name, "a list of numbers");
  return out ? *out : std::vector<double>();
}

std::vector<std::string> Run::texts(const char* name) const {
  const auto* out = attribute<std::vector<std::string>>(node, name, "a list of texts");
  return out ? *out : std::vector<std::string>();
}

Tensor Run::tensor(const char* name) const {
  const auto* out = attribute<Tensor>(node, name, "a tensor");
  return out ? *out : Tensor();
}

std::vector<int64_t> Run::numbers(size_t i) const {
  const Tensor& t = in(i);
  TAEDA_CHECK(is_integral(t.dtype()) && t.dim() <= 1 && t.numel() <= kMostNumbers, "its input #", i,
              " must be a list of at most ", kMostNumbers, " whole numbers, got ",
              dtype_name(t.dtype()), " of sizes ", t.sizes());
  const Tensor host = t.detach().cpu().to(kLong).contiguous();
  const auto* p = host.data_ptr<int64_t>();
  return {p, p + host.numel()};
}

std::vector<int64_t> Run::numbers(size_t i, const char* attribute) const {
  return has(i) ? numbers(i) : integers(attribute);
}

void Run::refuse(const std::string& what) const { throw NotImplementedError(what); }

}  // namespace taeda::inline v0_2::onnx
