#include "taeda/vision/jpeg.h"

#include <cstdio>
#include <cstdlib>

#include "taeda/base/error.h"
#include "taeda/io/atomic_file.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/vision/image_io.h"

#if defined(TAEDA_HAS_JPEG)
#include <jpeglib.h>  // after cstdio, which it does not include
#endif

namespace taeda::inline v0_2::vision {

namespace {

void check_jpeg_picture(const Tensor& image, int quality) {
  TAEDA_CHECK_TYPE(image.dtype() == kByte, "encode_jpeg expects a uint8 tensor, got ",
                   dtype_name(image.dtype()));
  TAEDA_CHECK_VALUE(
      image.dim() == 3 && image.numel() > 0 && (image.size(0) == 1 || image.size(0) == 3),
      "encode_jpeg expects (1 or 3 channels, height, width), got ", image.sizes());
  TAEDA_CHECK_VALUE(quality >= 1 && quality <= 100,
                    "Image quality should be a positive number between 1 and 100, got ", quality);
}

#if defined(TAEDA_HAS_JPEG)

/// What the library calls instead of ending the program.
struct ErrorManager : jpeg_error_mgr {
  std::string source;

  [[noreturn]] static void fail(j_common_ptr info) {
    char text[JMSG_LENGTH_MAX];
    info->err->format_message(info, text);
    throw Error(static_cast<ErrorManager*>(info->err)->source + ": " + text);
  }
  /// Damage that the library would paint over (a file cut off) is an error, too.
  static void message(j_common_ptr info, int level) {
    if (level < 0) fail(info);
  }
  explicit ErrorManager(std::string what) : jpeg_error_mgr{}, source(std::move(what)) {
    ::jpeg_std_error(this);
    error_exit = &fail;
    emit_message = &message;
  }
};

/// The library's state, released however a function is left. Its functions are C, compiled with
/// unwind tables on every platform that this builds on, so the exception of fail() may cross them.
struct Decoder : jpeg_decompress_struct {
  explicit Decoder(ErrorManager& errors) : jpeg_decompress_struct{} {
    err = &errors;
    ::jpeg_create_decompress(this);
  }
  ~Decoder() { ::jpeg_destroy_decompress(this); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
};

struct Encoder : jpeg_compress_struct {
  unsigned char* out = nullptr;
  unsigned long size = 0;
  explicit Encoder(ErrorManager& errors) : jpeg_compress_struct{} {
    err = &errors;
    ::jpeg_create_compress(this);
    ::jpeg_mem_dest(this, &out, &size);
  }
  ~Encoder() {
    ::jpeg_destroy_compress(this);
    std::free(out);
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
};

#endif

}  // namespace

#if defined(TAEDA_HAS_JPEG)

bool has_jpeg() { return true; }

Tensor detail::read_jpeg(const void* data, size_t bytes, const std::string& source) {
  ErrorManager errors("cannot read " + source);
  Decoder jpeg(errors);
  ::jpeg_mem_src(&jpeg, static_cast<const unsigned char*>(data), static_cast<unsigned long>(bytes));
  ::jpeg_read_header(&jpeg, TRUE);
  detail::check_pixels(jpeg.image_width, jpeg.image_height, source);
  const int64_t channels = jpeg.num_components == 1 ? 1 : 3;
  detail::charge_picture(
      bytes, source,
      uint64_t{jpeg.image_width} * jpeg.image_height * static_cast<uint64_t>(jpeg.num_components));
  jpeg.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  ::jpeg_start_decompress(&jpeg);
  const Tensor pixels = empty({jpeg.output_height, jpeg.output_width, channels}, kByte);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = pixels.data_ptr<uint8_t>() + jpeg.output_scanline * pixels.stride(0);
    ::jpeg_read_scanlines(&jpeg, &row, 1);
  }
  ::jpeg_finish_decompress(&jpeg);
  return pixels.permute({2, 0, 1}).contiguous();
}

Tensor encode_jpeg(const Tensor& image, int quality) {
  check_jpeg_picture(image, quality);
  const Tensor pixels = image.cpu().permute({1, 2, 0}).contiguous();
  ErrorManager errors("cannot encode a picture as JPEG");
  Encoder jpeg(errors);
  jpeg.image_height = static_cast<JDIMENSION>(pixels.size(0));
  jpeg.image_width = static_cast<JDIMENSION>(pixels.size(1));
  jpeg.input_components = static_cast<int>(pixels.size(2));
  jpeg.in_color_space = jpeg.input_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  ::jpeg_set_defaults(&jpeg);
  ::jpeg_set_quality(&jpeg, quality, TRUE);
  ::jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    JSAMPROW row = pixels.data_ptr<uint8_t>() + jpeg.next_scanline * pixels.stride(0);
    ::jpeg_write_scanlines(&jpeg, &row, 1);
  }
  ::jpeg_finish_compress(&jpeg);
  Tensor out = empty({static_cast<int64_t>(jpeg.size)}, kByte);
  std::copy_n(jpeg.out, jpeg.size, out.data_ptr<uint8_t>());
  return out;
}

#else

bool has_jpeg() { return false; }

Tensor detail::read_jpeg(const void*, size_t, const std::string& source) {
  throw NotImplementedError("cannot read " + source + ": this build of Taeda has no libjpeg");
}

Tensor encode_jpeg(const Tensor& image, int quality) {
  check_jpeg_picture(image, quality);
  throw NotImplementedError("cannot encode a picture as JPEG: this build of Taeda has no libjpeg");
}

#endif

Tensor decode_jpeg(const Tensor& bytes) {
  TAEDA_CHECK_TYPE(bytes.dtype() == kByte && bytes.dim() == 1,
                   "decode_jpeg expects a uint8 tensor of one dimension, got ",
                   dtype_name(bytes.dtype()), " of shape ", bytes.sizes());
  const Tensor c = bytes.cpu().contiguous();
  return detail::read_jpeg(c.data_ptr(), static_cast<size_t>(c.numel()), "a JPEG image");
}

void write_jpeg(const Tensor& image, const std::string& path, int quality) {
  const Tensor file = encode_jpeg(image, quality);
  io::write_file(path,
                 {static_cast<const char*>(file.data_ptr()), static_cast<size_t>(file.numel())});
}

Tensor detail::to_gray(const Tensor& image) {
  const Tensor from = image.contiguous();
  Tensor out = empty({1, from.size(1), from.size(2)}, kByte);
  const int64_t n = out.numel();
  const uint8_t* p = from.data_ptr<uint8_t>();
  for (int64_t i = 0; i < n; ++i)
    out.data_ptr<uint8_t>()[i] =
        static_cast<uint8_t>(0.299f * p[i] + 0.587f * p[n + i] + 0.114f * p[2 * n + i] + 0.5f);
  return out;
}

}  // namespace taeda::inline v0_2::vision
