#include "vision.h"

#include "bindings.h"
#include "taeda/vision/grid.h"
#include "taeda/vision/idx.h"
#include "taeda/vision/image_io.h"

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

/// The numbers of the boxes [N, 4] (x1, y1, x2, y2), best first, that share at most `threshold` of
/// both together with every earlier one that stays, if it has the same `group` (null: all have).
template <typename T>
std::vector<int64_t> without_doubles(const T* boxes, const int64_t* group, int64_t count,
                                     double threshold) {
  std::vector<T> areas(static_cast<size_t>(count));
  std::vector<char> gone(static_cast<size_t>(count));
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < count; ++i) {
    const T* box = boxes + 4 * i;
    areas[i] = (box[2] - box[0]) * (box[3] - box[1]);
  }
  for (int64_t i = 0; i < count; ++i) {
    if (gone[i]) continue;
    kept.push_back(i);
    const T* one = boxes + 4 * i;
    for (int64_t j = i + 1; j < count; ++j) {
      if (group && group[i] != group[j]) continue;
      const T* other = boxes + 4 * j;
      const T width = std::max(T(0), std::min(one[2], other[2]) - std::max(one[0], other[0]));
      const T height = std::max(T(0), std::min(one[3], other[3]) - std::max(one[1], other[1]));
      const T shared = width * height;
      if (shared / (areas[i] + areas[j] - shared) > threshold) gone[j] = 1;
    }
  }
  return kept;
}

Tensor nms_of_sorted(const Tensor& boxes, double threshold, const std::optional<Tensor>& groups) {
  const bool wide = boxes.dtype() == kFloat64;
  const Tensor rows = boxes.detach().to(Device("cpu")).to(wide ? kFloat64 : kFloat32).contiguous();
  Tensor numbers_of_groups;
  const int64_t* group = nullptr;
  if (groups) {
    numbers_of_groups = groups->detach().to(Device("cpu")).to(kInt64).contiguous();
    group = numbers_of_groups.data_ptr<int64_t>();
  }
  const std::vector<int64_t> kept =
      wide ? without_doubles(rows.data_ptr<double>(), group, rows.size(0), threshold)
           : without_doubles(rows.data_ptr<float>(), group, rows.size(0), threshold);
  const Tensor numbers = empty({static_cast<int64_t>(kept.size())}, kInt64);
  std::copy(kept.begin(), kept.end(), numbers.data_ptr<int64_t>());
  return numbers.to(boxes.device());
}

}  // namespace

void add_vision(PyObject* module) {
  py::module_ m = as_module(module).def_submodule("_vision");
  using released = py::call_guard<ReleaseGil>;
  add_transforms(m.ptr());
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
  m.def("nms_of_sorted", &nms_of_sorted, py::arg(), py::arg(), py::arg() = py::none(), released());
  m.def("make_grid", [](const Tensor& pictures, int64_t nrow, int64_t padding, bool normalize,
                        std::optional<std::pair<double, double>> value_range, bool scale_each,
                        double pad_value) {
    return vision::make_grid(
        pictures, grid_options(nrow, padding, normalize, value_range, scale_each, pad_value));
  });
}

}  // namespace taeda::python
