#include "taeda/tensor/print.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "taeda/base/error.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/sparse.h"

namespace taeda::inline v0_2 {

namespace {

PrintOptions options;

std::string printf_double(const char* format, int precision, double v) {
  char text[64];
  std::snprintf(text, sizeof text, format, precision, v);
  return text;
}

std::string spell_nonfinite(double v) { return std::isnan(v) ? "nan" : v < 0 ? "-inf" : "inf"; }

/// How the numbers of one tensor are written: all alike, in columns.
class NumberFormat {
 public:
  NumberFormat(const std::vector<double>& values, bool floating) : floating_(floating) {
    double low = INFINITY, high = 0;
    bool any = false;
    for (double v : values) {
      if (!std::isfinite(v) || v == 0) continue;
      any = true;
      low = std::min(low, std::fabs(v));
      high = std::max(high, std::fabs(v));
      integers_ = integers_ && v == std::ceil(v);
    }
    if (any) {
      scientific_ = high / low > 1000 || high > 1e8 || (!integers_ && low < 1e-4);
      for (double v : values)
        if (std::isfinite(v) && v != 0)
          width_ = std::max(width_, static_cast<int64_t>(spell(v).size()));
    }
    if (options.sci_mode) scientific_ = *options.sci_mode;
  }

  int64_t width() const { return width_; }
  std::string operator()(double v) const {
    const std::string s = spell(v);
    return std::string(std::max<int64_t>(width_ - static_cast<int64_t>(s.size()), 0), ' ') + s;
  }

 private:
  std::string spell(double v) const {
    if (!floating_) return printf_double("%.*f", 0, v);
    if (!std::isfinite(v)) return spell_nonfinite(v);
    if (scientific_) return printf_double("%.*e", options.precision, v);
    if (integers_) return printf_double("%.*f", 0, v) + ".";
    return printf_double("%.*f", options.precision, v);
  }

  bool floating_;
  bool integers_ = true;
  bool scientific_ = false;
  int64_t width_ = 1;
};

/// The elements to show, in order, as text of one width.
class Elements {
 public:
  explicit Elements(const Tensor& host) : layout_(host.layout()) {
    const bool summarized = host.numel() > options.threshold;
    keep_ = summarized ? options.edgeitems : INT64_MAX / 4;
    collect(host);
  }

  int64_t width() const { return width_; }
  bool cut(int64_t size) const { return size > 2 * keep_; }
  int64_t keep() const { return keep_; }
  const std::string& next() { return texts_[at_++]; }

 private:
  template <class Fn>
  void visit(int64_t dim, int64_t offset, Fn& fn) const {
    if (dim == layout_.ndim()) return fn(offset);
    const int64_t size = layout_.sizes[dim];
    for (int64_t i = 0; i < size; ++i) {
      if (cut(size) && i == keep_) i = size - keep_;
      visit(dim + 1, offset + i * layout_.strides[dim], fn);
    }
  }

  void collect(const Tensor& host) {
    if (host.dtype() == kUInt64) return collect_unsigned(host);
    dispatch(AllTypes{}, "print", host.dtype(), [&]<class T>() {
      // A bool is read as the byte that it is: memory of somebody else may hold any.
      using Read = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
      const auto* data = static_cast<const Read*>(host.storage()->data());
      std::vector<T> values;
      const auto take = [&](int64_t offset) { values.push_back(data[offset]); };
      visit(0, layout_.offset, take);
      if constexpr (requires { typename T::value_type; })
        spell_complex(values);
      else if constexpr (std::is_same_v<T, bool>)
        spell_bool(values);
      else if constexpr (std::is_integral_v<T>)
        spell_integers(values);
      else
        spell_reals(std::vector<double>(values.begin(), values.end()));
    });
  }

  void collect_unsigned(const Tensor& host) {
    const auto* data = static_cast<const uint64_t*>(host.storage()->data());
    std::vector<uint64_t> values;
    const auto take = [&](int64_t offset) { values.push_back(data[offset]); };
    visit(0, layout_.offset, take);
    spell_integers(values);
  }

  void pad_left() {
    size_t width = 0;
    for (const std::string& s : texts_) width = std::max(width, s.size());
    for (std::string& s : texts_) s.insert(0, width - s.size(), ' ');
    width_ = static_cast<int64_t>(width);
  }
  void spell_bool(const std::vector<bool>& values) {
    for (bool v : values) texts_.push_back(v ? "True" : "False");
    pad_left();
  }
  template <class T>
  void spell_integers(const std::vector<T>& values) {
    for (T v : values) texts_.push_back(std::to_string(v));
    pad_left();
  }
  void spell_reals(const std::vector<double>& values) {
    const NumberFormat format(values, true);
    for (double v : values) texts_.push_back(format(v));
    width_ = format.width();
  }
  template <class T>
  void spell_complex(const std::vector<complex<T>>& values) {
    std::vector<double> re, im;
    for (const auto& z : values) re.push_back(z.re), im.push_back(z.im);
    const NumberFormat real(re, true), imag(im, true);
    for (size_t i = 0; i < re.size(); ++i) {
      std::string second = imag(im[i]) + "j";
      second.erase(0, second.find_first_not_of(' '));
      texts_.push_back(real(re[i]) + (second[0] == '-' ? "" : "+") + second);
    }
    width_ = real.width() + imag.width() + 1;
  }

  Layout layout_;
  int64_t keep_;
  int64_t width_ = 1;
  std::vector<std::string> texts_;
  size_t at_ = 0;
};

std::string format_vector(Elements& elements, int64_t size, int64_t indent) {
  const int64_t per_line =
      std::max<int64_t>(1, (options.linewidth - indent) / (elements.width() + 2));
  std::vector<std::string> items;
  for (int64_t i = 0; i < size; ++i) {
    if (elements.cut(size) && i == elements.keep()) {
      items.push_back(" ...");
      i = size - elements.keep();
    }
    items.push_back(elements.next());
  }
  std::string out = "[";
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0)
      out += i % static_cast<size_t>(per_line) == 0 ? ",\n" + std::string(indent + 1, ' ') : ", ";
    out += items[i];
  }
  return out + "]";
}

std::string format_nested(Elements& elements, const Layout& l, int64_t dim, int64_t indent) {
  if (l.ndim() == 0) return elements.next();
  const int64_t size = l.sizes[dim];
  if (dim == l.ndim() - 1) return format_vector(elements, size, indent);
  const std::string separator =
      "," + std::string(l.ndim() - dim - 1, '\n') + std::string(indent + 1, ' ');
  std::string out = "[";
  for (int64_t i = 0; i < size; ++i) {
    if (i > 0) out += separator;
    if (elements.cut(size) && i == elements.keep()) {
      out += "..." + separator;
      i = size - elements.keep();
    }
    out += format_nested(elements, l, dim + 1, indent + 1);
  }
  return out + "]";
}

std::string size_text(IntArrayRef sizes) {
  std::string text = "size=(";
  for (size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + (sizes.size() == 1 ? ",)" : ")");
}

/// The elements in brackets, which begin in column `indent`.
std::string elements_text(const Tensor& t, int64_t indent) {
  if (t.is_meta()) return "...";
  if (t.numel() == 0) return "[]";
  NoGradGuard guard;
  Tensor host = t.detach().cpu();
  if (is_stored(host.dtype())) host = host.to(computing_dtype(host.dtype()));
  Elements elements(host);
  return format_nested(elements, host.layout(), 0, indent);
}

/// "indices=tensor(...)"
std::string part_text(const char* name, const Tensor& t, int64_t indent) {
  const std::string prefix = std::string(name) + "=tensor(";
  std::string out = prefix + elements_text(t, indent + static_cast<int64_t>(prefix.size()));
  if (t.numel() == 0) out += ", " + size_text(t.sizes());
  return out + ")";
}

std::string parts_text(const Tensor& t, int64_t indent) {
  const std::string next = ",\n" + std::string(indent, ' '),
                    values = part_text("values", stored_values(t), indent);
  if (t.is_sparse()) return part_text("indices", t._indices(), indent) + next + values;
  const CsrParts& parts = csr_parts(t);
  return part_text("crow_indices", parts.rows, indent) + next +
         part_text("col_indices", parts.columns, indent) + next + values;
}

/// device, size, dtype: what Python shows where it is not the default.
std::vector<std::string> property_suffixes(const Tensor& t) {
  std::vector<std::string> out;
  if (!t.is_cpu()) out.push_back("device='" + t.device().str() + "'");
  const ScalarType def = get_default_dtype();
  const std::string dtype = std::string("dtype=taeda.") + dtype_name(t.dtype());
  if (!t.is_strided()) {
    out.push_back(size_text(t.sizes()));
    out.push_back("nnz=" + std::to_string(t._nnz()));
    const bool plain = t.dtype() == def || t.dtype() == to_complex_type(def) ||
                       t.dtype() == kLong || t.dtype() == kBool;
    if (!plain) out.push_back(dtype);
    out.push_back(t.is_sparse() ? "layout=taeda.sparse_coo" : "layout=taeda.sparse_csr");
    return out;
  }
  if (t.is_meta()) {
    out.push_back(size_text(t.sizes()));
    if (t.dtype() != def) out.push_back(dtype);
    return out;
  }
  const bool known = t.dtype() == def || t.dtype() == to_complex_type(def) || t.dtype() == kLong ||
                     t.dtype() == kBool;
  if (t.numel() > 0) {
    if (!known) out.push_back(dtype);
    return out;
  }
  if (t.dim() != 1) out.push_back(size_text(t.sizes()));
  if (t.dtype() != def) out.push_back(dtype);
  return out;
}

}  // namespace

const PrintOptions& print_options() { return options; }
void set_printoptions(const PrintOptions& o) {
  TAEDA_CHECK_VALUE(
      o.precision >= 0 && o.precision <= 30 && o.edgeitems > 0 && o.linewidth > 0,
      "set_printoptions: precision must lie in 0..30, edgeitems and linewidth must be positive");
  options = o;
}

std::string format_tensor(const Tensor& t, const std::vector<std::string>& extra) {
  const std::string prefix = "tensor(";
  const auto indent = static_cast<int64_t>(prefix.size());
  std::string out = prefix + (t.is_strided() ? elements_text(t, indent) : parts_text(t, indent));
  std::vector<std::string> suffixes = property_suffixes(t);
  suffixes.insert(suffixes.end(), extra.begin(), extra.end());
  const size_t newline = out.rfind('\n');
  int64_t line = static_cast<int64_t>(newline == std::string::npos ? out.size() + 2
                                                                   : out.size() - newline + 1);
  bool first = true;
  for (const std::string& s : suffixes) {
    const auto length = static_cast<int64_t>(s.size());
    const bool wraps = line + length + 2 > options.linewidth || (first && t.is_sparse());
    first = false;
    out += wraps ? ",\n" + std::string(indent, ' ') : ", ";
    out += s;
    line = wraps ? indent + length : line + length + 2;
  }
  return out + ")";
}

}  // namespace taeda::inline v0_2
