// Every public operation has a row in the op table, or a reason not to have one.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "taeda/ops/operations.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

/// Operations without a row, and where they are tested instead.
const std::map<std::string, std::string>& exceptions() {
  const std::string drawn =
      "drawn numbers have no reference: random_test.cpp, random_device_test.cpp";
  const std::string made = "drawn numbers have no reference: random_forms_test.cpp";
  const std::string parts = "asks for parts of sparse tensors, or changes them: sparse_test.cpp";
  static std::map<std::string, std::string> list = {
      {"is_coalesced", parts},
      {"indices", parts},
      {"_indices", parts},
      {"crow_indices", "parts of sparse matrices: sparse_csr_test.cpp"},
      {"col_indices", "parts of sparse matrices: sparse_csr_test.cpp"},
      {"_values", parts},
      {"sparse_dim", parts},
      {"dense_dim", parts},
      {"_dimI", parts},
      {"_dimV", parts},
      {"_nnz", parts},
      {"_coalesced_", parts},
      {"sparse_resize_", parts},
      {"sparse_resize_and_clear_", parts},
      {"resize_as_sparse_", parts},
      {"copy_sparse_to_sparse_", parts},
      {"_sparse_coo_tensor_unsafe", parts},
      {"uniform", made},
      {"normal_functional", made},
      {"exponential", made},
      {"cauchy", made},
      {"geometric", made},
      {"log_normal", made},
      {"random", made},
      {"poisson", made},
      {"binomial", made},
      {"rrelu", made},
      {"rrelu_", made},
      {"rrelu_with_noise", made},
      {"rrelu_with_noise_", made},
      {"feature_dropout_", made},
      {"alpha_dropout_", made},
      {"feature_alpha_dropout_", made},
      {"nonzero_numpy", "the values decide the shape: index_test.cpp"},
      {"from_file", "memory of a file: from_file_test.cpp"},
      {"equal", "answers for a whole tensor: compare_test.cpp"},
      {"allclose", "answers for a whole tensor: compare_test.cpp"},
      {"view_as_real", "complex: shape_test.cpp"},
      {"view_as_complex", "complex: shape_test.cpp"},
      {"real", "complex: shape_test.cpp"},
      {"imag", "complex: shape_test.cpp"},
      {"meshgrid", "any number of inputs: join_test.cpp, rearrange_test.cpp"},
      {"nonzero", "the values decide the shape: index_test.cpp"},
      {"unique", "the values decide the shape: sort_test.cpp"},
      {"_unique2", "another name of unique"},
      {"unique_consecutive", "the values decide the shape: sort_test.cpp"},
      {"unique_dim", "the values decide the shape: alignment_test.cpp"},
      {"unique_dim_consecutive", "the values decide the shape: alignment_test.cpp"},
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
      {"is_same_size", "answers for a whole tensor: forms_and_values_test.cpp"},
      {"fill_diagonal_", "changes its input: forms_and_values_test.cpp"},
      {"true_divide", "compared with its equal: forms_and_values_test.cpp"},
      {"adjoint", "complex: forms_and_values_test.cpp"},
      {"mH", "complex: forms_and_values_test.cpp"},
      {"new_empty_strided", "not initialised: overloads_test.cpp"},
      {"numpy_T", "permute with a list: overloads_test.cpp"},
      {"matrix_H", "complex: overloads_test.cpp"},
      {"is_nonzero", "answers for a whole tensor: forms_and_values_test.cpp"},
  };
  return list;
}

std::string read(const std::string& path) {
  std::ifstream in(TAEDA_SOURCE_DIR "/" + path);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(OpTableCoverage, EveryOperationHasARow) {
  std::set<std::string> covered;
  for (const OpRow& row : all_rows()) {
    const std::string name = row.name.substr(0, row.name.find('.'));
    covered.insert(name);
    if (row.in_place) covered.insert(name + "_");
    covered.insert(row.covers.begin(), row.covers.end());
  }
  for (const Operation& o : operations()) {
    const std::string name(o.name);
    EXPECT_TRUE(covered.count(name) || exceptions().count(name))
        << name << " (" << o.family << ") has no row in tests/ops/rows_*.cpp";
  }
}

/// Rows and exceptions are of operations that exist.
TEST(OpTableCoverage, EveryRowIsOfAnOperation) {
  std::set<std::string> names;
  for (const Operation& o : operations()) {
    const std::string name(o.name);
    names.insert({name, name + "_", std::string(o.space) + "_" + name});
    std::istringstream more{std::string(o.second_names)};
    for (std::string second; more >> second;) names.insert({second, second + "_"});
  }
  for (const auto& [name, reason] : exceptions()) EXPECT_TRUE(names.count(name)) << name;
  for (const OpRow& row : all_rows())
    for (const std::string& name : row.covers) EXPECT_TRUE(names.count(name)) << name;
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
