// Matrix products in the manner of Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication" (2008): a micro-kernel keeps a tile of out in registers while it walks along k;
// around it, pieces of b are packed for the nearest cache, pieces of a for the second.
//
// k is cut at multiples of kDepth whatever the rest of the shape, each piece is summed in order,
// and only out's rows and columns are shared among threads.
#include "taeda/cpu/kernels/gemm.h"

#include <algorithm>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/kernels/simd.h"
#include "taeda/cpu/scratch.h"
#include "taeda/kernels/wrapping.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

constexpr int kRows = kVectorRegisters == 32 ? 8 : 4;  // of a tile
constexpr int kVecs = 3;                               // registers across a tile
constexpr int64_t kDepth = 256;
constexpr int64_t kBlockRows = 96;       // of a that are packed at once
constexpr int64_t kBlockColumns = 3072;  // of b that are packed at once
// Work, in multiply-adds, from which packing a pays, and from which a second thread does.
constexpr int64_t kLarge = int64_t{1} << 22;
constexpr int64_t kParallelWork = int64_t{1} << 17;

/// Where a tile goes and what happens to it on the way.
template <class T>
struct Target {
  Matrix<T> out;
  Matrix<const T> addend;
  T alpha, beta;
  bool first;       ///< first piece of k: later ones add to what is there
  int64_t columns;  ///< that exist; the registers may reach beyond
};

template <class T>
TAEDA_ALWAYS_INLINE Vec<T> finish(Vec<T> sum, const Target<T>& t, const T* out, const T* addend,
                                  int64_t n) {
  constexpr int lanes = kLanes<T>;
  sum *= t.alpha;
  if (!t.first) return sum + (n == lanes ? load(out) : load_first(out, n));
  if (!addend) return sum;
  return sum + t.beta * (n == lanes ? load(addend) : load_first(addend, n));
}

template <class T, int V>
TAEDA_ALWAYS_INLINE void store_row(const Vec<T> (&sum)[V], int64_t i, const Target<T>& t) {
  constexpr int lanes = kLanes<T>;
  const bool use_addend = t.first && t.addend.data;
  if (t.out.column == 1 && (!use_addend || t.addend.column == 1)) {
    T* out = t.out.data + i * t.out.row;
    const T* addend = use_addend ? t.addend.data + i * t.addend.row : nullptr;
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      const int64_t n = std::min<int64_t>(lanes, t.columns - v * lanes);
      if (n == lanes) {
        store(out + v * lanes,
              finish(sum[v], t, out + v * lanes, addend ? addend + v * lanes : nullptr, lanes));
      } else if (n > 0) {
        store_first(out + v * lanes,
                    finish(sum[v], t, out + v * lanes, addend ? addend + v * lanes : nullptr, n),
                    n);
      }
    }
    return;
  }
  Vec<T> values[V];  // a copy: indexing `sum` by a variable would keep it out of the registers
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) values[v] = sum[v];
  for (int64_t j = 0; j < t.columns; ++j) {
    T& out = t.out.at(i, j);
    const T base = !t.first ? out : use_addend ? t.beta * t.addend.at(i, j) : T(0);
    out = base + t.alpha * values[j / lanes][j % lanes];
  }
}

/// R rows of a times V registers of b, summed over `depth` steps.
template <class T, int R, int V>
void micro_kernel(int64_t depth, Matrix<const T> a, const T* b, int64_t b_row, const Target<T>& t) {
  Vec<T> sum[R][V] = {};
  const T* column = a.data;
  for (int64_t p = 0; p < depth; ++p, column += a.column, b += b_row) {
    Vec<T> right[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) right[v] = load(b + v * kLanes<T>);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const Vec<T> left = broadcast(column[r * a.row]);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[r][v] += left * right[v];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) store_row<T, V>(sum[r], r, t);
}

template <class T>
using MicroKernel = void (*)(int64_t, Matrix<const T>, const T*, int64_t, const Target<T>&);

template <class T, int R>
constexpr MicroKernel<T> kKernels[kVecs] = {&micro_kernel<T, R, 1>, &micro_kernel<T, R, 2>,
                                            &micro_kernel<T, R, 3>};

/// All rows of a against one panel of b.
template <class T>
void run_panel(int64_t rows, int64_t depth, Matrix<const T> a, const T* b, int64_t b_row, int vecs,
               Target<T> t) {
  int64_t i = 0;
  const auto step = [&](MicroKernel<T> kernel, int64_t r) {
    for (; i + r <= rows; i += r) {
      kernel(depth, a, b, b_row, t);
      a.data += r * a.row;
      t.out.data += r * t.out.row;
      if (t.addend.data) t.addend.data += r * t.addend.row;
    }
  };
  step(kKernels<T, kRows>[vecs - 1], kRows);
  if constexpr (kRows > 4) step(kKernels<T, 4>[vecs - 1], 4);
  step(kKernels<T, 2>[vecs - 1], 2);
  step(kKernels<T, 1>[vecs - 1], 1);
}

/// Copies `lanes` columns of b (those past `columns` become zero) so that row p lies at out + p *
/// width.
template <class T>
void pack_lanes(Matrix<const T> b, int64_t depth, int64_t columns, T* out, int64_t width) {
  constexpr int lanes = kLanes<T>;
  const int64_t n = std::min<int64_t>(columns, lanes);
  if (b.column == 1) {
    for (int64_t p = 0; p < depth; ++p)
      store(out + p * width,
            n == lanes ? load(b.data + p * b.row) : load_first(b.data + p * b.row, n));
    return;
  }
  int64_t p = 0;
  if (b.row == 1) {
    for (; p + lanes <= depth; p += lanes) {
      Vec<T> square[lanes];
      for (int j = 0; j < lanes; ++j)
        square[j] = j < n ? load(b.data + j * b.column + p) : Vec<T>{};
      transpose_square<T>(square);
      for (int i = 0; i < lanes; ++i) store(out + (p + i) * width, square[i]);
    }
  }
  for (; p < depth; ++p)
    for (int j = 0; j < lanes; ++j) out[p * width + j] = j < n ? b.at(p, j) : T(0);
}

template <class T>
void pack_panel(Matrix<const T> b, int64_t depth, int64_t columns, int vecs, T* out) {
  for (int v = 0; v < vecs; ++v)
    pack_lanes(b.block(0, v * kLanes<T>), depth, columns - v * kLanes<T>, out + v * kLanes<T>,
               int64_t{vecs} * kLanes<T>);
}

/// Columns cut into panels of up to kVecs registers, as even as possible.
template <class T>
struct Panels {
  int64_t columns, vecs, count;

  explicit Panels(int64_t n)
      : columns(n), vecs((n + kLanes<T> - 1) / kLanes<T>), count((vecs + kVecs - 1) / kVecs) {}
  int64_t first_vec(int64_t panel) const {
    return panel * (vecs / count) + std::min(panel, vecs % count);
  }
  int64_t begin(int64_t panel) const { return first_vec(panel) * kLanes<T>; }
  int width(int64_t panel) const {
    return static_cast<int>(first_vec(panel + 1) - first_vec(panel));
  }
};

template <class T>
Target<T> target_of(const Gemm<T>& g, int64_t i, int64_t j, bool first, int64_t columns) {
  Matrix<const T> addend = g.addend;
  if (addend.data) addend = addend.block(i, j);
  return {g.out.block(i, j), addend, g.alpha, g.beta, first, columns};
}

/// Small products, and those with few rows: every panel packs its own piece of b, a is read in
/// place.
template <class T>
void gemm_small(const Gemm<T>& g) {
  const Panels<T> panels(g.n);
  const int64_t work = std::max<int64_t>(1, g.m * g.k * kVecs * kLanes<T>);
  parallel_for(0, panels.count, std::max<int64_t>(1, kParallelWork / work),
               [&](int64_t begin, int64_t end) {
                 ScratchArray<T> packed(std::min(g.k, kDepth) * kVecs * kLanes<T>);
                 for (int64_t panel = begin; panel < end; ++panel) {
                   const int64_t j = panels.begin(panel);
                   const int vecs = panels.width(panel);
                   const int64_t columns = std::min(g.n - j, int64_t{vecs} * kLanes<T>);
                   const bool in_place = g.b.column == 1 && columns == int64_t{vecs} * kLanes<T>;
                   int64_t p = 0;
                   do {  // once even if k is 0
                     const int64_t depth = std::min(kDepth, g.k - p);
                     const Matrix<const T> b = g.b.block(p, j);
                     if (!in_place) pack_panel(b, depth, columns, vecs, packed.get());
                     run_panel(g.m, depth, g.a.block(0, p), in_place ? b.data : packed.get(),
                               in_place ? b.row : int64_t{vecs} * kLanes<T>, vecs,
                               target_of(g, 0, j, p == 0, columns));
                     p += depth;
                   } while (p < g.k);
                 }
               });
}

/// Rows of a as the micro-kernel walks through them: kRows neighbours side by side.
template <class T>
void pack_rows(Matrix<const T> a, int64_t rows, int64_t depth, T* out) {
  for (int64_t i = 0; i < rows; i += kRows, out += kRows * depth) {
    const int64_t n = std::min<int64_t>(kRows, rows - i);
    if (a.row == 1 && n == kRows) {
      for (int64_t p = 0; p < depth; ++p)
        std::memcpy(out + p * kRows, &a.at(i, p), kRows * sizeof(T));
    } else {
      for (int64_t r = 0; r < n; ++r)
        for (int64_t p = 0; p < depth; ++p) out[p * kRows + r] = a.at(i + r, p);
    }
  }
}

/// A block of packed rows against panels [begin, end) of packed b.
template <class T>
void run_block(const Gemm<T>& g, const Panels<T>& panels, const T* a, const T* b, int64_t i,
               int64_t rows, int64_t column, int64_t depth, bool first, int64_t begin,
               int64_t end) {
  for (int64_t panel = begin; panel < end; ++panel) {
    const int64_t j = panels.begin(panel);
    const int vecs = panels.width(panel);
    const int64_t columns = std::min(panels.columns - j, int64_t{vecs} * kLanes<T>);
    for (int64_t r = 0; r < rows; r += kRows)
      run_panel<T>(std::min<int64_t>(kRows, rows - r), depth, {a + r * depth, 1, kRows},
                   b + j * depth, int64_t{vecs} * kLanes<T>, vecs,
                   target_of(g, i + r, column + j, first, columns));
  }
}

template <class T>
void gemm_large(const Gemm<T>& g) {
  const int64_t blocks = (g.m + kBlockRows - 1) / kBlockRows;
  for (int64_t column = 0; column < g.n; column += kBlockColumns) {
    const Panels<T> panels(std::min(kBlockColumns, g.n - column));
    // Few blocks of rows: the panels are shared out as well.
    const int64_t parts = std::clamp<int64_t>(16 / blocks, 1, (panels.count + 7) / 8);
    ScratchArray<T> b(panels.vecs * kLanes<T> * std::min(g.k, kDepth));
    for (int64_t p = 0; p < g.k; p += kDepth) {
      const int64_t depth = std::min(kDepth, g.k - p);
      parallel_for(0, panels.count, 8, [&](int64_t begin, int64_t end) {
        for (int64_t panel = begin; panel < end; ++panel) {
          const int64_t j = panels.begin(panel);
          pack_panel(g.b.block(p, column + j), depth, panels.columns - j, panels.width(panel),
                     b.get() + j * depth);
        }
      });
      parallel_for(0, blocks * parts, 1, [&](int64_t begin, int64_t end) {
        ScratchArray<T> a(kBlockRows * depth);
        for (int64_t task = begin; task < end; ++task) {
          const int64_t i = task / parts * kBlockRows, part = task % parts;
          const int64_t rows = std::min(kBlockRows, g.m - i);
          if (part == 0 || task == begin) pack_rows(g.a.block(i, p), rows, depth, a.get());
          run_block(g, panels, a.get(), b.get(), i, rows, column, depth, p == 0,
                    panels.count * part / parts, panels.count * (part + 1) / parts);
        }
      });
    }
  }
}

/// What is left of two vectors when in each the lanes that are Width apart are added: blocks of
/// Width lanes, of a and b in turn.
template <int Width, class V, int... I>
TAEDA_ALWAYS_INLINE V add_halves(V a, V b, std::integer_sequence<int, I...>) {
  constexpr int n = sizeof...(I);
  return __builtin_shufflevector(a, b,
                                 (I / Width % 2 * n + I / (2 * Width) * 2 * Width + I % Width)...) +
         __builtin_shufflevector(
             a, b, (I / Width % 2 * n + I / (2 * Width) * 2 * Width + I % Width + Width)...);
}

/// Lane i of the result: sum_lanes(v[i]), to the bit, with a third of its instructions.
template <class T, int Width = kLanes<T> / 2>
TAEDA_ALWAYS_INLINE Vec<T> sum_lanes_of_all(Vec<T>* v) {
  if constexpr (Width == 0) {
    return v[0];
  } else {
#pragma GCC unroll 8
    for (int i = 0; i < Width; ++i)
      v[i] = add_halves<Width>(v[i], v[i + Width], std::make_integer_sequence<int, kLanes<T>>());
    return sum_lanes_of_all<T, Width / 2>(v);
  }
}

/// One row of a against columns of b that lie along k: as many dot products at a time as a vector
/// has lanes, so that their sums are a vector, too.
template <class T>
void gemm_dots(const Gemm<T>& g) {
  constexpr int lanes = kLanes<T>;
  const int64_t groups = (g.n + lanes - 1) / lanes;
  parallel_for(0, groups, std::max<int64_t>(1, kParallelWork / (lanes * g.k + 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t at = begin * lanes; at < std::min(g.n, end * lanes); at += lanes) {
                   const int64_t n = std::min<int64_t>(lanes, g.n - at);
                   const T* right = g.b.data + at * g.b.column;
                   Vec<T> sum[lanes] = {};
                   for (int64_t p = 0; p < g.k; p += lanes) {
                     const int64_t width = std::min<int64_t>(lanes, g.k - p);
                     const bool whole = width == lanes;
                     const Vec<T> left =
                         whole ? load(g.a.data + p) : load_first(g.a.data + p, width);
#pragma GCC unroll 16
                     for (int j = 0; j < lanes; ++j) {
                       const T* column = right + (j < n ? j : 0) * g.b.column + p;
                       sum[j] += left * (whole ? load(column) : load_first(column, width));
                     }
                   }
                   T products[lanes];
                   store(products, sum_lanes_of_all<T>(sum));
                   for (int64_t j = 0; j < n; ++j) {
                     const T base = g.addend.data ? g.beta * g.addend.at(0, at + j) : T(0);
                     g.out.at(0, at + j) = base + g.alpha * products[j];
                   }
                 }
               });
}

template <class T>
void gemm_vectorised(const Gemm<T>& g) {
  if (g.m <= 0 || g.n <= 0) return;
  const bool turn = g.n == 1 && g.m > 1 ? true : g.m > 1 && g.out.column != 1 && g.out.row == 1;
  if (turn) return gemm_vectorised(g.transposed());
  if (g.m == 1 && g.b.row == 1 && (g.a.column == 1 || g.k <= 1) && g.k > 0) return gemm_dots(g);
  if (g.m <= 2 * kRows || g.m * g.n * g.k < kLarge) return gemm_small(g);
  gemm_large(g);
}

}  // namespace

void gemm(const Gemm<float>& g) { gemm_vectorised(g); }
void gemm(const Gemm<double>& g) { gemm_vectorised(g); }

template <class T>
void gemm_plain(const Gemm<T>& g) {
  using Sum = opmath_t<T>;
  const auto add = [](Sum& sum, Sum a, Sum b) {
    if constexpr (wrapping::kCanOverflow<Sum>)
      sum = wrapping::add(sum, wrapping::mul(a, b));
    else
      sum += a * b;
  };
  constexpr int64_t width = 64;
  const int64_t grain = std::max<int64_t>(1, kParallelGrain / std::max<int64_t>(1, g.n * g.k));
  parallel_for(0, g.m, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t j = 0; j < g.n; j += width) {
        const int64_t n = std::min(width, g.n - j);
        Sum sum[width] = {};
        for (int64_t p = 0; p < g.k; ++p) {
          const Sum left = static_cast<Sum>(g.a.at(i, p));
          const Matrix<const T> b = g.b.block(p, j);
          if (b.column == 1)
            for (int64_t c = 0; c < n; ++c) add(sum[c], left, static_cast<Sum>(b.data[c]));
          else
            for (int64_t c = 0; c < n; ++c)
              add(sum[c], left, static_cast<Sum>(b.data[c * b.column]));
        }
        for (int64_t c = 0; c < n; ++c) {
          Sum value = wrapping::mul(static_cast<Sum>(g.alpha), sum[c]);
          if (g.addend.data)
            add(value, static_cast<Sum>(g.beta), static_cast<Sum>(g.addend.at(i, j + c)));
          g.out.at(i, j + c) = static_cast<T>(value);
        }
      }
    }
  });
}

#define TAEDA_INSTANTIATE(T) template void gemm_plain<T>(const Gemm<T>&);
TAEDA_INSTANTIATE(int64_t)
TAEDA_INSTANTIATE(int32_t)
TAEDA_INSTANTIATE(int16_t)
TAEDA_INSTANTIATE(int8_t)
TAEDA_INSTANTIATE(uint8_t)
TAEDA_INSTANTIATE(complex<float>)
TAEDA_INSTANTIATE(complex<double>)
#undef TAEDA_INSTANTIATE

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
