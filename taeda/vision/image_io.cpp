#include "taeda/vision/image_io.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "taeda/base/error.h"
#include "taeda/io/atomic_file.h"
#include "taeda/io/budget.h"
#include "taeda/io/file_bytes.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/vision/jpeg.h"

#if defined(TAEDA_HAS_PNG)
#include <png.h>
#endif

namespace taeda::inline v0_2::vision {

namespace {

void check_picture(const char* op, const Tensor& image) {
  TAEDA_CHECK_TYPE(image.dtype() == kByte, op, " expects a uint8 tensor, got ",
                   dtype_name(image.dtype()));
  TAEDA_CHECK_VALUE(image.dim() == 3 && image.numel() > 0, op,
                    " expects (channels, height, width), got ", image.sizes());
  const int64_t c = image.size(0);
  TAEDA_CHECK_VALUE(c == 1 || c == 3 || c == 4, op, " expects 1, 3 or 4 channels, got ", c);
}

void check_encoded(const char* op, const Tensor& bytes) {
  TAEDA_CHECK_TYPE(bytes.dtype() == kByte && bytes.dim() == 1, op,
                   " expects a uint8 tensor of one dimension, got ", dtype_name(bytes.dtype()),
                   " of shape ", bytes.sizes());
}

#if defined(TAEDA_HAS_PNG)

struct PngImage : png_image {
  PngImage() : png_image{} { version = PNG_IMAGE_VERSION; }
  ~PngImage() { ::png_image_free(this); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
};

#endif

std::atomic<int64_t> most_pixels{178'956'970};

}  // namespace

void set_max_image_pixels(int64_t count) {
  TAEDA_CHECK_VALUE(count > 0, "set_max_image_pixels: expected 1 or more, got ", count);
  most_pixels = count;
}

int64_t max_image_pixels() { return most_pixels; }

void detail::check_pixels(uint64_t width, uint64_t height, const std::string& source) {
  const auto most = static_cast<uint64_t>(max_image_pixels());
  TAEDA_CHECK(width == 0 || height <= most / width, "cannot read ", source, ": ", width, " x ",
              height, " pixels are more than ", most,
              "; vision::set_max_image_pixels lets larger ones in");
}

#if defined(TAEDA_HAS_PNG)

bool has_png() { return true; }

namespace {

/// `source` names the file in errors.
/// What the file packs: the first chunk, of a fixed place, says how many bits a pixel has.
uint64_t raw_png_bytes(const void* data, size_t bytes, uint64_t width, uint64_t height) {
  constexpr size_t kDepthAt = 24, kColorAt = 25;
  constexpr uint64_t kChannels[] = {1, 0, 3, 1, 2, 0, 4};  // by the type of colour
  const auto* file = static_cast<const uint8_t*>(data);
  const bool known = bytes > kColorAt && file[kColorAt] < std::size(kChannels);
  const uint64_t bits = known ? file[kDepthAt] * kChannels[file[kColorAt]] : 1;
  return (width * bits + 7) / 8 * height;
}

Tensor read_png_bytes(const void* data, size_t bytes, const std::string& source) {
  PngImage png;
  TAEDA_CHECK(bytes > 0 && ::png_image_begin_read_from_memory(&png, data, bytes), "cannot read ",
              source, ": ", bytes > 0 ? png.message : "the file is empty");
  detail::check_pixels(png.width, png.height, source);
  detail::charge_picture(bytes, source, raw_png_bytes(data, bytes, png.width, png.height));
  const bool color = png.format & PNG_FORMAT_FLAG_COLOR, alpha = png.format & PNG_FORMAT_FLAG_ALPHA;
  png.format = alpha ? PNG_FORMAT_RGBA : color ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  const int64_t channels = alpha ? 4 : color ? 3 : 1;
  Tensor pixels = empty({png.height, png.width, channels}, TensorOptions(kByte).device(kCPU));
  TAEDA_CHECK(::png_image_finish_read(&png, nullptr, pixels.data_ptr(), 0, nullptr), "cannot read ",
              source, ": ", png.message);
  return pixels.permute({2, 0, 1}).contiguous();
}

}  // namespace

Tensor encode_png(const Tensor& image) {
  check_picture("encode_png", image);
  const Tensor pixels = image.cpu().permute({1, 2, 0}).contiguous();
  PngImage png;
  png.height = static_cast<png_uint_32>(pixels.size(0));
  png.width = static_cast<png_uint_32>(pixels.size(1));
  const int64_t c = pixels.size(2);
  png.format = c == 1 ? PNG_FORMAT_GRAY : c == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  const Tensor room = empty({static_cast<int64_t>(size)}, TensorOptions(kByte).device(kCPU));
  TAEDA_CHECK(
      ::png_image_write_to_memory(&png, room.data_ptr(), &size, 0, pixels.data_ptr(), 0, nullptr),
      "cannot encode a picture as PNG: ", png.message);
  return room.narrow(0, 0, static_cast<int64_t>(size)).clone();
}

Tensor decode_png(const Tensor& bytes) {
  check_encoded("decode_png", bytes);
  const Tensor c = bytes.cpu().contiguous();
  return read_png_bytes(c.data_ptr(), static_cast<size_t>(c.numel()), "a PNG image");
}

#else

bool has_png() { return false; }

namespace {
[[noreturn]] void no_png(const std::string& what) {
  throw NotImplementedError("cannot " + what + ": this build of Taeda has no libpng");
}
Tensor read_png_bytes(const void*, size_t, const std::string& source) { no_png("read " + source); }
}  // namespace

Tensor encode_png(const Tensor& image) {
  check_picture("encode_png", image);
  no_png("encode a picture as PNG");
}
Tensor decode_png(const Tensor& bytes) {
  check_encoded("decode_png", bytes);
  no_png("read a PNG image");
}

#endif

Tensor read_png(const std::string& path) {
  const std::string file = io::read_file(path);
  return read_png_bytes(file.data(), file.size(), path);
}

void detail::charge_picture(size_t bytes, const std::string& source, uint64_t raw) {
  try {
    io::Budget(bytes).charge(raw, "the picture");
  } catch (const Error& e) {
    throw Error("cannot read " + source + ": " + e.message());
  }
}

void write_png(const Tensor& image, const std::string& path) {
  check_picture("write_png", image);
  const Tensor file = encode_png(image);
  io::write_file(path,
                 {static_cast<const char*>(file.data_ptr()), static_cast<size_t>(file.numel())});
}

Tensor read_image(const std::string& path, ImageReadMode mode) {
  const std::string file = io::read_file(path);
  const bool png = file.starts_with("\x89PNG"), jpeg = file.starts_with("\xff\xd8\xff");
  TAEDA_CHECK(png || jpeg, "cannot read ", path, ": it is no PNG or JPEG file");
  Tensor image = png ? read_png_bytes(file.data(), file.size(), path)
                     : detail::read_jpeg(file.data(), file.size(), path);
  if (mode == ImageReadMode::kUnchanged) return image;
  if (image.size(0) == 4) image = image.narrow(0, 0, 3);
  if (mode == ImageReadMode::kRgb) return image.expand({3, -1, -1}).contiguous();
  return image.size(0) == 1 ? image : detail::to_gray(image);
}

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
