// Every public operation has a row in the op table, or a reason not to have one.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/ops/op_table.h"

namespace taeda::testing {

/// Headers of ops/ whose families are complete in the table.
const std::vector<std::string>& covered_headers() {
  static const std::vector<std::string> headers = {
      "arithmetic.h", "compare.h", "unary.h",  "activation.h", "reduce.h",  "scan.h",
      "softmax.h",    "norm.h",    "loss.h",   "shape.h",      "join.h",    "rearrange.h",
      "index.h",      "sort.h",    "matmul.h", "einsum.h",     "conv.h",    "pool.h",
      "embedding.h",  "create.h",  "copy.h",   "random.h",     "dropout.h", "linalg.h",
      "attention.h",  "rnn.h",     "fft.h",    "stft.h",       "special.h", "statistics.h",
      "parts.h",      "names.h"};
  return headers;
}

namespace {

/// Second names and in-place forms, which one test compares with what they stand for.
const char* const kCompared =
    "absolute absolute_ negative negative_ fix fix_ arccos arccos_ arcsin arcsin_ arctan "
    "arctan_ arctan2 arctan2_ arccosh arccosh_ arcsinh arcsinh_ arctanh arctanh_ "
    "subtract subtract_ multiply multiply_ divide divide_ true_divide true_divide_ clip_ "
    "greater greater_ greater_equal greater_equal_ less less_ less_equal less_equal_ "
    "not_equal not_equal_ argwhere swapdims_ swapaxes_ adjoint mH is_same_size atan2_ "
    "hypot_ eq_ ne_ lt_ le_ gt_ ge_ logical_and_ logical_or_ logical_xor_ logical_not_ "
    "bitwise_and_ bitwise_or_ bitwise_xor_ bitwise_not_ cumsum_ cumprod_ t_ tril_ triu_ "
    "addmv_ baddbmm_ addbmm_ addr_ gcd_ lcm_ bitwise_left_shift_ bitwise_right_shift_ "
    "float_power_ fill_diagonal_";

/// Operations without a row, and where they are tested instead.
const std::map<std::string, std::string>& exceptions() {
  const std::string drawn =
      "drawn numbers have no reference: random_test.cpp, random_device_test.cpp";
  static std::map<std::string, std::string> list = {
      {"equal", "answers for a whole tensor: compare_test.cpp"},
      {"allclose", "answers for a whole tensor: compare_test.cpp"},
      {"view_as_real", "complex: shape_test.cpp"},
      {"view_as_complex", "complex: shape_test.cpp"},
      {"real", "complex: shape_test.cpp"},
      {"imag", "complex: shape_test.cpp"},
      {"unsqueeze_", "changes the shape of its input: shape_test.cpp, rearrange_test.cpp"},
      {"squeeze_", "changes the shape of its input: shape_test.cpp, rearrange_test.cpp"},
      {"meshgrid", "any number of inputs: join_test.cpp, rearrange_test.cpp"},
      {"nonzero", "the values decide the shape: index_test.cpp"},
      {"unique", "the values decide the shape: sort_test.cpp"},
      {"_unique2", "another name of unique"},
      {"unique_consecutive", "the values decide the shape: sort_test.cpp"},
      {"bincount", "the values decide the shape: sort_test.cpp"},
      {"searchsorted", "takes sorted input: sort_test.cpp"},
      {"bucketize", "searchsorted with its arguments swapped: sort_test.cpp"},
      {"one_hot", "the values decide the shape: index_test.cpp"},
      {"from_blob", "memory of the caller: create_test.cpp"},
      {"make_complex", "complex: create_test.cpp"},
      {"polar", "complex: create_test.cpp"},
      {"rand", drawn},
      {"rand_like", drawn},
      {"randn", drawn},
      {"randn_like", drawn},
      {"randint", drawn},
      {"randint_like", drawn},
      {"randperm", drawn},
      {"bernoulli", drawn},
      {"normal", drawn},
      {"multinomial", drawn},
      {"uniform_", drawn},
      {"normal_", drawn},
      {"random_", drawn},
      {"bernoulli_", drawn},
      {"exponential_", drawn},
      {"dropout", drawn},
      {"dropout_", drawn},
      {"feature_dropout", drawn},
      {"alpha_dropout", drawn},
      {"feature_alpha_dropout", drawn},
      {"geometric_", drawn},
      {"cauchy_", drawn},
      {"log_normal_", drawn},
      {"is_nonzero", "answers for a whole tensor: more_ops_test.cpp"},
  };
  std::istringstream compared(kCompared);
  for (std::string name; compared >> name;)
    list[name] = "compared with its equal: more_ops_test.cpp";
  return list;
}

std::string read(const std::string& path) {
  std::ifstream in(TAEDA_SOURCE_DIR "/" + path);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Names of the functions that a header declares at namespace scope.
std::set<std::string> functions_of(const std::string& header) {
  const std::string text = read("taeda/ops/" + header);
  static const std::regex declaration(R"(\n(?:inline )?[A-Za-z_][\w:<>, ]*[&]? (\w+)\()");
  std::set<std::string> names;
  for (std::sregex_iterator it(text.begin(), text.end(), declaration), end; it != end; ++it) {
    const std::string name = (*it)[1];
    if (name.rfind("operator", 0) != 0) names.insert(name);
  }
  return names;
}

/// Names of the methods that tensor_*.inc list under a header's family.
std::set<std::string> methods_of(const std::string& header) {
  std::istringstream lines(read("taeda/tensor/tensor_methods.inc") +
                           read("taeda/tensor/tensor_names.inc") +
                           read("taeda/tensor/tensor_more.inc"));
  static const std::regex family(R"(\(ops/(\w+\.h))"), method(R"(^[A-Za-z_][\w:<>]*[&]? (\w+)\()");
  std::set<std::string> names;
  std::string line, current;
  for (std::smatch m; std::getline(lines, line);) {
    if (line.rfind("//", 0) == 0 && line.rfind("///", 0) != 0 && std::regex_search(line, m, family))
      current = m[1];
    if (current == header && std::regex_search(line, m, method) &&
        m.str(1).rfind("operator", 0) != 0)
      names.insert(m[1]);
  }
  return names;
}

TEST(OpTableCoverage, EveryOperationHasARow) {
  std::set<std::string> covered;
  for (const OpRow& row : all_rows()) {
    const std::string name = row.name.substr(0, row.name.find('.'));
    covered.insert(name);
    if (row.in_place) covered.insert(name + "_");
    covered.insert(row.covers.begin(), row.covers.end());
  }
  for (const std::string& header : covered_headers()) {
    std::set<std::string> names = functions_of(header);
    names.merge(methods_of(header));
    EXPECT_GE(names.size(), 1u) << header << " was not understood";
    for (const std::string& name : names)
      EXPECT_TRUE(covered.count(name) || exceptions().count(name))
          << name << " (" << header << ") has no row in tests/ops/rows_*.cpp";
  }
}

/// An exception that names test files is called in one of them.
TEST(OpTableCoverage, ExceptionsAreTestedWhereTheySay) {
  static const std::regex file(R"(\w+_test\.cpp)");
  for (const auto& [name, reason] : exceptions()) {
    std::string text;
    for (std::sregex_iterator it(reason.begin(), reason.end(), file), end; it != end; ++it)
      text += read("tests/ops/" + it->str());
    if (text.empty()) continue;
    EXPECT_TRUE(std::regex_search(text, std::regex("\\b" + name + "\\(")))
        << name << " is not called where it is said to be tested: " << reason;
  }
}

TEST(OpTableCoverage, NamesAreUnique) {
  std::set<std::string> names;
  for (const OpRow& row : all_rows())
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " appears twice";
}

}  // namespace
}  // namespace taeda::testing
