// Charts drawn by Cairo.
#include <cstdint>

#include "taeda/log/chart_scene.h"
#include "taeda/vision/cairo.h"

namespace taeda::inline v0_2::logging::detail {

namespace {

using vision::detail::Cairo, vision::detail::CairoCanvas;

constexpr int kRound = 1;  ///< CAIRO_LINE_CAP_ROUND and CAIRO_LINE_JOIN_ROUND

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

void copy_pixels(const CairoCanvas& canvas, const Tensor& picture) {
  const int64_t height = picture.size(1), width = picture.size(2);
  auto* bytes = picture.data_ptr<uint8_t>();
  for (int64_t y = 0; y < height; ++y) {
    const auto* row = reinterpret_cast<const uint32_t*>(canvas.row(y));
    for (int64_t x = 0; x < width; ++x)
      for (int64_t k = 0; k < 3; ++k)
        bytes[(k * height + y) * width + x] = static_cast<uint8_t>(row[x] >> (16 - 8 * k));
  }
}

}  // namespace

bool paint_with_cairo(const Scene& scene, const Tensor& picture) {
  const Cairo* c = vision::detail::cairo();
  if (!c) return false;
  const CairoCanvas canvas(*c, vision::detail::kRgb24, static_cast<int64_t>(scene.width),
                           static_cast<int64_t>(scene.height));
  Cairo::Context* context = canvas.context();
  if (!context) return false;
  c->set_color(context, 1, 1, 1);
  c->paint(context);
  c->set_line_cap(context, kRound);
  c->set_line_join(context, kRound);
  c->select_font(context, "sans-serif", 0, 0);
  scene.each(Painter{*c, context});
  if (!canvas.finish()) return false;
  copy_pixels(canvas, picture);
  return true;
}

}  // namespace taeda::inline v0_2::logging::detail
