// The lines of a tensor along a dimension, whose elements are ordered by unsigned keys.
#pragma once

#include "taeda/cuda/kernels/sorted.cuh"

namespace taeda::inline v0_2::gpu {

/// How an element's bits become an unsigned number that orders like the element; zeros of both
/// signs are equal, NaN is the largest.
struct KeyRule {
  int bits;
  bool floating;
  uint64_t infinity = 0;  // of a floating type
  uint64_t sign = 0;      // of a signed type

  explicit KeyRule(ScalarType t)
      : bits(8 * static_cast<int>(element_size(t))), floating(is_floating_point(t)) {
    if (floating)
      infinity = t == kDouble  ? uint64_t{0x7ff} << 52
                 : t == kFloat ? 0x7f800000u
                 : t == kHalf  ? 0x7c00u
                               : 0x7f80u;
    if (t != kBool && t != kByte) sign = uint64_t{1} << (bits - 1);
  }
  __device__ uint64_t largest() const { return ~uint64_t{0} >> (64 - bits); }
  __device__ bool is_nan(uint64_t key) const { return floating && key == largest(); }
  __device__ uint64_t key(uint64_t x) const {
    if (!floating) return x ^ sign;
    if ((x & ~sign) > infinity) return largest();
    if ((x & ~sign) == 0) x = 0;
    return x & sign ? ~x & largest() : x | sign;
  }
  /// Whether only elements of equal bits have this key.
  __device__ bool has_one_pattern(uint64_t key) const {
    return !floating || (key != largest() && key != sign);
  }
  /// The bits of the element that has this key.
  __device__ uint64_t element(uint64_t key) const {
    return !floating ? key ^ sign : key & sign ? key & ~sign : ~key & largest();
  }
  /// The key of the element at `p`.
  __device__ uint64_t at(const char* p) const {
    uint64_t key_of = 0;
    with_bits([&]<class U>(U) { key_of = key(*reinterpret_cast<const U*>(p)); });
    return key_of;
  }
  /// Calls f(U()) with the unsigned type of an element's size, the same for all threads.
  template <class F>
  __device__ void with_bits(F&& f) const {
    switch (bits) {
      case 8: return f(uint8_t());
      case 16: return f(uint16_t());
      case 32: return f(uint32_t());
      default: return f(uint64_t());
    }
  }
};

/// Lines of elements. Strides are in bytes.
struct Lines {
  char* data = nullptr;
  Offsets<1> start;
  int64_t step = 0;

  Lines() = default;
  Lines(const Tensor& t, int64_t dim) {
    if (!t.defined()) return;
    data = static_cast<char*>(t.data_ptr());
    for (int64_t d = t.dim(); d-- > 0;) {
      const int64_t stride[1] = {t.strides()[d] * t.element_size()};
      if (d != dim) start.add(t.sizes()[d], stride);
    }
    start.finish();
    step = t.dim() > 0 ? t.strides()[dim] * t.element_size() : 0;
  }
  /// Lines of one element each, of a contiguous tensor.
  static Lines of_elements(const Tensor& t) {
    Lines lines;
    if (!t.defined()) return lines;
    lines.data = static_cast<char*>(t.data_ptr());
    lines.start.add(t.numel(), {t.element_size()});
    lines.start.finish();
    return lines;
  }
  __device__ char* at(int64_t line, int64_t i) const {
    int64_t offset[1];
    start.at(line, offset);
    return data + offset[0] + i * step;
  }
};

/// Lines of n elements that are to be ordered.
struct LineSort {
  Lines in;
  KeyRule rule;
  Divider n;
  int64_t total;
  bool descending;
  const uint32_t* picked =
      nullptr;  // the elements of a line, where these are not all of its elements

  LineSort(const Tensor& t, int64_t dim, bool down)
      : in(t, dim),
        rule(t.dtype()),
        n(t.dim() > 0 ? t.sizes()[dim] : 1),
        total(t.numel()),
        descending(down) {}
  __host__ __device__ int64_t lines() const { return total / n.divisor; }
  /// The same, of `count` elements of each line.
  LineSort of_picked(const uint32_t* elements, int64_t count) const {
    LineSort s = *this;
    s.total = lines() * count;
    s.n = Divider(count);
    s.picked = elements;
    return s;
  }
  __device__ int64_t element(int64_t line, int64_t i) const {
    return picked ? picked[line * n.divisor + i] : i;
  }
  /// In the order of the sort.
  __device__ uint64_t turned(uint64_t key) const {
    return descending ? ~key & rule.largest() : key;
  }
  __device__ uint64_t key(int64_t line, int64_t i) const {
    return turned(rule.at(in.at(line, element(line, i))));
  }
  /// Writes element i of a line, and its number, to a place of the results; `values` may be empty.
  __device__ void write(int64_t line, int64_t i, int64_t place, const Lines& values,
                        const Lines& indices) const {
    *reinterpret_cast<int64_t*>(indices.at(line, place)) = i;
    if (!values.data) return;
    const char* from = in.at(line, i);
    char* to = values.at(line, place);
    rule.with_bits(
        [&]<class U>(U) { *reinterpret_cast<U*>(to) = *reinterpret_cast<const U*>(from); });
  }
  /// The same of an element whose key in the order of the sort is known: it is read only where the
  /// key does not tell its bits.
  __device__ void write(int64_t line, int64_t i, uint64_t turned_key, int64_t place,
                        const Lines& values, const Lines& indices) const {
    const uint64_t key = turned(turned_key);
    if (!values.data || !rule.has_one_pattern(key)) return write(line, i, place, values, indices);
    *reinterpret_cast<int64_t*>(indices.at(line, place)) = i;
    char* to = values.at(line, place);
    rule.with_bits(
        [&]<class U>(U) { *reinterpret_cast<U*>(to) = static_cast<U>(rule.element(key)); });
  }
};

/// `write_sorted` of lines that a block can hold; false: these are others.
bool sort_in_blocks(const Context& context, const LineSort& s, const Lines& values,
                    const Lines& indices, int64_t keep);

/// Sorts every line and writes the first `keep` of its elements and where they stood. `values` may
/// be empty.
void write_sorted(const char* op, const Context& context, Device device, const LineSort& s,
                  const Lines& values, const Lines& indices, int64_t keep);
/// The same, in the order in which they are.
void write_unsorted(const char* op, const Context& context, const LineSort& s, const Lines& values,
                    const Lines& indices, int64_t keep);

}  // namespace taeda::inline v0_2::gpu
