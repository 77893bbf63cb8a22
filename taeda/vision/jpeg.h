// JPEG files and grey pictures, for image_io.
#pragma once

#include <cstdint>
#include <string>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::vision::detail {

/// Throws Error, naming `source`, for a picture of more pixels than may be.
void check_pixels(uint64_t width, uint64_t height, const std::string& source);

/// Checks that a file of `bytes` bytes can hold a picture of `raw` bytes before packing. Throws
/// Error, naming `source`.
void charge_picture(size_t bytes, const std::string& source, uint64_t raw);

/// A picture from the bytes of a JPEG file; `source` names it in errors.
Tensor read_jpeg(const void* data, size_t bytes, const std::string& source);

/// (3, H, W) to (1, H, W), bytes; 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601), rounded.
Tensor to_gray(const Tensor& image);

}  // namespace taeda::vision::detail
