#if defined(TAEDA_HAS_ONNX)

#include "onnx_messages.pb.h"
#include "taeda/onnx/tensor_data.h"

#include <charconv>
#include <cstring>

#include "taeda/base/error.h"
#include "taeda/io/file_bytes.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::onnx {

namespace {

namespace pb = ::taeda_onnx;

struct Code {
  ScalarType dtype;
  int32_t number;
};
constexpr Code kCodes[] = {
    {kFloat, 1},   {kByte, 2},          {kChar, 3},           {kShort, 5},
    {kInt, 6},     {kLong, 7},          {kBool, 9},           {kHalf, 10},
    {kDouble, 11}, {kComplexFloat, 14}, {kComplexDouble, 15}, {kBFloat16, 16}};
/// Numbers of dtypes that Taeda has not, to be named in errors.
constexpr const char* kOthers[] = {"undefined", nullptr, nullptr,  nullptr,  "uint16",
                                   nullptr,     nullptr, nullptr,  "string", nullptr,
                                   nullptr,     nullptr, "uint32", "uint64"};

/// Numbers that stand in a list of their own, one after the other, as Ts.
template <class T, class List>
void take_numbers(const List& list, const Tensor& out, const std::string& what) {
  TAEDA_CHECK(list.size() == out.numel(), what, " has sizes ", out.sizes(), " and ", list.size(),
              " numbers");
  T* to = static_cast<T*>(out.data_ptr());
  for (const auto number : list) *to++ = static_cast<T>(number);
}

/// The number that `text`, an entry of a tensor in another file, is.
uint64_t number(const std::string& text, const std::string& what) {
  uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  TAEDA_CHECK(error == std::errc() && end == text.data() + text.size(), what,
              ": its data lie in another file at '", text, "', which is no number");
  return out;
}

void read_external(const pb::TensorData& in, const Tensor& out, const std::string& folder,
                   const std::string& what) {
  TAEDA_CHECK(!folder.empty(), what,
              " lies in another file, which is not opened unless LoadOptions::external_data says "
              "so");
  std::string location;
  uint64_t offset = 0;
  for (const pb::Entry& entry : in.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = number(entry.value(), what);
    if (entry.key() == "length")
      TAEDA_CHECK(number(entry.value(), what) == static_cast<uint64_t>(out.nbytes()), what,
                  " takes ", out.nbytes(), " bytes, but another file holds ", entry.value());
  }
  // A name alone: nothing outside of the model's folder is reached.
  TAEDA_CHECK(!location.empty() && location != "." && location != ".." &&
                  location.find('/') == std::string::npos &&
                  location.find('\0') == std::string::npos,
              what, " lies in the file '", location, "', which is no name in the model's folder");
  const auto file = io::FileBytes::open(folder + "/" + location);
  const auto bytes = static_cast<uint64_t>(out.nbytes());
  TAEDA_CHECK(offset <= file->size() && bytes <= file->size() - offset, location, " has ",
              file->size(), " bytes, and ", what, " takes ", bytes, " from ", offset, " on");
  file->read(offset, out.data_ptr(), static_cast<size_t>(bytes));
}

/// Data in the lists that exist beside the raw bytes; 16-bit floats are there as their bits.
void read_lists(const pb::TensorData& in, const Tensor& out, const std::string& what) {
  switch (out.dtype()) {
    case kFloat: return take_numbers<float>(in.float_data(), out, what);
    case kDouble: return take_numbers<double>(in.double_data(), out, what);
    case kLong: return take_numbers<int64_t>(in.int64_data(), out, what);
    case kInt: return take_numbers<int32_t>(in.int32_data(), out, what);
    case kShort: return take_numbers<int16_t>(in.int32_data(), out, what);
    case kChar: return take_numbers<int8_t>(in.int32_data(), out, what);
    case kByte: return take_numbers<uint8_t>(in.int32_data(), out, what);
    case kBool: return take_numbers<bool>(in.int32_data(), out, what);
    case kHalf:
    case kBFloat16: return take_numbers<uint16_t>(in.int32_data(), out, what);
    default: TAEDA_CHECK(out.numel() == 0, what, " has no raw data for ", dtype_name(out.dtype()));
  }
}

}  // namespace

int32_t onnx_dtype(ScalarType dtype, const std::string& what) {
  for (const Code& c : kCodes)
    if (c.dtype == dtype) return c.number;
  throw Error(
      taeda::detail::concat("ONNX has no type for ", what, ", which is ", dtype_name(dtype)));
}

ScalarType dtype_of_onnx(int32_t number, const std::string& what) {
  for (const Code& c : kCodes)
    if (c.number == number) return c.dtype;
  const bool named = number >= 0 && static_cast<size_t>(number) < std::size(kOthers);
  throw Error(
      taeda::detail::concat(what, " has ONNX's type ", number,
                            named ? std::string(" (") + kOthers[number] + ")" : std::string(),
                            ", which Taeda has no dtype for"));
}

void write_tensor(const Tensor& tensor, pb::TensorData& out) {
  const Tensor host = tensor.detach().cpu().contiguous();
  for (const int64_t size : host.sizes()) out.add_dims(size);
  out.set_data_type(onnx_dtype(host.dtype(), "the tensor '" + out.name() + "'"));
  out.set_raw_data(host.numel() > 0 ? host.data_ptr() : nullptr,
                   static_cast<size_t>(host.nbytes()));
}

Tensor read_tensor(const pb::TensorData& in, const std::string& folder, io::Budget& budget) {
  const std::string what = "the tensor '" + in.name() + "'";
  const ScalarType dtype = dtype_of_onnx(in.data_type(), what);
  TAEDA_CHECK(in.dims_size() <= kMaxDims, what, " has ", in.dims_size(), " dimensions, at most ",
              kMaxDims, " are supported");
  DimVector sizes;
  for (const int64_t size : in.dims()) {
    TAEDA_CHECK(size >= 0, what, " has the size ", size);
    sizes.push_back(size);
  }
  const int64_t bytes = checked_nbytes(sizes, element_size(dtype));
  constexpr int32_t kExternal = 1;
  const bool external = in.data_location() == kExternal;
  if (in.has_raw_data() && !external)
    TAEDA_CHECK(in.raw_data().size() == static_cast<size_t>(bytes), what, " has sizes ",
                IntArrayRef(sizes.data(), sizes.size()), " of ", dtype_name(dtype), " and ",
                in.raw_data().size(), " bytes");
  if (!external) budget.charge(static_cast<uint64_t>(bytes), what);
  if (external && folder.empty()) read_external(in, Tensor(), folder, what);
  const Tensor out = make_tensor(sizes, dtype, Device(kCPU));
  if (external)
    read_external(in, out, folder, what);
  else if (in.has_raw_data() && bytes > 0)
    std::memcpy(out.data_ptr(), in.raw_data().data(), static_cast<size_t>(bytes));
  else if (!in.has_raw_data())
    read_lists(in, out, what);
  // A bool is 0 or 1; other bytes would be neither.
  if (dtype == kBool)
    for (int64_t i = 0; i < out.numel(); ++i) {
      auto* byte = static_cast<uint8_t*>(out.data_ptr()) + i;
      *byte = *byte != 0;
    }
  return out;
}

}  // namespace taeda::inline v0_2::onnx

#endif
