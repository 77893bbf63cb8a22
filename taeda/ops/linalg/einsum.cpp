#include "taeda/ops/linalg/einsum.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "bodies/einsum.h"
#include "taeda/base/error.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/tensor/promote.h"

namespace taeda::inline v0_2 {

namespace {

constexpr int kLetters = 52;
/// In a list of subscripts: the dimensions that "..." stands for.
constexpr int kEllipsis = kLetters;

using Subscripts = SmallVector<int, 8>;

int letter_number(char c) {
  return std::isupper(static_cast<unsigned char>(c)) ? c - 'A' : c - 'a' + 26;
}
char letter(int number) {
  return static_cast<char>(number < 26 ? 'A' + number : 'a' + number - 26);
}

/// The equation as written: subscripts of each operand, and of the output if it is given.
struct Equation {
  std::vector<Subscripts> operands;
  Subscripts output;
  bool has_output = false;

  Equation(const std::string& text, size_t operand_count) {
    const size_t arrow = text.find("->");
    has_output = arrow != std::string::npos;
    parse_operands(text, has_output ? arrow : text.size(), operand_count);
    if (has_output) parse_output(text, arrow + 2);
  }

 private:
  /// Whether "..." stands at i; `where` names the place in errors.
  static bool is_ellipsis(const std::string& text, size_t i, bool seen, const std::string& where) {
    if (text[i] != '.') return false;
    TAEDA_CHECK(!seen, "einsum(): found '.' for ", where,
                " for which an ellipsis was already found");
    TAEDA_CHECK(text.compare(i, 3, "...") == 0, "einsum(): found '.' for ", where,
                " that is not part of any ellipsis");
    return true;
  }

  void parse_operands(const std::string& text, size_t end, size_t operand_count) {
    operands.emplace_back();
    bool ellipsis = false;
    for (size_t i = 0; i < end; ++i) {
      const char c = text[i];
      if (c == ' ') continue;
      if (c == ',') {
        operands.emplace_back();
        ellipsis = false;
        TAEDA_CHECK(operands.size() <= operand_count,
                    "einsum(): fewer operands were provided than specified in the equation");
      } else if (is_ellipsis(text, i, ellipsis, detail::concat("operand ", operands.size() - 1))) {
        operands.back().push_back(kEllipsis);
        ellipsis = true;
        i += 2;
      } else {
        check_letter(text, i);
        operands.back().push_back(letter_number(c));
      }
    }
    TAEDA_CHECK(operands.size() >= operand_count,
                "einsum(): more operands were provided than specified in the equation");
  }
  void parse_output(const std::string& text, size_t begin) {
    bool ellipsis = false;
    for (size_t i = begin; i < text.size(); ++i) {
      if (text[i] == ' ') continue;
      if (is_ellipsis(text, i, ellipsis, "output")) {
        output.push_back(kEllipsis);
        ellipsis = true;
        i += 2;
        continue;
      }
      check_letter(text, i);
      const int number = letter_number(text[i]);
      TAEDA_CHECK(std::find(output.begin(), output.end(), number) == output.end(),
                  "einsum(): output subscript ", text[i], " appears more than once in the output");
      output.push_back(number);
    }
  }
  static void check_letter(const std::string& text, size_t i) {
    TAEDA_CHECK(std::isalpha(static_cast<unsigned char>(text[i])),
                "einsum(): invalid subscript given at index ", i,
                " in the equation string, subscripts must be in [a-zA-Z]");
  }
};

/// Where each subscript lies in the common space of dimensions: the output's come first.
struct Space {
  std::array<int64_t, kLetters> place;
  int64_t ellipsis_place = 0, ellipsis_dims = 0;
  int64_t output_dims = 0, dims = 0;

  Space(const Equation& equation, TensorList operands) {
    place.fill(-1);
    std::array<int, kLetters> count{};
    for (size_t i = 0; i < operands.size(); ++i)
      measure(equation.operands[i], operands[i], i, count);
    if (equation.has_output) {
      bool placed = false;
      for (const int s : equation.output) {
        if (s == kEllipsis)
          placed = put_ellipsis();
        else
          put(s, count);
      }
      output_dims = dims;
      if (!placed) put_ellipsis();  // summed over
    } else {
      put_ellipsis();
      for (int s = 0; s < kLetters; ++s)
        if (count[static_cast<size_t>(s)] == 1) put(s, count);
      output_dims = dims;
    }
    for (int s = 0; s < kLetters; ++s)
      if (count[static_cast<size_t>(s)] > 0 && place[static_cast<size_t>(s)] < 0) put(s, count);
  }

 private:
  void measure(const Subscripts& subscripts, const Tensor& t, size_t i,
               std::array<int, kLetters>& count) {
    const bool ellipsis =
        std::find(subscripts.begin(), subscripts.end(), kEllipsis) != subscripts.end();
    const int64_t named = static_cast<int64_t>(subscripts.size()) - ellipsis;
    if (ellipsis)
      TAEDA_CHECK(named <= t.dim(), "einsum(): the number of subscripts in the equation (", named,
                  ") is more than the number of dimensions (", t.dim(), ") for operand ", i);
    else
      TAEDA_CHECK(named == t.dim(), "einsum(): the number of subscripts in the equation (", named,
                  ") does not match the number of dimensions (", t.dim(), ") for operand ", i,
                  " and no ellipsis was given");
    if (ellipsis) ellipsis_dims = std::max(ellipsis_dims, t.dim() - named);
    for (const int s : subscripts)
      if (s != kEllipsis) ++count[static_cast<size_t>(s)];
  }
  bool put_ellipsis() {
    ellipsis_place = dims;
    dims += ellipsis_dims;
    return true;
  }
  void put(int s, const std::array<int, kLetters>& count) {
    TAEDA_CHECK(count[static_cast<size_t>(s)] > 0, "einsum(): output subscript ", letter(s),
                " does not appear in the equation for any input operand");
    place[static_cast<size_t>(s)] = dims++;
  }
};

/// The operand with repeated subscripts replaced by diagonals, permuted into the common space;
/// dimensions that it lacks have size 1.
Tensor into_space(const Tensor& operand, const Subscripts& subscripts, const Space& space,
                  size_t index) {
  Tensor t = operand;
  DimVector places;  // of t's dimensions
  int64_t dim = 0;
  for (const int s : subscripts) {
    if (s == kEllipsis) {
      const int64_t n = operand.dim() - (static_cast<int64_t>(subscripts.size()) - 1);
      for (int64_t i = 0; i < n; ++i, ++dim)
        places.push_back(space.ellipsis_place + space.ellipsis_dims - n + i);
      continue;
    }
    const int64_t place = space.place[static_cast<size_t>(s)];
    const auto at = std::find(places.begin(), places.end(), place);
    if (at == places.end()) {
      places.push_back(place);
      ++dim;
      continue;
    }
    const int64_t other = at - places.begin();
    TAEDA_CHECK(t.size(other) == t.size(dim), "einsum(): subscript ", letter(s),
                " is repeated for operand ", index, " but the sizes don't match, ", t.size(dim),
                " != ", t.size(other));
    t = t.diagonal(0, other, dim).movedim(-1, other);
  }
  DimVector order(static_cast<size_t>(space.dims), -1), permutation;
  for (size_t d = 0; d < places.size(); ++d)
    order[static_cast<size_t>(places[d])] = static_cast<int64_t>(d);
  for (const int64_t d : order)
    if (d >= 0) permutation.push_back(d);
  t = t.permute(permutation);
  for (size_t p = 0; p < order.size(); ++p)
    if (order[p] < 0) t = t.unsqueeze(static_cast<int64_t>(p));
  return t;
}

/// Throws where two operands do not broadcast.
void check_sizes(const std::vector<Tensor>& operands, const Space& space) {
  for (int64_t d = 0; d < space.dims; ++d) {
    int64_t size = 1;
    for (size_t i = 0; i < operands.size(); ++i) {
      const int64_t n = operands[i].size(d);
      if (n == 1) continue;
      const auto at = std::find(space.place.begin(), space.place.end(), d);
      TAEDA_CHECK(
          size == 1 || size == n, "einsum(): subscript ",
          at == space.place.end() ? '.' : letter(static_cast<int>(at - space.place.begin())),
          " has size ", n, " for operand ", i,
          " which does not broadcast with previously seen size ", size);
      size = n;
    }
  }
}

int64_t size_product(const Tensor& t, const DimVector& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= t.size(d);
  return n;
}

DimVector joined(std::initializer_list<const DimVector*> lists) {
  DimVector all;
  for (const DimVector* list : lists)
    for (const int64_t d : *list) all.push_back(d);
  return all;
}

/// The product of two operands in the common space, summed over `sums`, which keep size 1.
Tensor multiply_and_sum(Tensor left, Tensor right, const DimVector& sums) {
  if (sums.empty()) return left.mul(right);
  DimVector batch, rows, columns, inner, left_only, right_only;
  for (int64_t d = 0; d < left.dim(); ++d) {
    const bool sum = std::find(sums.begin(), sums.end(), d) != sums.end();
    const bool in_left = left.size(d) != 1, in_right = right.size(d) != 1;
    if (sum && in_left && in_right)
      inner.push_back(d);
    else if (sum && in_left)
      left_only.push_back(d), inner.push_back(d);
    else if (sum && in_right)
      right_only.push_back(d), inner.push_back(d);
    else if (sum)
      inner.push_back(d);
    else if (in_left && in_right)
      batch.push_back(d);
    else if (in_left)
      rows.push_back(d);
    else
      columns.push_back(d);
  }
  if (!left_only.empty()) left = left.sum(left_only, true);
  if (!right_only.empty()) right = right.sum(right_only, true);
  if (left.dtype() != right.dtype()) {  // sums of integers have 64 bits
    const ScalarType both = promote_types(left.dtype(), right.dtype());
    left = left.to(both), right = right.to(both);
  }
  const int64_t b = size_product(left, batch), m = size_product(left, rows);
  const int64_t k = size_product(left, inner), n = size_product(right, columns);
  const Tensor a = left.permute(joined({&batch, &rows, &inner, &columns})).reshape({b, m, k});
  const Tensor c = right.permute(joined({&batch, &inner, &columns, &rows})).reshape({b, k, n});
  const Tensor product = b == 1 ? a.squeeze(0).mm(c.squeeze(0)) : a.bmm(c);
  // Back: batch, rows, columns, summed.
  const DimVector order = joined({&batch, &rows, &columns, &inner});
  DimVector sizes, inverse(order.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    const bool is_inner = i >= order.size() - inner.size();
    sizes.push_back(is_inner ? 1 : std::max(left.size(order[i]), right.size(order[i])));
    if (!is_inner && (left.size(order[i]) == 0 || right.size(order[i]) == 0)) sizes.back() = 0;
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return product.reshape(sizes).permute(inverse);
}

}  // namespace

Tensor do_einsum(std::string_view equation_text, TensorList inputs, IntArrayRef /*path*/) {
  const std::string text(equation_text);
  TAEDA_CHECK(!inputs.empty(), "einsum(): must provide at least one operand");
  const Equation equation(text, inputs.size());
  const Space space(equation, inputs);
  std::vector<Tensor> operands;
  for (size_t i = 0; i < inputs.size(); ++i)
    operands.push_back(into_space(inputs[i], equation.operands[i], space, i));
  check_sizes(operands, space);

  // A dimension that is not in the output is summed with the last operand that has it.
  std::vector<DimVector> sums(operands.size());
  for (int64_t d = space.output_dims; d < space.dims; ++d) {
    size_t last = 0;
    for (size_t i = 0; i < operands.size(); ++i)
      if (operands[i].size(d) != 1) last = i;
    sums[last].push_back(d);
  }
  Tensor result = operands[0];
  if (!sums[0].empty()) result = result.sum(sums[0], true);
  for (size_t i = 1; i < operands.size(); ++i)
    result = multiply_and_sum(result, operands[i], sums[i]);
  for (int64_t d = space.dims - 1; d >= space.output_dims; --d) result = result.squeeze(d);
  return result;
}

Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self,
                 IntArrayRef dims_other) {
  TAEDA_CHECK(dims_self.size() == dims_other.size(),
              "both dimension lists should have same length");
  const DimVector a = wrap_dims(dims_self, self.dim()), b = wrap_dims(dims_other, other.dim());
  Tensor first = self, second = other;
  int64_t k = 1;
  for (size_t i = 0; i < a.size(); ++i) {
    // One number beside several is multiplied with each, and so with their sum.
    if (self.size(a[i]) == 1)
      second = second.sum({b[i]}, true, self.dtype());
    else if (other.size(b[i]) == 1)
      first = first.sum({a[i]}, true, self.dtype());
    TAEDA_CHECK(first.size(a[i]) == second.size(b[i]),
                "contracted dimensions need to match, but first has size ", self.size(a[i]),
                " in dim ", dims_self[i], " and second has size ", other.size(b[i]), " in dim ",
                dims_other[i]);
    k *= first.size(a[i]);
  }
  DimVector left, right, sizes;
  int64_t m = 1, n = 1;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (std::find(a.begin(), a.end(), d) == a.end())
      left.push_back(d), sizes.push_back(self.size(d)), m *= self.size(d);
  for (int64_t d = 0; d < other.dim(); ++d)
    if (std::find(b.begin(), b.end(), d) == b.end())
      right.push_back(d), sizes.push_back(other.size(d)), n *= other.size(d);
  const Tensor x = first.permute(joined({&left, &a})).reshape({m, k});
  const Tensor y = second.permute(joined({&b, &right})).reshape({k, n});
  return x.mm(y).reshape(sizes);
}

Tensor tensordot(const Tensor& self, const Tensor& other, int64_t dims) {
  TAEDA_CHECK(dims >= 0, "tensordot expects dims >= 0, but got dims=", dims);
  DimVector a, b;
  for (int64_t i = 0; i < dims; ++i) a.push_back(i - dims), b.push_back(i);
  return tensordot(self, other, a, b);
}

}  // namespace taeda::inline v0_2
