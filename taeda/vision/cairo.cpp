#include "taeda/vision/cairo.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace taeda::inline v0_2::vision::detail {

bool Cairo::load() {
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

const Cairo* cairo() {
  static const Cairo loaded;
  return loaded.complete ? &loaded : nullptr;
}

CairoCanvas::CairoCanvas(const Cairo& cairo, int format, int64_t width, int64_t height)
    : cairo_(cairo),
      surface_(cairo.create_surface(format, static_cast<int>(std::min<int64_t>(width, INT32_MAX)),
                                    static_cast<int>(std::min<int64_t>(height, INT32_MAX)))) {
  if (cairo_.surface_status(surface_) == 0) context_ = cairo_.create(surface_);
}

CairoCanvas::~CairoCanvas() {
  if (context_) cairo_.destroy(context_);
  cairo_.destroy_surface(surface_);
}

bool CairoCanvas::finish() const {
  if (!context_) return false;
  cairo_.flush(surface_);
  return cairo_.status(context_) == 0;
}

const unsigned char* CairoCanvas::row(int64_t y) const {
  return cairo_.data(surface_) + y * cairo_.stride(surface_);
}

bool write_text(const Tensor& picture, int64_t x, int64_t y, std::string_view text, Color color,
                double size) {
  const Cairo* c = cairo();
  if (!c) return false;
  const int64_t height = picture.size(1), width = picture.size(2);
  // A font's letters reach from 0.95 of its size above the base line to 0.25 below it.
  const double ascent = std::round(0.95 * size);
  const auto rows = static_cast<int64_t>(std::ceil(ascent + 0.25 * size));
  const CairoCanvas canvas(*c, kA8, width, rows);
  if (!canvas.context()) return false;
  c->select_font(canvas.context(), "sans-serif", 0, 0);
  c->set_font_size(canvas.context(), size);
  c->move_to(canvas.context(), static_cast<double>(x), ascent);
  c->show_text(canvas.context(), std::string(text).c_str());
  if (!canvas.finish()) return false;
  auto* bytes = picture.data_ptr<uint8_t>();
  const uint8_t ink[] = {color.red, color.green, color.blue};
  for (int64_t i = std::max<int64_t>(0, -y); i < std::min(rows, height - y); ++i)
    for (int64_t j = 0; j < width; ++j)
      for (int64_t k = 0, cover = canvas.row(i)[j]; cover > 0 && k < 3; ++k) {
        uint8_t& paper =
            bytes[k * picture.stride(0) + (y + i) * picture.stride(1) + j * picture.stride(2)];
        paper = static_cast<uint8_t>((cover * ink[k] + (255 - cover) * paper + 127) / 255);
      }
  return true;
}

}  // namespace taeda::inline v0_2::vision::detail
