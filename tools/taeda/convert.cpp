// `taeda convert`: tensors from one format into another.
#include <cstdio>
#include <filesystem>
#include <optional>

#include "taeda/io/npy.h"
#include "taeda/ops/copy.h"
#include "tools/taeda/command.h"
#include "tools/taeda/tensor_file.h"

namespace taeda::tool {

namespace {

struct ConvertOptions {
  std::string from, to, section, dtype;
  bool compressed = false;
};

constexpr std::pair<const char*, ScalarType> kDtypes[] = {
    {"float16", kHalf}, {"bfloat16", kBFloat16}, {"float32", kFloat}, {"float64", kDouble}};

/// Only tensors below the section, without its name, floating ones in the other dtype.
io::NamedTensors chosen(const TensorFile& file, const ConvertOptions& o) {
  const std::string prefix = o.section.empty() ? "" : o.section + ".";
  std::optional<ScalarType> dtype;
  for (const auto& [name, type] : kDtypes)
    if (o.dtype == name) dtype = type;
  if (!o.dtype.empty() && !dtype)
    throw UsageError("--dtype must be float16, bfloat16, float32 or float64, got " + o.dtype);
  io::NamedTensors out;
  for (const auto& [name, tensor] : file.tensors) {
    if (!name.starts_with(prefix)) continue;
    const bool cast = dtype && is_floating_point(tensor.dtype());
    out.emplace_back(name.substr(prefix.size()), cast ? tensor.to(*dtype) : tensor);
  }
  if (out.empty())
    throw UsageError(o.from + " holds no tensors" +
                     (o.section.empty() ? "" : " below '" + o.section + "'"));
  return out;
}

void write_tensors(const io::NamedTensors& tensors, const io::Metadata& values,
                   const ConvertOptions& o) {
  const std::string ending = std::filesystem::path(o.to).extension().string();
  if (ending == ".safetensors") {
    io::save_safetensors(tensors, o.to, o.section.empty() ? values : io::Metadata());
  } else if (ending == ".npz") {
    io::save_npz(tensors, o.to, o.compressed);
  } else if (ending == ".npy") {
    if (tensors.size() != 1)
      throw UsageError(taeda::detail::concat("an .npy file holds one tensor, ", o.from, " has ",
                                             tensors.size(), ": write an .npz file"));
    io::save_npy(tensors[0].second, o.to);
  } else {
    throw UsageError("cannot write " + o.to + ": give it the ending .safetensors, .npz or .npy");
  }
}

int run_convert(const ConvertOptions& o) {
  const TensorFile file = read_tensors(o.from);
  const io::NamedTensors tensors = chosen(file, o);
  user_input([&] { write_tensors(tensors, file.values, o); });
  std::printf("%s: %zu tensors, %s\n", o.to.c_str(), tensors.size(),
              bytes_text(static_cast<double>(std::filesystem::file_size(o.to))).c_str());
  return 0;
}

}  // namespace

void add_convert(CLI::App& app, Action& action) {
  CLI::App* c = add_command(app, "convert", "Write tensors in another format",
                            {"taeda convert resnet18.pt resnet18.safetensors",
                             "taeda convert checkpoint.pt weights.npz --section model",
                             "taeda convert weights.safetensors half.safetensors --dtype float16"});
  auto o = std::make_shared<ConvertOptions>();
  c->add_option("from", o->from, ".safetensors, .npy, .npz or .pt")->required();
  c->add_option("to", o->to, ".safetensors, .npz or .npy")->required();
  add_option(*c, "--section", o->section, "Only what lies below this name, without it");
  add_option(*c, "--dtype", o->dtype, "float16, bfloat16, float32 or float64 for floating tensors");
  c->add_flag("--compressed", o->compressed, "Deflate an .npz file");
  c->callback([&action, o] { action = [o] { return run_convert(*o); }; });
}

}  // namespace taeda::tool
