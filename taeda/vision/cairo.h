// Cairo, the drawing library, which is loaded if it is there: nothing else needs it.
#pragma once

#include <string_view>

#include "taeda/base/shared_library.h"
#include "taeda/tensor/tensor.h"
#include "taeda/vision/grid.h"

namespace taeda::inline v0_2::vision::detail {

/// What is called of Cairo's C interface (cairographics.org/manual), with its types as they are
/// passed: handles are pointers, enumerations are ints.
struct Cairo {
  using Surface = struct _cairo_surface;
  using Context = struct _cairo;
  /// cairo_text_extents_t
  struct Extents {
    double x_bearing, y_bearing, width, height, x_advance, y_advance;
  };

  SharedLibrary library{"libcairo.so.2"};
  Surface* (*create_surface)(int format, int width, int height) = nullptr;
  int (*surface_status)(Surface*) = nullptr;
  void (*flush)(Surface*) = nullptr;
  unsigned char* (*data)(Surface*) = nullptr;
  int (*stride)(Surface*) = nullptr;
  void (*destroy_surface)(Surface*) = nullptr;
  Context* (*create)(Surface*) = nullptr;
  int (*status)(Context*) = nullptr;
  void (*destroy)(Context*) = nullptr;
  void (*set_color)(Context*, double, double, double) = nullptr;
  void (*paint)(Context*) = nullptr;
  void (*set_line_width)(Context*, double) = nullptr;
  void (*set_line_cap)(Context*, int) = nullptr;
  void (*set_line_join)(Context*, int) = nullptr;
  void (*set_dash)(Context*, const double*, int, double) = nullptr;
  void (*move_to)(Context*, double, double) = nullptr;
  void (*line_to)(Context*, double, double) = nullptr;
  void (*rectangle)(Context*, double, double, double, double) = nullptr;
  void (*stroke)(Context*) = nullptr;
  void (*fill)(Context*) = nullptr;
  void (*select_font)(Context*, const char*, int slant, int weight) = nullptr;
  void (*set_font_size)(Context*, double) = nullptr;
  void (*text_extents)(Context*, const char*, Extents*) = nullptr;
  void (*show_text)(Context*, const char*) = nullptr;
  void (*save)(Context*) = nullptr;
  void (*restore)(Context*) = nullptr;
  void (*translate)(Context*, double, double) = nullptr;
  void (*rotate)(Context*, double) = nullptr;
  bool complete = load();

 private:
  bool load();
};

/// Cairo's functions; null where it is not installed.
const Cairo* cairo();

/// An image and what draws on it; they go with the object.
class CairoCanvas {
 public:
  /// `format` is a cairo_format_t.
  CairoCanvas(const Cairo& cairo, int format, int64_t width, int64_t height);
  ~CairoCanvas();
  CairoCanvas(const CairoCanvas&) = delete;
  CairoCanvas& operator=(const CairoCanvas&) = delete;

  /// Null if there is no image of that size.
  Cairo::Context* context() const { return context_; }
  /// Whether all went well. What was drawn can be read then.
  bool finish() const;
  /// The first byte of a row.
  const unsigned char* row(int64_t y) const;

 private:
  const Cairo& cairo_;
  Cairo::Surface* surface_;
  Cairo::Context* context_ = nullptr;
};

/// cairo_format_t: words 0x00RRGGBB; one byte that says how much is covered.
constexpr int kRgb24 = 1, kA8 = 2;

/// Writes a line of the system's sans-serif font, its upper left corner at (x, y). False, with the
/// picture as it was, where Cairo is not installed or `text` is no UTF-8.
bool write_text(const Tensor& picture, int64_t x, int64_t y, std::string_view text, Color color,
                double size);

}  // namespace taeda::inline v0_2::vision::detail
