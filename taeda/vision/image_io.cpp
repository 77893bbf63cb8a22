#include "taeda/vision/image_io.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "taeda/base/error.h"
#include "taeda/io/atomic_file.h"
#include "taeda/io/mapped_file.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/shape.h"

#if defined(TAEDA_HAS_PNG)
#include <png.h>
#endif

namespace taeda::vision {

namespace {

void check_picture(const Tensor& image) {
  TAEDA_CHECK_TYPE(image.dtype() == kByte, "write_png expects a uint8 tensor, got ",
                   dtype_name(image.dtype()));
  TAEDA_CHECK_VALUE(image.dim() == 3 && image.numel() > 0,
                    "write_png expects (channels, height, width), got ", image.sizes());
  const int64_t c = image.size(0);
  TAEDA_CHECK_VALUE(c == 1 || c == 3 || c == 4, "write_png expects 1, 3 or 4 channels, got ", c);
}

#if defined(TAEDA_HAS_PNG)

/// Pictures of more pixels are refused before memory is taken for them.
constexpr uint64_t kMaxPixels = uint64_t{1} << 28;

struct PngImage : png_image {
  PngImage() : png_image{} { version = PNG_IMAGE_VERSION; }
  ~PngImage() { ::png_image_free(this); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
};

#endif

}  // namespace

#if defined(TAEDA_HAS_PNG)

bool has_png() { return true; }

void write_png(const Tensor& image, const std::string& path) {
  check_picture(image);
  const Tensor pixels = image.cpu().permute({1, 2, 0}).contiguous();
  PngImage png;
  png.height = static_cast<png_uint_32>(pixels.size(0));
  png.width = static_cast<png_uint_32>(pixels.size(1));
  const int64_t c = pixels.size(2);
  png.format = c == 1 ? PNG_FORMAT_GRAY : c == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
  io::AtomicFile file(path);
  TAEDA_CHECK(::png_image_write_to_stdio(&png, file.stream(), 0, pixels.data_ptr(), 0, nullptr),
              "cannot write ", path, ": ", png.message);
  file.commit();
}

Tensor read_png(const std::string& path) {
  const auto file = io::MappedFile::open(path);
  PngImage png;
  TAEDA_CHECK(
      file->size() > 0 && ::png_image_begin_read_from_memory(&png, file->data(), file->size()),
      "cannot read ", path, ": ", file->size() > 0 ? png.message : "the file is empty");
  TAEDA_CHECK(uint64_t{png.width} * png.height <= kMaxPixels, "cannot read ", path, ": ", png.width,
              " x ", png.height, " pixels are more than ", kMaxPixels);
  const bool color = png.format & PNG_FORMAT_FLAG_COLOR, alpha = png.format & PNG_FORMAT_FLAG_ALPHA;
  png.format = alpha ? PNG_FORMAT_RGBA : color ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  const int64_t channels = alpha ? 4 : color ? 3 : 1;
  Tensor pixels = empty({png.height, png.width, channels}, kByte);
  TAEDA_CHECK(::png_image_finish_read(&png, nullptr, pixels.data_ptr(), 0, nullptr), "cannot read ",
              path, ": ", png.message);
  return pixels.permute({2, 0, 1}).contiguous();
}

#else

bool has_png() { return false; }

void write_png(const Tensor& image, const std::string& path) {
  check_picture(image);
  throw NotImplementedError("cannot write " + path + ": this build of Taeda has no libpng");
}

Tensor read_png(const std::string& path) {
  throw NotImplementedError("cannot read " + path + ": this build of Taeda has no libpng");
}

#endif

Tensor to_bytes(const Tensor& image) {
  TAEDA_CHECK_TYPE(image.is_floating_point(), "expected a floating point picture, got ",
                   dtype_name(image.dtype()));
  const Tensor from = image.detach().cpu().to(kFloat).contiguous();
  Tensor out = empty(from.sizes(), kByte);
  const float* in = from.data_ptr<float>();
  auto* to = out.data_ptr<uint8_t>();
  for (int64_t i = 0; i < from.numel(); ++i)
    to[i] = static_cast<uint8_t>(std::clamp(in[i] * 255 + 0.5f, 0.f, 255.f));
  return out;
}

void save_image(const Tensor& images, const std::string& path, const GridOptions& options) {
  write_png(to_bytes(make_grid(images, options)), path);
}

}  // namespace taeda::vision
