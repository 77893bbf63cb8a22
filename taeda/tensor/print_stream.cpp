// The layout of libtorch's operator<<.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <ostream>

#include "taeda/base/device_types.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/print.h"

namespace taeda::inline v0_2 {

namespace {

/// Restores a stream's format flags and precision.
class FormatGuard {
 public:
  explicit FormatGuard(std::ostream& out)
      : out_(out), flags_(out.flags()), precision_(out.precision()) {}
  ~FormatGuard() {
    out_.flags(flags_);
    out_.precision(precision_);
  }

 private:
  std::ostream& out_;
  std::ios_base::fmtflags flags_;
  std::streamsize precision_;
};

struct ColumnFormat {
  double scale = 1;
  int width = 0;
};

/// Digits before the point of a positive finite number; 1 for zero.
int exponent_of(double v) { return v == 0 ? 1 : static_cast<int>(std::floor(std::log10(v))) + 1; }

/// Chooses notation and width for all values of a slice and sets the stream up for them.
ColumnFormat choose_format(std::ostream& out, const double* values, int64_t n) {
  ColumnFormat f;
  bool integers = true;
  double low = 1, high = 1;
  bool first = true;
  for (int64_t i = 0; i < n; ++i) {
    if (!std::isfinite(values[i])) continue;
    integers = integers && values[i] == std::ceil(values[i]);
    const double a = std::fabs(values[i]);
    low = first ? a : std::min(low, a);
    high = first ? a : std::max(high, a);
    first = false;
  }
  const int e_low = exponent_of(low), e_high = exponent_of(high);
  if (integers) {
    if (e_high > 9) {
      f.width = 11;
      out << std::scientific << std::setprecision(4);
    } else {
      f.width = e_high + 1;
      out << std::defaultfloat;
    }
  } else if (e_high - e_low > 4) {
    f.width = 11 + (std::abs(e_high) > 99 || std::abs(e_low) > 99);
    out << std::scientific << std::setprecision(4);
  } else {
    if (e_high > 5 || e_high < 0) {
      f.width = 7;
      f.scale = std::pow(10, e_high - 1);
    } else {
      f.width = e_high == 0 ? 7 : e_high + 6;
    }
    out << std::fixed << std::setprecision(4);
  }
  return f;
}

void print_scale(std::ostream& out, double scale) {
  FormatGuard guard(out);
  out << std::defaultfloat << scale << " *" << '\n';
}

void print_matrix(std::ostream& out, const double* values, int64_t rows, int64_t columns,
                  int64_t linesize, int64_t indent) {
  FormatGuard guard(out);
  const ColumnFormat f = choose_format(out, values, rows * columns);
  const std::string margin(indent, ' ');
  out << margin;
  const int64_t per_line = std::max<int64_t>(1, (linesize - indent) / (f.width + 1));
  for (int64_t begin = 0; begin < columns; begin += per_line) {
    const int64_t end = std::min(columns, begin + per_line);
    if (per_line < columns) {
      if (begin != 0) out << '\n';
      out << "Columns " << begin + 1 << " to " << end << margin;
    }
    if (f.scale != 1) {
      print_scale(out, f.scale);
      out << margin;
    }
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = begin; c < end; ++c)
        out << std::setw(f.width) << values[r * columns + c] / f.scale
            << (c + 1 == end ? '\n' : ' ');
      if (r + 1 < rows) out << (f.scale != 1 ? margin + " " : margin);
    }
  }
}

void print_slices(std::ostream& out, const double* values, IntArrayRef sizes, int64_t linesize) {
  const size_t lead = sizes.size() - 2;
  const int64_t rows = sizes[lead], columns = sizes[lead + 1];
  const int64_t slices = product({sizes.data(), lead});
  for (int64_t s = 0; s < slices; ++s) {
    if (s > 0) out << '\n';
    out << '(';
    // The first index runs fastest.
    int64_t rest = s, offset = 0;
    for (size_t d = 0; d < lead; ++d) {
      const int64_t index = rest % sizes[d];
      rest /= sizes[d];
      offset = offset * sizes[d] + index;
      out << index + 1 << ',';
    }
    out << ".,.) = " << '\n';
    print_matrix(out, values + offset * rows * columns, rows, columns, linesize, 1);
  }
}

}  // namespace

void print(std::ostream& out, const Tensor& t, int64_t linesize) {
  if (!t.defined()) {
    out << "[ Tensor (undefined) ]";
    return;
  }
  // libtorch's layout has no place for imaginary parts, nor for what has no values: as Python
  if (is_complex(t.dtype()) || t.is_meta()) {
    out << format_tensor(t, {});
    return;
  }
  if (t.is_sparse()) {
    out << "[ " << t.toString() << "{}\nindices:\n"
        << t._indices() << "\nvalues:\n"
        << t._values() << "\nsize:\n"
        << t.sizes() << "\n]";
    return;
  }
  if (t.is_sparse_csr()) {
    out << "[ " << t.toString() << "{}\ncrow_indices:\n"
        << t.crow_indices() << "\ncol_indices:\n"
        << t.col_indices() << "\nvalues:\n"
        << t.detach().values() << "\nsize:\n"
        << t.sizes() << "\n]";
    return;
  }
  FormatGuard guard(out);
  NoGradGuard no_grad;
  const Tensor host = t.detach().cpu().to(kDouble).contiguous();
  const double* values = static_cast<const double*>(host.data_ptr());
  if (t.numel() > 0) {
    if (t.dim() == 0) {
      out << std::defaultfloat << values[0] << '\n';
    } else if (t.dim() == 1) {
      const ColumnFormat f = choose_format(out, values, t.numel());
      if (f.scale != 1) print_scale(out, f.scale);
      for (int64_t i = 0; i < t.numel(); ++i)
        out << std::setw(f.width) << values[i] / f.scale << '\n';
    } else if (t.dim() == 2) {
      print_matrix(out, values, t.size(0), t.size(1), linesize, 0);
    } else {
      print_slices(out, values, t.sizes(), linesize);
    }
  }
  out << "[ " << t.toString() << '{';
  for (int64_t d = 0; d < t.dim(); ++d) out << (d ? "," : "") << t.sizes()[d];
  out << "} ]";
}

std::ostream& operator<<(std::ostream& out, const Tensor& t) {
  print(out, t);
  return out;
}

std::string TensorType::toString() const {
  const char* const prefix[] = {"", "Sparse", "SparseCsr"};
  return prefix[static_cast<size_t>(layout_)] + std::string(device_type_info(device_).title) +
         to_string(dtype_) + "Type";
}

}  // namespace taeda::inline v0_2
