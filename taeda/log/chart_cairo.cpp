// Charts drawn by Cairo, which is loaded if it is there: nothing else of the library needs it.
#include <cstdint>
#include <memory>

#include "taeda/base/shared_library.h"
#include "taeda/log/chart_scene.h"

namespace taeda::inline v0_2::logging::detail {

namespace {

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

  bool load() {
    const auto get = [this](auto*& f, const char* name) { return library.load(f, name); };
    return get(create_surface, "cairo_image_surface_create") &&
           get(surface_status, "cairo_surface_status") && get(flush, "cairo_surface_flush") &&
           get(data, "cairo_image_surface_get_data") &&
           get(stride, "cairo_image_surface_get_stride") &&
           get(destroy_surface, "cairo_surface_destroy") && get(create, "cairo_create") &&
           get(status, "cairo_status") && get(destroy, "cairo_destroy") &&
           get(set_color, "cairo_set_source_rgb") && get(paint, "cairo_paint") &&
           get(set_line_width, "cairo_set_line_width") && get(set_line_cap, "cairo_set_line_cap") &&
           get(set_line_join, "cairo_set_line_join") && get(set_dash, "cairo_set_dash") &&
           get(move_to, "cairo_move_to") && get(line_to, "cairo_line_to") &&
           get(rectangle, "cairo_rectangle") && get(stroke, "cairo_stroke") &&
           get(fill, "cairo_fill") && get(select_font, "cairo_select_font_face") &&
           get(set_font_size, "cairo_set_font_size") && get(text_extents, "cairo_text_extents") &&
           get(show_text, "cairo_show_text") && get(save, "cairo_save") &&
           get(restore, "cairo_restore") && get(translate, "cairo_translate") &&
           get(rotate, "cairo_rotate");
  }
};

constexpr int kRgb24 = 1, kRound = 1;  ///< CAIRO_FORMAT_RGB24; CAIRO_LINE_CAP_ROUND and _JOIN_ROUND

const Cairo& cairo() {
  static const Cairo loaded;
  return loaded;
}

struct Painter {
  const Cairo& c;
  Cairo::Context* context;

  void color(const vision::Color& v) const {
    c.set_color(context, v.red / 255.0, v.green / 255.0, v.blue / 255.0);
  }
  void operator()(const Stroke& s) const {
    if (s.points.empty()) return;
    // Thin straight lines lie on pixels, not between them.
    const double shift = s.width <= 1 ? 0.5 : 0;
    const auto at = [shift](double v) {
      return shift > 0 ? static_cast<double>(int64_t(v)) + shift : v;
    };
    constexpr double kDashes[] = {6, 5};
    color(s.color);
    c.set_line_width(context, s.width);
    c.set_dash(context, kDashes, s.dashed ? 2 : 0, 0);
    c.move_to(context, at(s.points[0].first), at(s.points[0].second));
    for (const auto& [x, y] : s.points) c.line_to(context, at(x), at(y));
    c.stroke(context);
  }
  void operator()(const Box& b) const {
    color(b.color);
    c.rectangle(context, b.x, b.y, b.width, b.height);
    c.fill(context);
  }
  void operator()(const Label& l) const {
    if (l.text.empty()) return;
    color({20, 20, 20});
    c.set_font_size(context, l.size);
    Cairo::Extents extents{};
    c.text_extents(context, l.text.c_str(), &extents);
    const double back = l.anchor == Anchor::kStart ? 0 : l.anchor == Anchor::kMiddle ? 0.5 : 1;
    c.save(context);
    c.translate(context, l.x, l.y);
    if (l.upright) c.rotate(context, -1.5707963267948966);
    c.move_to(context, -back * extents.x_advance, 0);
    c.show_text(context, l.text.c_str());
    c.restore(context);
  }
};

/// RGB24's pixels are words of 32 bits, 0x00RRGGBB.
void copy_pixels(const unsigned char* rows, int stride, const Tensor& picture) {
  const int64_t height = picture.size(1), width = picture.size(2);
  auto* bytes = picture.data_ptr<uint8_t>();
  for (int64_t y = 0; y < height; ++y) {
    const auto* row = reinterpret_cast<const uint32_t*>(rows + y * stride);
    for (int64_t x = 0; x < width; ++x)
      for (int64_t k = 0; k < 3; ++k)
        bytes[(k * height + y) * width + x] = static_cast<uint8_t>(row[x] >> (16 - 8 * k));
  }
}

}  // namespace

bool paint_with_cairo(const Scene& scene, const Tensor& picture) {
  const Cairo& c = cairo();
  if (!c.complete) return false;
  const std::unique_ptr<Cairo::Surface, void (*)(Cairo::Surface*)> surface(
      c.create_surface(kRgb24, static_cast<int>(scene.width), static_cast<int>(scene.height)),
      c.destroy_surface);
  if (c.surface_status(surface.get()) != 0) return false;
  const std::unique_ptr<Cairo::Context, void (*)(Cairo::Context*)> context(c.create(surface.get()),
                                                                           c.destroy);
  c.set_color(context.get(), 1, 1, 1);
  c.paint(context.get());
  c.set_line_cap(context.get(), kRound);
  c.set_line_join(context.get(), kRound);
  c.select_font(context.get(), "sans-serif", 0, 0);
  scene.each(Painter{c, context.get()});
  c.flush(surface.get());
  if (c.status(context.get()) != 0) return false;
  copy_pixels(c.data(surface.get()), c.stride(surface.get()), picture);
  return true;
}

}  // namespace taeda::inline v0_2::logging::detail
