// Rules of matrices: products, decompositions, spectra.
#include "taeda/ops/linalg/einsum.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/map/rules.h"

namespace taeda::inline v0_2::map_rules {

namespace {

using Kind = MapArgument::Kind;

/// A factor of a product of which the samples may be the first dimension.
struct Factor {
  Tensor t;
  bool mapped;
  int64_t dims;

  static Factor of(MapCall& call, size_t i) {
    const MapOperand& o = *call.operand(i);
    return {*o.tensor, o.mapped, o.dims};
  }
  void add_dim(int64_t at) {
    t = t.unsqueeze(at);
    ++dims;
  }
  void align(int64_t to) {
    MapOperand o{&t, mapped, dims};
    MapCall::align(o, to);
    dims = std::max(dims, mapped ? to : dims);
  }
};

/// a b of a sample, as torch.matmul.
Tensor product(Factor a, Factor b) {
  // One matrix for all samples: their rows are one matrix.
  if (!b.mapped && b.dims <= 2) return a.t.matmul(b.t);
  if (!a.mapped && a.dims == 2 && b.dims == 1) return b.t.matmul(a.t.t());
  const bool row = a.dims == 1, column = b.dims == 1;
  if (row) a.add_dim(-2);
  if (column) b.add_dim(-1);
  const int64_t dims = std::max(a.dims, b.dims);
  a.align(dims);
  b.align(dims);
  Tensor out = a.t.matmul(b.t);
  if (column) out = out.squeeze(-1);
  return row ? out.squeeze(column ? -1 : -2) : out;
}

bool matmul(MapCall& call) {
  call.results = {product(Factor::of(call, 0), Factor::of(call, 1))};
  return true;
}

bool linear(MapCall& call) {
  if (!call.is_mapped(1) && !call.is_mapped(2)) return as_it_is(call);
  Factor x = Factor::of(call, 0), w = Factor::of(call, 1);
  if (w.dims != 2) return false;
  w.t = w.t.transpose(-2, -1);
  Tensor out = product(x, w);
  if (const MapOperand* bias = call.operand(2)) {
    Factor b{*bias->tensor, bias->mapped, bias->dims};
    b.align(x.dims);
    out = out.add(b.t);
  }
  call.results = {out};
  return true;
}

/// beta * self + alpha * product.
bool add_scaled(MapCall& call, const Tensor& made, int64_t dims) {
  const Scalar &beta = call.at<Scalar>(3), &alpha = call.at<Scalar>(4);
  Tensor out = alpha.toComplexDouble() == 1.0 ? made : made.mul(alpha);
  if (beta.toComplexDouble() != 0.0) {
    Factor self = Factor::of(call, 0);
    self.align(dims);
    out = beta.toComplexDouble() == 1.0 ? out.add(self.t) : out.add(self.t.mul(beta));
  }
  call.give(out);
  return true;
}

bool add_product(MapCall& call) {
  const Factor a = Factor::of(call, 1), b = Factor::of(call, 2);
  if (call.name().starts_with("addbmm"))
    return add_scaled(call, product(a, b).sum(IntArrayRef(a.mapped || b.mapped)), 2);
  return add_scaled(call, product(a, b), std::max(a.dims, b.dims) - (b.dims == 1 ? 1 : 0));
}

bool add_outer(MapCall& call) {
  Factor a = Factor::of(call, 1), b = Factor::of(call, 2);
  if (a.dims != 1 || b.dims != 1) return false;
  a.add_dim(-1);
  b.add_dim(-2);
  return add_scaled(call, a.t.mul(b.t), 2);
}

/// A letter that the equation does not use.
char free_letter(std::string_view equation) {
  for (char c = 'Z'; c >= 'A'; --c)
    if (equation.find(c) == equation.npos) return c;
  for (char c = 'a'; c <= 'z'; ++c)
    if (equation.find(c) == equation.npos) return c;
  return 0;
}

/// What an equation without "->" leaves: the letters that it has once, sorted.
std::string implicit_output(const std::string& inputs) {
  std::string out = inputs.find("...") == inputs.npos ? "" : "...";
  for (int c = 'A'; c <= 'z'; ++c)
    if (std::isalpha(c) && std::count(inputs.begin(), inputs.end(), static_cast<char>(c)) == 1)
      out += static_cast<char>(c);
  return out;
}

bool einsum(MapCall& call) {
  std::string equation;
  for (const char c : call.at<std::string_view>(0))
    if (c != ' ') equation += c;
  const char letter = free_letter(equation);
  if (!letter) return false;
  const size_t arrow = equation.find("->");
  const std::string inputs = equation.substr(0, arrow);
  const std::string output =
      arrow == equation.npos ? implicit_output(inputs) : equation.substr(arrow + 2);
  std::string mapped;
  size_t at = 0, operand = 0;
  while (at <= inputs.size() && operand < call.operands.size()) {
    const size_t end = std::min(inputs.find(',', at), inputs.size());
    if (operand) mapped += ',';
    if (call.operands[operand].mapped) mapped += letter;
    mapped += inputs.substr(at, end - at);
    at = end + 1;
    ++operand;
  }
  std::vector<Tensor> operands;
  for (const MapOperand& o : call.operands) operands.push_back(*o.tensor);
  call.results = {taeda::einsum(mapped + "->" + letter + output, operands)};
  return true;
}

/// A matrix of each sample, and one more or a vector beside it.
bool solve(MapCall& call) {
  const int64_t a = call.operand(0)->dims, b = call.operand(1)->dims;
  if (a != b && !(a == 2 && b == 1)) return false;
  call.expand_all();
  call.results = call.run();
  return true;
}

/// The numbers that there are not for all samples: an empty list for each.
bool least_squares(MapCall& call) {
  if (!solve(call)) return false;
  for (Tensor& r : call.results)
    if (r.dim() == 1 && r.numel() == 0) r = r.new_zeros({call.samples, 0});
  return true;
}

bool lu_solve(MapCall& call) {
  const int64_t dims = std::max(call.operand(0)->dims, call.operand(2)->dims);
  if (call.operand(0)->dims != call.operand(1)->dims + 1) return false;
  call.expand_all();
  for (const size_t i : {0, 1, 2}) MapCall::align(*call.operand(i), i == 1 ? dims - 1 : dims);
  call.results = call.run();
  return true;
}

bool one_kind(MapCall& call) {
  for (const MapOperand& o : call.operands)
    if (o.dims != call.operands[0].dims) return false;
  return in_front(call);
}

/// Transforms along one dimension or along several.
template <size_t At>
bool spectrum(MapCall& call) {
  const int64_t dims = call.operands[0].dims;
  if (dims == 0) return false;
  if (call.is(At, Kind::Int)) {
    call.at<int64_t>(At) = behind_samples(call.at<int64_t>(At), dims);
  } else if (call.is(At, Kind::Ints)) {
    IntArrayRef& list = call.at<IntArrayRef>(At);
    list = call.keep(behind_samples(list, dims));
  } else {
    OptionalIntArrayRef& list = call.at<OptionalIntArrayRef>(At);
    const OptionalIntArrayRef& sizes = call.at<OptionalIntArrayRef>(At - 1);
    DimVector all;
    if (list.has_value())
      all = behind_samples(*list, dims);
    else
      for (int64_t d = sizes.has_value() ? dims - static_cast<int64_t>((*sizes).size()) : 0;
           d < dims; ++d)
        all.push_back(d + 1);
    list = call.keep(std::move(all));
  }
  call.results = call.run();
  return true;
}

}  // namespace

void add_products(Table& table) {
  add(table, matmul, "matmul mm mv bmm dot");
  add(table, linear, "linear");
  add(table, add_product, "addmm addmv baddbmm addbmm");
  add(table, add_outer, "addr");
  add(table, einsum, "einsum");
  add(table, as_it_is,
      "linalg_cholesky linalg_cholesky_ex linalg_det linalg_eig linalg_eigh linalg_eigvals "
      "linalg_eigvalsh linalg_inv linalg_inv_ex linalg_ldl_factor linalg_ldl_factor_ex linalg_lu "
      "linalg_lu_factor linalg_lu_factor_ex linalg_matrix_rank linalg_pinv linalg_qr "
      "linalg_slogdet logdet linalg_matrix_exp linalg_svd linalg_svdvals cholesky_inverse geqrf");
  add(table, solve, "linalg_solve linalg_solve_ex");
  add(table, least_squares, "linalg_lstsq");
  add(table, lu_solve, "linalg_lu_solve");
  add(table, one_kind,
      "linalg_solve_triangular cholesky_solve triangular_solve cdist ormqr linalg_ldl_solve");
  add(table, spectrum<2>,
      "fft_fft fft_ifft fft_rfft fft_irfft fft_hfft fft_ihfft fft_fft2 fft_ifft2 fft_rfft2 "
      "fft_irfft2 fft_hfft2 fft_ihfft2 fft_fftn fft_ifftn fft_rfftn fft_irfftn fft_hfftn "
      "fft_ihfftn");
}

}  // namespace taeda::inline v0_2::map_rules
