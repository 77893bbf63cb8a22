// Pictures of no size, and transforms by numbers that are none.
#include "tests/wrong_calls.h"

#include "taeda/taeda.h"
#include "taeda/vision/functional.h"
#include "taeda/vision/grid.h"
#include "taeda/vision/image_io.h"
#include "taeda/vision/resize.h"
#include "taeda/vision/transforms.h"

namespace taeda::wrong {
namespace {

namespace V = vision;
namespace T = vision::transforms;

Tensor numbers() { return arange(4.0f); }

const std::vector<Row> wrong_vision = {
    REFUSED(Error, V::make_grid(Tensor()),
            "vision::make_grid(): Expected a tensor, but got an undefined Tensor"),
    REFUSED(ValueError, V::make_grid(numbers()),
            "make_grid expects pictures of 2, 3 or 4 dimensions, got shape [4]"),
    REFUSED(ValueError, V::make_grid(rand({0, 3, 2, 2})), "make_grid expects at least one picture"),
    REFUSED(ValueError, V::make_grid(rand({2, 3, 2, 2}), {.nrow = 0}),
            "make_grid expects nrow > 0 and padding >= 0, got 0 and 2"),
    REFUSED(ValueError, V::make_grid(rand({2, 3, 2, 2}), {.padding = -5}),
            "make_grid expects nrow > 0 and padding >= 0, got 8 and -5"),
    REFUSED(ValueError, V::make_grid(rand({2, 3, 2, 2}), {.padding = kHuge}),
            "make_grid expects a padding of less than 2^31 pixels, got 4611686018427387904"),
    REFUSED(ValueError, V::enlarge(rand({3, 2, 2}), 0),
            "enlarge expects at least two dimensions and a positive factor"),
    REFUSED(Error, V::enlarge(rand({3, 2, 2}), kHuge), "enlarge: integer overflow"),
    REFUSED(ValueError, V::enlarge(numbers(), 2),
            "enlarge expects at least two dimensions and a positive factor"),
    REFUSED(ValueError, V::resize_bilinear(rand({3, 2, 2}), 0, 1, true),
            "resize expects a positive size, got 0 x 1"),
    REFUSED(ValueError, V::resize_bilinear(rand({3, 2, 2}), kHuge, kHuge, true),
            "resize expects sides of less than 2^31 pixels, got 4611686018427387904 x"),
    REFUSED(ValueError, V::resize_bilinear(numbers(), 2, 2, true),
            "resize expects a picture (channels, height, width), got shape [4]"),
    REFUSED(ValueError, V::resize_nearest(rand({3, 0, 2}), 2, 2),
            "resize expects a picture (channels, height, width), got shape [3, 0, 2]"),
    REFUSED(ValueError, V::resize_nearest(rand({3, 2, 2}), -2, 2),
            "resize expects a positive size, got -2 x 2"),
    REFUSED(ValueError, T::functional::adjust_brightness(rand({3, 2, 2}), kNaN),
            "brightness_factor (nan) is not non-negative."),
    REFUSED(ValueError, T::functional::adjust_brightness(rand({3, 2, 2}), -1),
            "brightness_factor (-1) is not non-negative."),
    REFUSED(ValueError, T::functional::adjust_hue(rand({3, 2, 2}), 2),
            "hue_factor (2) is not in [-0.5, 0.5]."),
    REFUSED(ValueError, T::functional::adjust_hue(rand({3, 2, 2}), kNaN),
            "hue_factor (nan) is not in [-0.5, 0.5]."),
    REFUSED(Error, T::functional::adjust_contrast(Tensor(), 1),
            "vision::transforms::functional::adjust_contrast(): Expected a tensor, but got an"),
    REFUSED(TypeError, T::functional::adjust_saturation(numbers(), 1),
            "Tensor is not a torch image."),
    REFUSED(Error, V::encode_png(Tensor()),
            "vision::encode_png(): Expected a tensor, but got an undefined Tensor"),
    REFUSED(TypeError, V::encode_png(numbers()), "encode_png expects a uint8 tensor, got float32"),
    REFUSED(ValueError, V::encode_png(zeros({5, 2, 2}, kByte)),
            "encode_png expects 1, 3 or 4 channels, got 5"),
    REFUSED(ValueError, V::encode_png(zeros({3, 0, 2}, kByte)),
            "encode_png expects (channels, height, width), got [3, 0, 2]"),
    REFUSED(ValueError, V::encode_jpeg(zeros({3, 2, 2}, kByte), 0),
            "Image quality should be a positive number between 1 and 100, got 0"),
    REFUSED(ValueError, V::encode_jpeg(zeros({3, 2, 2}, kByte), 101),
            "Image quality should be a positive number between 1 and 100, got 101"),
    REFUSED(Error, V::encode_jpeg(zeros({3, 70000, 1}, kByte)),
            "cannot encode a picture as JPEG: Maximum supported image dimension is 65500"),
    REFUSED(Error, V::decode_png(Tensor()),
            "vision::decode_png(): Expected a tensor, but got an undefined Tensor"),
    REFUSED(TypeError, V::decode_png(numbers()),
            "decode_png expects a uint8 tensor of one dimension, got float32 of shape [4]"),
    REFUSED(Error, V::decode_jpeg(zeros({0}, kByte)), "cannot read a JPEG image: Empty input file"),
    REFUSED(TypeError, V::decode_jpeg(zeros({3, 3}, kByte)),
            "decode_jpeg expects a uint8 tensor of one dimension, got uint8 of shape [3,"),
    REFUSED(ValueError, T::Resize(0)(rand({3, 2, 2})), "a picture's size must be positive, got 0"),
    REFUSED(Error, T::Resize(kHuge)(rand({3, 2, 2})), "Resize: integer overflow"),
    REFUSED(ValueError, T::Resize(T::ImageSize(-1, 2))(rand({3, 2, 2})),
            "a picture's size must be positive, got -1 x 2"),
    REFUSED(Error, T::CenterCrop(-1)(rand({3, 2, 2})), "narrow(): length must be non-negative."),
    REFUSED(Error, T::CenterCrop(kHuge)(rand({3, 2, 2})),
            "Storage size calculation overflowed with sizes=[3, 4611686018427387904, "
            "4611686018427387904]"),
    REFUSED(ValueError, T::Pad({1, 2, 3})(rand({3, 2, 2})),
            "Padding must be an int or a 1, 2, or 4 element tuple, not a 3 element tuple"),
    REFUSED(Error, T::Pad({kHuge})(rand({3, 2, 2})),
            "pad: integer overflow in the calculation of sizes"),
    REFUSED(ValueError, T::Pad({})(rand({3, 2, 2})),
            "Padding must be an int or a 1, 2, or 4 element tuple, not a 0 element tuple"),
    REFUSED(ValueError, T::RandomCrop(9)(rand({3, 2, 2})),
            "Required crop size (9, 9) is larger than input image size (2, 2)"),
    REFUSED(ValueError, T::RandomCrop(0)(rand({3, 2, 2})),
            "a picture's size must be positive, got 0 x 0"),
    REFUSED(ValueError, T::RandomHorizontalFlip(kNaN),
            "p should be a number between 0 and 1, got nan"),
    REFUSED(ValueError, T::RandomVerticalFlip(2), "p should be a number between 0 and 1, got 2"),
    REFUSED(ValueError, T::Compose({nullptr})(rand({3, 2, 2})),
            "Compose: transform 0 is an empty function"),
    REFUSED(Error,
            T::Normalize(std::vector<double>{0.5, 0.5}, std::vector<double>{1})(rand({3, 2, 2})),
            "The size of tensor a (3) must match the size of tensor b (2) at"),
    REFUSED(Error, T::ToTensor()(Tensor()),
            "Expected a tensor, but got an undefined Tensor (default-constructed, or a"),
};

TEST(WrongPictures, AreRefused) { check(wrong_vision); }

}  // namespace
}  // namespace taeda::wrong
