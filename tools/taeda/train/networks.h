// The networks that `taeda train` can be asked for by name.
#pragma once

#include <string>

#include "taeda/nn/any_module.h"

namespace taeda::tool {

struct PictureShape {
  int64_t channels, height, width;
};

/// Names for pictures, comma-separated; the first is the default.
constexpr const char* kPictureModels = "cnn, lenet, mlp, resnet18, vgg, mobilenet_v2";
/// Throws UsageError for an unknown name and a size that the network cannot take.
void check_picture_model(const std::string& name, const PictureShape& shape);
/// Pictures (N, C, H, W) to scores (N, classes). Networks that were made for large colour pictures
/// get grey ones in three channels, and small ones with a border.
nn::AnyModule make_picture_model(const std::string& name, const PictureShape& shape,
                                 int64_t classes);

/// (N, in) to (N, out), through two hidden layers.
nn::AnyModule make_mlp(int64_t in, int64_t hidden, int64_t out);

struct TextShape {
  int64_t vocabulary, context, layers, width;
};
/// "gpt" or "lstm": (N, T) tokens to scores (N, T, vocabulary) of each next one. Throws UsageError
/// for another name.
nn::AnyModule make_text_model(const std::string& name, const TextShape& shape);

}  // namespace taeda::tool
