#include "taeda/ops/operations.h"

#include <charconv>

#include "taeda/base/error.h"

namespace taeda::inline v0_2 {

namespace detail {
/// Lines of fields between tabs, made by tools/ops: F(amily), O(peration) with its arguments. As
/// text, because a table of pointers would be relocated whenever a program starts.
extern const char* const operations_text;
}  // namespace detail

namespace {

struct Table {
  std::vector<OperationFamily> families;
  std::vector<Operation> operations;
};

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

Table read_table(std::string_view text) {
  Table out;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    const std::vector<std::string_view> f = split(line, '\t');
    const char kind = line[0];
    if (kind == 'F') {
      TAEDA_INTERNAL_ASSERT(f.size() == 4);
      out.families.push_back({f[1], f[2], f[3]});
    } else {
      TAEDA_INTERNAL_ASSERT(f.size() >= kFields && (f.size() - kFields) % kFieldsOfArgument == 0);
      out.operations.push_back(read_operation(f));
    }
  }
  return out;
}

const Table& table() {
  static const Table out = read_table(detail::operations_text);
  return out;
}

}  // namespace

const std::vector<Operation>& operations() { return table().operations; }
const std::vector<OperationFamily>& operation_families() { return table().families; }

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
