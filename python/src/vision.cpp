#include "vision.h"

#include "bindings.h"
#include "taeda/vision/color.h"
#include "taeda/vision/grid.h"
#include "taeda/vision/idx.h"
#include "taeda/vision/image_io.h"
#include "taeda/vision/resize.h"

namespace taeda::python {

namespace {

vision::GridOptions grid_options(int64_t nrow, int64_t padding, bool normalize,
                                 std::optional<std::pair<double, double>> value_range,
                                 bool scale_each, double pad_value) {
  return {.nrow = nrow,
          .padding = padding,
          .normalize = normalize,
          .value_range = value_range,
          .scale_each = scale_each,
          .pad_value = pad_value};
}

}  // namespace

void add_vision(PyObject* module) {
  py::module_ m = as_module(module).def_submodule("_vision");
  using released = py::call_guard<py::gil_scoped_release>;
  m.def("read_idx", &vision::read_idx, released());
  m.def("read_image", [](const std::string& path, int mode) {
    const ReleaseGil release;
    return vision::read_image(path, static_cast<vision::ImageReadMode>(mode));
  });
  m.def("encode_png", &vision::encode_png, released());
  m.def("decode_png", &vision::decode_png, released());
  m.def("encode_jpeg", &vision::encode_jpeg, released());
  m.def("decode_jpeg", &vision::decode_jpeg, released());
  m.def("write_png", &vision::write_png, released());
  m.def("write_jpeg", &vision::write_jpeg, released());
  m.def("to_bytes", &vision::to_bytes, released());
  m.def("resize_bilinear", &vision::resize_bilinear, released());
  m.def("resize_nearest", &vision::resize_nearest, released());
  m.def("rgb_to_grayscale", &vision::transforms::rgb_to_grayscale, released());
  m.def("adjust_hue", &vision::transforms::adjust_hue, released());
  m.def("make_grid", [](const Tensor& pictures, int64_t nrow, int64_t padding, bool normalize,
                        std::optional<std::pair<double, double>> value_range, bool scale_each,
                        double pad_value) {
    return vision::make_grid(
        pictures, grid_options(nrow, padding, normalize, value_range, scale_each, pad_value));
  });
}

}  // namespace taeda::python
