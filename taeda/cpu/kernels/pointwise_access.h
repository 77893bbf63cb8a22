// An operand of a pointwise kernel as its driver sees it: where its elements lie, and how they come
// into buffers and back. See Note [Blocks] in loops.h.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "taeda/cpu/kernels/convert.h"
#include "taeda/cpu/kernels/half_rows.h"
#include "taeda/cpu/kernels/loops.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

constexpr int64_t kBlock = 1024;              // elements of a block, fewer for wide types
constexpr int64_t kBufferBytes = 8 * kBlock;  // of one operand

// ---- moving elements of one size ----

struct Bytes16 {
  int64_t low, high;
};

template <class F>
void with_item(int64_t item, F&& f) {
  switch (item) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    default: return f(Bytes16{});
  }
}

template <class T>
void gather_elements(T* out, const char* from, int64_t stride, int64_t n) {
  constexpr int64_t item = sizeof(T);
  const T* in = reinterpret_cast<const T*>(from);
  if (stride == item)
    std::memcpy(out, in, static_cast<size_t>(n * item));
  else if (stride == 0)
    std::fill_n(out, n, *in);
  else if (stride == 2 * item)  // every second one, which the compiler makes shuffles of
    for (int64_t i = 0; i < n; ++i) out[i] = in[2 * i];
  else
    for (int64_t i = 0; i < n; ++i) out[i] = *reinterpret_cast<const T*>(from + i * stride);
}

inline void gather_run(char* to, const char* from, int64_t stride, int64_t n, int64_t item) {
  with_item(item, [&](auto sample) {
    gather_elements(reinterpret_cast<decltype(sample)*>(to), from, stride, n);
  });
}

inline void scatter_run(char* to, int64_t stride, const char* from, int64_t n, int64_t item) {
  if (stride == item) {
    std::memcpy(to, from, static_cast<size_t>(n * item));
    return;
  }
  with_item(item, [&](auto sample) {
    using T = decltype(sample);
    const T* in = reinterpret_cast<const T*>(from);
    for (int64_t i = 0; i < n; ++i) *reinterpret_cast<T*>(to + i * stride) = in[i];
  });
}

/// Copies past the caches; both addresses are multiples of 64.
inline void stream_copy(char* to, const char* from, int64_t bytes) {
  int64_t at = 0;
#if defined(__AVX512F__)
  for (; at + 64 <= bytes; at += 64)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + at), _mm512_load_si512(from + at));
#elif defined(__AVX__)
  for (; at + 32 <= bytes; at += 32)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + at),
                        _mm256_load_si256(reinterpret_cast<const __m256i*>(from + at)));
#elif defined(__SSE2__)
  for (; at + 16 <= bytes; at += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at),
                     _mm_load_si128(reinterpret_cast<const __m128i*>(from + at)));
#endif
  std::memcpy(to + at, from + at, static_cast<size_t>(bytes - at));
}

/// Asks for what is read after a block that is computed with first: the hardware looks ahead only
/// while memory is being read. Addresses behind the end do no harm.
inline void prefetch(const char* from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(from + i);
}

/// Orders streamed stores before whatever the thread does next.
inline void stream_fence() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// ---- one operand ----

/// Where an operand's elements lie, seen as one sequence in the order of iteration.
struct Access {
  enum class Kind { Array, Constant, Strided };
  Kind kind = Kind::Array;
  ScalarType dtype = ScalarType::Undefined;
  int operand = 0;
  int64_t item = 0;
  char* data = nullptr;
  const Conversion* conversion = nullptr;  ///< between memory, of `item` bytes, and `dtype`

  Access() = default;
  Access(const Iter& it, int index, ScalarType t)
      : dtype(t), operand(index), item(element_size(t)), data(it.data(index)) {
    bool array = true, constant = true;
    int64_t expected = item;
    for (int d = 0; d < it.ndim(); ++d) {
      array &= it.stride(index, d) == expected;
      constant &= it.stride(index, d) == 0;
      expected *= it.size(d);
    }
    kind = array || it.numel() == 1 ? Kind::Array : constant ? Kind::Constant : Kind::Strided;
  }
  /// An operand whose elements have another dtype in memory than the kernel's `t`.
  Access(const Iter& it, int index, ScalarType t, const Conversion* c)
      : Access(it, index, it.stored_dtype(index)) {
    dtype = t;
    conversion = c;
  }

  /// `run(address, stride, first, count)` for the pieces of elements [begin, begin + n) that lie in
  /// one row.
  template <class Run>
  void for_each_run(const Iter& it, int64_t begin, int64_t n, Run&& run) const {
    const int64_t width = it.size(0), stride = it.stride(operand, 0);
    int64_t index[kMaxLoopDims], column = begin % width, rest = begin / width;
    char* row = data;
    for (int d = 1; d < it.ndim(); ++d) {
      index[d] = rest % it.size(d);
      rest /= it.size(d);
      row += index[d] * it.stride(operand, d);
    }
    for (int64_t done = 0; done < n;) {
      const int64_t count = std::min(width - column, n - done);
      run(row + column * stride, stride, done, count);
      done += count;
      column = 0;
      for (int d = 1; d < it.ndim(); ++d) {
        row += it.stride(operand, d);
        if (++index[d] < it.size(d)) break;
        row -= it.stride(operand, d) * it.size(d);
        index[d] = 0;
      }
    }
  }

  /// Elements of the row that a strided operand repeats for all the others; 0 if it does not.
  int64_t period(const Iter& it) const {
    int64_t length = 1;
    int d = 0;
    for (; d < it.ndim() && it.stride(operand, d) == length * item; ++d) length *= it.size(d);
    if (d == 0) return 0;
    for (; d < it.ndim(); ++d)
      if (it.stride(operand, d) != 0) return 0;
    return length;
  }

  /// n elements in the computing type: a row of `length`, again and again.
  void load_repeated(int64_t length, int64_t n, char* buffer) const {
    for (int64_t at = 0; at < n; at += length) {
      const int64_t count = std::min(length, n - at);
      if (dtype == kHalf)
        widen(reinterpret_cast<float*>(buffer) + at, reinterpret_cast<const Half*>(data), count);
      else if (dtype == kBFloat16)
        widen(reinterpret_cast<float*>(buffer) + at, reinterpret_cast<const BFloat16*>(data),
              count);
      else
        std::memcpy(buffer + at * item, data, static_cast<size_t>(count * item));
    }
  }

  bool is_half() const { return is_reduced_floating(dtype); }

  /// Elements [begin, begin + n) as a contiguous array of the computing type, in `buffer` unless
  /// they lie in memory like that.
  const void* load(const Iter& it, int64_t begin, int64_t n, char* buffer) const {
    if (conversion) [[unlikely]]
      return load_converted(it, begin, n, buffer);
    const char* from = data + begin * item;
    if (kind == Kind::Strided) {
      const int64_t column = begin % it.size(0);
      if (!is_half() && it.stride(operand, 0) == item && column + n <= it.size(0)) {
        const char* found = nullptr;
        for_each_run(it, begin, n, [&](char* p, int64_t, int64_t, int64_t) { found = p; });
        return found;
      }
      // A 16-bit block is gathered into the upper half of the buffer and widened from there.
      char* target = is_half() ? buffer + kBufferBytes / 2 : buffer;
      with_item(item, [&](auto sample) {
        auto* const to = reinterpret_cast<decltype(sample)*>(target);
        for_each_run(it, begin, n, [&](char* p, int64_t stride, int64_t first, int64_t count) {
          gather_elements(to + first, p, stride, count);
        });
      });
      from = target;
    }
    if (is_half() && kind == Kind::Array) prefetch(from + n * item, n * item);
    if (dtype == kHalf)
      widen(reinterpret_cast<float*>(buffer), reinterpret_cast<const Half*>(from), n);
    else if (dtype == kBFloat16)
      widen(reinterpret_cast<float*>(buffer), reinterpret_cast<const BFloat16*>(from), n);
    return is_half() ? buffer : from;
  }

  /// As `load`. What the kernel widens is converted into the upper half of the buffer first.
  __attribute__((noinline)) const void* load_converted(const Iter& it, int64_t begin, int64_t n,
                                                       char* buffer) const {
    const int64_t width = element_size(dtype);
    char* const to = is_half() ? buffer + kBufferBytes / 2 : buffer;
    if (kind == Kind::Array) {
      conversion->run(to, width, data + begin * item, item, n);
    } else {
      for_each_run(it, begin, n, [&](char* p, int64_t stride, int64_t first, int64_t count) {
        conversion->run(to + first * width, width, p, stride, count);
      });
    }
    if (dtype == kHalf)
      widen(reinterpret_cast<float*>(buffer), reinterpret_cast<const Half*>(to), n);
    else if (dtype == kBFloat16)
      widen(reinterpret_cast<float*>(buffer), reinterpret_cast<const BFloat16*>(to), n);
    return buffer;
  }

  void load_constant(int64_t n, char* buffer) const {
    if (dtype == kHalf)
      std::fill_n(reinterpret_cast<float*>(buffer), n, float(*reinterpret_cast<Half*>(data)));
    else if (dtype == kBFloat16)
      std::fill_n(reinterpret_cast<float*>(buffer), n, float(*reinterpret_cast<BFloat16*>(data)));
    else
      gather_run(buffer, data, 0, n, item);
  }

  /// Writes n results of the computing type from `buffer` to where elements [begin, begin + n) lie.
  void store(const Iter& it, int64_t begin, int64_t n, char* buffer, bool stream) const {
    const char* from = buffer;
    if (is_half()) {
      // Else rounded in place: the narrow type never overtakes the wide one.
      char* to = kind == Kind::Array && !stream && !conversion ? data + begin * item : buffer;
      if (dtype == kHalf)
        narrow(reinterpret_cast<Half*>(to), reinterpret_cast<float*>(buffer), n);
      else
        narrow(reinterpret_cast<BFloat16*>(to), reinterpret_cast<float*>(buffer), n);
      if (to != buffer) return;
    }
    if (conversion) return store_converted(it, begin, n, from);
    if (kind == Kind::Array) {
      if (stream)
        stream_copy(data + begin * item, from, n * item);
      else
        std::memcpy(data + begin * item, from, static_cast<size_t>(n * item));
      return;
    }
    for_each_run(it, begin, n, [&](char* p, int64_t stride, int64_t first, int64_t count) {
      scatter_run(p, stride, from + first * item, count, item);
    });
  }

  __attribute__((noinline)) void store_converted(const Iter& it, int64_t begin, int64_t n,
                                                 const char* from) const {
    const int64_t width = element_size(dtype);
    if (kind == Kind::Array) return conversion->run(data + begin * item, item, from, width, n);
    for_each_run(it, begin, n, [&](char* p, int64_t stride, int64_t first, int64_t count) {
      conversion->run(p, stride, from + first * width, width, count);
    });
  }
};

/// What converts the operands of an Iter that is mixed.
class Conversions {
 public:
  /// Makes `access` that of operand i, which the kernel wants as `t`. A single value is converted
  /// here and now.
  void add(const Iter& it, int i, ScalarType t, Access& access) {
    if (!it.is_mixed(i)) return;
    const ScalarType stored = it.stored_dtype(i);
    list_[i] = i == 0 ? Conversion(stored, t) : Conversion(t, stored);
    access = Access(it, i, t, &list_[i]);
    if (access.kind != Access::Kind::Constant) return;
    list_[i].run(values_[i], 0, access.data, 0, 1);
    access.conversion = nullptr;
    access.data = values_[i];
    access.item = element_size(t);
  }

 private:
  Conversion list_[Iter::kMaxOperands];
  alignas(16) char values_[Iter::kMaxOperands][16];
};

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
