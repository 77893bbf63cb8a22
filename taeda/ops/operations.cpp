#include "taeda/ops/operations.h"

#include <charconv>

#include "taeda/base/error.h"

namespace taeda::inline v0_2 {

namespace detail {
/// Lines of fields between tabs, made by tools/ops: an operation with its arguments. As text,
/// because a table of pointers would be relocated whenever a program starts.
extern const char* const operations_text;
}  // namespace detail

namespace {

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> out;
  for (size_t end; (end = text.find(by)) != std::string_view::npos; text.remove_prefix(end + 1))
    out.push_back(text.substr(0, end));
  out.push_back(text);
  return out;
}

constexpr size_t kFields = 13, kFieldsOfArgument = 5;

Operation read_operation(const std::vector<std::string_view>& f) {
  const auto has = [&](char flag) { return f[5].find(flag) != std::string_view::npos; };
  Operation o;
  o.name = f[1], o.space = f[2], o.family = f[3], o.returns = f[4];
  o.function = has('f'), o.method = has('m'), o.in_place = has('i'), o.out = has('o');
  o.view = f[6], o.autocast = f[7], o.dtypes = f[8], o.second_names = f[9], o.results = f[10];
  int position = 0;
  std::from_chars(f[11].data(), f[11].data() + f[11].size(), position);
  o.receiver = position - 1;
  o.doc = f[12];
  for (size_t i = kFields; i < f.size(); i += kFieldsOfArgument)
    o.arguments.push_back({f[i], f[i + 1], f[i + 3], f[i + 2] == "1", f[i + 4] == "1"});
  return o;
}

std::vector<Operation> read_table(std::string_view text) {
  std::vector<Operation> out;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    const std::vector<std::string_view> f = split(line, '\t');
    TAEDA_INTERNAL_ASSERT(f.size() >= kFields && (f.size() - kFields) % kFieldsOfArgument == 0);
    out.push_back(read_operation(f));
  }
  return out;
}

}  // namespace

const std::vector<Operation>& operations() {
  static const std::vector<Operation> out = read_table(detail::operations_text);
  return out;
}

std::string Operation::signature() const {
  std::string out = space.empty() ? "" : std::string(space) + "::";
  out += function ? name : "Tensor::" + std::string(name);
  out += "(";
  for (const OperationArgument& a : arguments) {
    if (&a != arguments.data()) out += ", ";
    out += std::string(a.type) + " " + std::string(a.name);
    if (a.has_default) out += " = " + std::string(a.default_value);
  }
  return out + ") -> " + std::string(returns);
}

}  // namespace taeda
