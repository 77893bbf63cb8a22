#include <map>

#include "taeda/ops/linalg/einsum.h"
#include "taeda/ops/linalg/matmul.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

/// A sum over all values of all letters: "ij,jk->ik" of the inputs, by its definition.
Array contract(const std::string& equation, const Arrays& in) {
  const size_t arrow = equation.find("->");
  const std::string output = equation.substr(arrow + 2);
  std::vector<std::string> names{""};
  for (const char c : equation.substr(0, arrow)) {
    if (c == ',')
      names.emplace_back();
    else
      names.back() += c;
  }
  std::map<char, int64_t> size, at;
  for (size_t i = 0; i < names.size(); ++i)
    for (size_t d = 0; d < names[i].size(); ++d)
      size[names[i][d]] = in[i].sizes[d], at[names[i][d]] = 0;
  Array out;
  int64_t total = 1, count = 1;
  for (const char c : output) out.sizes.push_back(size[c]), total *= size[c];
  for (const auto& [letter, n] : size) count *= n;
  out.data.assign(static_cast<size_t>(total), 0);
  const auto offset = [&](const std::string& letters) {
    int64_t index = 0;
    for (const char c : letters) index = index * size[c] + at[c];
    return static_cast<size_t>(index);
  };
  for (int64_t step = 0; step < count; ++step) {
    double term = 1;
    for (size_t i = 0; i < names.size(); ++i) term *= in[i].data[offset(names[i])];
    out.data[offset(output)] += term;
    for (auto& [letter, value] : at) {
      if (++value < size[letter]) break;
      value = 0;
    }
  }
  return out;
}

/// b + the product; b has the trailing dimensions of it.
Array plus(Array product, const Array& b, double beta = 1, double alpha = 1) {
  for (size_t i = 0; i < product.data.size(); ++i)
    product.data[i] = alpha * product.data[i] + beta * b.data[i % b.data.size()];
  return product;
}

OpRow product_row(std::string name, std::string equation, std::vector<Sample> samples,
                  std::function<Tensor(const Tensors&)> call) {
  return {.name = std::move(name),
          .call = [call](const Tensors& t) { return Tensors{call(t)}; },
          .samples = std::move(samples),
          .reference = [equation](const Arrays& a) { return Arrays{contract(equation, a)}; },
          .dtypes = kReals,
          .tolerance = 8};
}

std::vector<OpRow> matrix_products() {
  return {
      product_row("mm", "ij,jk->ik",
                  {{real({3, 4}), real({4, 5})},
                   {real({1, 7}), real({7, 1})},
                   {real({2, 0}), real({0, 3})},
                   {real({17, 9}), real({9, 21})}},
                  [](const Tensors& t) { return t[0].mm(t[1]); }),
      product_row("mv", "ij,j->i", {{real({3, 4}), real({4})}, {real({19, 6}), real({6})}},
                  [](const Tensors& t) { return t[0].mv(t[1]); }),
      product_row("bmm", "bij,bjk->bik",
                  {{real({2, 3, 4}), real({2, 4, 5})}, {real({3, 1, 2}), real({3, 2, 1})}},
                  [](const Tensors& t) { return t[0].bmm(t[1]); }),
      product_row("dot", "i,i->", {{real({5}), real({5})}, {real({0}), real({0})}},
                  [](const Tensors& t) { return t[0].dot(t[1]); }),
      product_row("vdot", "i,i->", {{real({7}), real({7})}},
                  [](const Tensors& t) { return vdot(t[0], t[1]); }),
      product_row("matmul", "abij,abjk->abik", {{real({2, 3, 2, 4}), real({2, 3, 4, 3})}},
                  [](const Tensors& t) { return t[0].matmul(t[1]); }),
      product_row("matmul.fold", "abij,jk->abik", {{real({2, 1, 3, 4}), real({4, 2})}},
                  [](const Tensors& t) { return t[0].matmul(t[1]); }),
      product_row("matmul.left", "ij,bjk->bik", {{real({3, 4}), real({2, 4, 3})}},
                  [](const Tensors& t) { return t[0].matmul(t[1]); }),
      product_row("matmul.row", "j,bjk->bk", {{real({4}), real({2, 4, 3})}},
                  [](const Tensors& t) { return t[0].matmul(t[1]); }),
      product_row("matmul.column", "bij,j->bi", {{real({2, 3, 4}), real({4})}},
                  [](const Tensors& t) { return t[0].matmul(t[1]); }),
      product_row("matmul.vectors", "i,i->", {{real({6}), real({6})}},
                  [](const Tensors& t) { return t[0].matmul(t[1]); }),
      product_row("linear", "bij,oj->bio", {{real({2, 3, 4}), real({5, 4})}},
                  [](const Tensors& t) { return linear(t[0], t[1]); }),
      product_row("linear.vector", "j,oj->o", {{real({4}), real({5, 4})}},
                  [](const Tensors& t) { return linear(t[0], t[1]); }),
      product_row("einsum", "ij,jk->ik", {{real({3, 4}), real({4, 5})}},
                  [](const Tensors& t) {
                    return einsum("ij,jk", {t[0], t[1]});
                  }),
      product_row("einsum.batch", "bij,bkj->bik", {{real({2, 3, 4}), real({2, 5, 4})}},
                  [](const Tensors& t) {
                    return einsum("...ij,...kj->...ik", {t[0], t[1]});
                  }),
      product_row("einsum.diagonal", "ii->i", {{real({4, 4})}},
                  [](const Tensors& t) { return einsum("ii->i", {t[0]}); }),
      product_row("einsum.trace", "iij->j", {{real({3, 3, 2})}},
                  [](const Tensors& t) { return einsum("iij", {t[0]}); }),
      product_row("einsum.permute", "abc->cab", {{real({2, 3, 4})}},
                  [](const Tensors& t) { return einsum("a b c -> c a b", {t[0]}); }),
      product_row("einsum.three", "i,ij,jk->k", {{real({3}), real({3, 4}), real({4, 2})}},
                  [](const Tensors& t) {
                    return einsum("i,ij,jk->k", {t[0], t[1], t[2]});
                  }),
      product_row("einsum.lonely_sums", "aib,ckb->bk", {{real({2, 3, 4}), real({2, 3, 4})}},
                  [](const Tensors& t) {
                    return einsum("aib,ckb->bk", {t[0], t[1]});
                  }),
      product_row("tensordot", "iab,abk->ik", {{real({2, 3, 4}), real({3, 4, 2})}},
                  [](const Tensors& t) { return tensordot(t[0], t[1]); }),
      product_row("tensordot.dims", "aib,kab->ik", {{real({3, 2, 4}), real({2, 3, 4})}},
                  [](const Tensors& t) {
                    return tensordot(t[0], t[1], {0, -1}, {1, 2});
                  }),
  };
}

std::vector<OpRow> plain_products() {
  OpRow outer_row = product_row("outer", "i,j->ij", {{real({3}), real({4})}},
                                [](const Tensors& t) { return t[0].outer(t[1]); });
  outer_row.covers = {"ger"};
  OpRow kron_row = product_row("kron", "ij,kl->ikjl", {{real({2, 3}), real({3, 2})}},
                               [](const Tensors& t) { return kron(t[0], t[1]); });
  kron_row.reference = [](const Arrays& a) {
    Array out = contract("ij,kl->ikjl", a);
    out.sizes = {out.sizes[0] * out.sizes[1], out.sizes[2] * out.sizes[3]};
    return Arrays{out};
  };
  return {outer_row, kron_row};
}

/// beta 2, alpha 3.
OpRow scaled_row(std::string name, std::string equation, std::vector<Sample> samples,
                 std::function<Tensor(const Tensors&)> call) {
  OpRow row = product_row(std::move(name), equation, std::move(samples), std::move(call));
  row.reference = [equation](const Arrays& a) {
    return Arrays{plus(contract(equation, {a[1], a[2]}), a[0], 2, 3)};
  };
  row.dtypes = kFloats;
  row.tolerance = 16;
  return row;
}

std::vector<OpRow> scaled_products() {
  std::vector<OpRow> rows = {
      scaled_row(
          "addmm", "ij,jk->ik",
          {{real({3, 5}), real({3, 4}), real({4, 5})}, {real({5}), real({3, 4}), real({4, 5})}},
          [](const Tensors& t) { return t[0].addmm(t[1], t[2], 2, 3); }),
      scaled_row("addmv", "ij,j->i",
                 {{real({3}), real({3, 4}), real({4})}, {real({1}), real({3, 4}), real({4})}},
                 [](const Tensors& t) { return t[0].addmv(t[1], t[2], 2, 3); }),
      scaled_row("baddbmm", "bij,bjk->bik",
                 {{real({2, 3, 5}), real({2, 3, 4}), real({2, 4, 5})},
                  {real({5}), real({2, 3, 4}), real({2, 4, 5})}},
                 [](const Tensors& t) { return t[0].baddbmm(t[1], t[2], 2, 3); }),
      scaled_row("addbmm", "bij,bjk->ik", {{real({3, 5}), real({2, 3, 4}), real({2, 4, 5})}},
                 [](const Tensors& t) { return addbmm(t[0], t[1], t[2], 2, 3); }),
      scaled_row("addr", "i,j->ij", {{real({3, 4}), real({3}), real({4})}},
                 [](const Tensors& t) { return addr(t[0], t[1], t[2], 2, 3); }),
  };
  OpRow in_place =
      scaled_row("addmm.in_place", "ij,jk->ik", {{real({3, 5}), real({3, 4}), real({4, 5})}},
                 [](const Tensors& t) { return t[0].addmm(t[1], t[2], 2, 3); });
  in_place.in_place = [](const Tensors& t) { return t[0].addmm_(t[1], t[2], 2, 3); };
  rows.push_back(in_place);
  OpRow bias = product_row("linear.bias", "bj,oj->bo", {{real({3, 4}), real({5, 4}), real({5})}},
                           [](const Tensors& t) { return linear(t[0], t[1], t[2]); });
  bias.reference = [](const Arrays& a) {
    return Arrays{plus(contract("bj,oj->bo", {a[0], a[1]}), a[2])};
  };
  bias.dtypes = kFloats;
  rows.push_back(bias);
  return rows;
}

}  // namespace

std::vector<OpRow> matmul_rows() {
  std::vector<OpRow> all;
  for (const auto& part : {matrix_products(), plain_products(), scaled_products()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace taeda::testing
