// Pictures in files: uint8 tensors (channels, height, width) with 1 (grey), 3 (RGB) or 4 (RGBA)
// channels.
#pragma once

#include <string>

#include "taeda/tensor/tensor.h"
#include "taeda/vision/grid.h"

namespace taeda::vision {

/// Whether this build has libpng.
bool has_png();
/// Writes a PNG file, atomically. Throws TypeError or ValueError for other tensors,
/// NotImplementedError without libpng.
void write_png(const Tensor& image, const std::string& path);
/// Reads a PNG file; what it holds decides the channels. Throws Error, naming the file, when it is
/// no PNG or damaged.
Tensor read_png(const std::string& path);

/// A float picture from 0 to 1 as bytes, rounded; values outside are clipped.
Tensor to_bytes(const Tensor& image);
/// Writes a float picture, or a batch of them as a grid (torchvision.utils.save_image).
void save_image(const Tensor& images, const std::string& path, const GridOptions& options = {});

}  // namespace taeda::vision
