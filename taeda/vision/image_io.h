// Pictures in files, as torchvision.io: uint8 tensors (channels, height, width) with 1 (grey), 3
// (RGB) or 4 (RGBA) channels. A file in memory is a uint8 tensor of one dimension.
#pragma once

#include <string>

#include "taeda/tensor/tensor.h"
#include "taeda/vision/grid.h"

namespace taeda::inline v0_2::vision {

/// Files of more pixels are refused by every function that reads pictures, before memory is taken
/// for them: 178,956,970 (as Pillow's) until a program sets another number, for the whole process.
/// A few megabytes of PNG may ask for gigabytes. Throws ValueError for less than 1.
void set_max_image_pixels(int64_t count);
int64_t max_image_pixels();

/// Whether this build has libpng; without it reading and writing PNG files is an Error.
bool has_png();
/// Writes a PNG file, atomically. Throws TypeError or ValueError for other tensors,
/// NotImplementedError without libpng.
void write_png(const Tensor& image, const std::string& path);
/// Reads a PNG file; what it holds decides the channels. Throws Error, naming the file, when it is
/// no PNG or damaged.
Tensor read_png(const std::string& path);

/// A PNG file in memory. Throws as write_png.
Tensor encode_png(const Tensor& image);
/// A picture from the bytes of a PNG file. Throws Error when they are none.
Tensor decode_png(const Tensor& bytes);

/// Whether this build has libjpeg; without it reading and writing JPEG files is an Error.
bool has_jpeg();
/// A JPEG file in memory, of 1 or 3 channels, at a quality from 1 to 100. Throws TypeError or
/// ValueError for other tensors, NotImplementedError without libjpeg.
Tensor encode_jpeg(const Tensor& image, int quality = 75);
/// A picture of 1 or 3 channels from the bytes of a JPEG file. Throws Error when they are none, or
/// cut off.
Tensor decode_jpeg(const Tensor& bytes);
/// Writes a uint8 picture [1 or 3, H, W] as a JPEG file, atomically; throws Error where that fails.
void write_jpeg(const Tensor& image, const std::string& path, int quality = 75);

/// How many channels read_image gives.
/// By default those of the file.
enum class ImageReadMode { kUnchanged, kGray, kRgb };
/// Reads a PNG or JPEG file; its first bytes say which it is. Colours become grey by the weights
/// of ITU-R BT.601; transparency is dropped. Throws Error, naming the file.
Tensor read_image(const std::string& path, ImageReadMode mode = ImageReadMode::kUnchanged);

/// A float picture from 0 to 1 as bytes, rounded; values outside are clipped.
Tensor to_bytes(const Tensor& image);
/// Writes a float picture [C, H, W], values from 0 to 1, or a batch of them as a grid
/// (torchvision.utils.save_image). Throws Error where that fails.
void save_image(const Tensor& images, const std::string& path, const GridOptions& options = {});

}  // namespace taeda::vision
