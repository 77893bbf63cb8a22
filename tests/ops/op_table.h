// The op table: one row says what an operation is, and op_table.cpp checks it in every way that all
// operations are checked. See README.md for how to add a row.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::testing {

using Tensors = std::vector<Tensor>;

/// The reference's idea of a tensor: row-major doubles. Its arithmetic is written in the tests
/// alone.
struct Array {
  std::vector<int64_t> sizes;
  std::vector<double> data;

  int64_t numel() const { return static_cast<int64_t>(data.size()); }
  double& at(std::initializer_list<int64_t> index);
  double at(std::initializer_list<int64_t> index) const {
    return const_cast<Array*>(this)->at(index);
  }
};
using Arrays = std::vector<Array>;

/// What a tensor's elements are, read through double.
Array to_array(const Tensor& t);
/// `data` in shape `sizes`.
Array array(std::vector<int64_t> sizes, std::vector<double> data);

/// One input of a sample. `Real` takes the dtype under test and, in gradient checks, a gradient;
/// `Mask` is bool; `Index` is int64 in [low, high).
struct Arg {
  enum class Kind { Real, Mask, Index };
  std::vector<int64_t> sizes;
  double low = -2, high = 2;
  Kind kind = Kind::Real;
};
Arg real(std::vector<int64_t> sizes, double low = -2, double high = 2);
Arg mask(std::vector<int64_t> sizes);
Arg index(std::vector<int64_t> sizes, int64_t below);
using Sample = std::vector<Arg>;

enum DtypeSet : unsigned {
  kFloats = 1,  // float64, float32, float16, bfloat16
  kInts = 2,    // int64, int32, int16, int8, uint8
  kBools = 4,
  kReals = kFloats | kInts,
  kWide = 8,  // float64 and float32 only, where 16-bit results mean little
};

struct OpRow {
  /// The operation's public name; a variant follows after a dot: "add", "add.scalar".
  std::string name;
  std::function<Tensors(const Tensors&)> call;
  std::vector<Sample> samples;
  std::function<Arrays(const Arrays&)> reference;

  unsigned dtypes = kFloats;
  /// Changes its first input and returns it.
  std::function<Tensor(const Tensors&)> in_place = nullptr;
  bool differentiable = true;
  bool second_derivative = true;
  /// Factor on the usual tolerances of comparisons with the reference.
  double tolerance = 1;
  /// Also compare at zeros, infinities, NaN and extreme numbers (elementwise rows).
  bool specials = false;
  /// Other public names that this row stands for.
  std::vector<std::string> covers = {};
  /// Why the operation cannot run on a device of this machine, a library that is missing; empty if
  /// it can.
  std::function<std::string(Device)> unavailable = nullptr;
};

/// An elementwise operation: `formula(args)` gives one element from the elements of the inputs.
struct Elementwise {
  std::string name;
  std::function<Tensor(const Tensors&)> call;
  std::function<double(const double* args)> formula;
  /// One per input: range of its values (`sizes` are ignored).
  std::vector<Arg> args = {real({})};
  unsigned dtypes = kFloats;
  std::function<Tensor(const Tensors&)> in_place = nullptr;
  bool differentiable = true;
  bool second_derivative = true;
  double tolerance = 1;
  bool specials = true;
  std::vector<std::string> covers = {};
};

/// The row of an elementwise operation: 0-dim, empty, long, and, with several inputs, broadcast
/// shapes.
OpRow elementwise(const Elementwise& op);

/// Rows by family, each in rows_<family>.cpp. Every declared operation has one, or is named in
/// op_table_coverage_test.cpp.
std::vector<OpRow> arithmetic_rows();
std::vector<OpRow> compare_rows();
std::vector<OpRow> unary_rows();
std::vector<OpRow> activation_rows();
std::vector<OpRow> shape_rows();
std::vector<OpRow> index_rows();
std::vector<OpRow> reduce_rows();
std::vector<OpRow> norm_rows();
std::vector<OpRow> loss_rows();
std::vector<OpRow> linalg_rows();
std::vector<OpRow> complex_matrix_rows();
std::vector<OpRow> matmul_rows();
std::vector<OpRow> attention_rows();
std::vector<OpRow> conv_rows();
std::vector<OpRow> pool_rows();
std::vector<OpRow> rnn_rows();
std::vector<OpRow> create_rows();
std::vector<OpRow> fft_rows();
std::vector<OpRow> special_rows();
std::vector<OpRow> special_function_rows();
std::vector<OpRow> parts_rows();
std::vector<OpRow> alignment_rows();
std::vector<OpRow> selection_rows();
std::vector<OpRow> matrix_form_rows();
std::vector<OpRow> general_rows();
std::vector<OpRow> sparse_rows();
std::vector<OpRow> interpolate_rows();

const std::vector<OpRow>& all_rows();

}  // namespace taeda::testing
