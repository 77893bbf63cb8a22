// `taeda convert`: tensors from one format into another.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>

#include "taeda/io/npy.h"
#include "taeda/io/sharded.h"
#include "taeda/ops/create/copy.h"
#include "tools/taeda/command.h"
#include "tools/taeda/tensor_file.h"

namespace taeda::tool {

namespace {

constexpr double kMostShardMegabytes = 1e12;  // in bytes, 64 bits hold it

struct ConvertOptions {
  std::string from, to, section, dtype;
  std::vector<std::string> maps;
  double shard_megabytes = io::kShardBytes / 1e6;
  bool compressed = false;
};

constexpr std::pair<const char*, ScalarType> kDtypes[] = {
    {"float16", kHalf}, {"bfloat16", kBFloat16}, {"float32", kFloat}, {"float64", kDouble}};

/// A rule 'a.b=c' of --map: what is named a.b, or lies below it, is named by c instead. An empty
/// side stands for no name: 'module=' takes the first part away, '=net' puts one before all names.
class Renaming {
 public:
  explicit Renaming(const std::string& rule) : rule_(rule) {
    const size_t sign = rule.find('=');
    if (sign == std::string::npos || rule.size() == 1)
      throw UsageError("--map must be old=new, got '" + rule + "'");
    from_ = rule.substr(0, sign);
    to_ = rule.substr(sign + 1);
  }

  std::optional<std::string> apply(const std::string& name) {
    std::string rest = "." + name;
    if (!from_.empty()) {
      const bool below = name.starts_with(from_ + ".");
      if (name != from_ && !below) return std::nullopt;
      rest = name.substr(from_.size());
    }
    used_ = true;
    if (!to_.empty()) return to_ + rest;
    if (rest.empty()) throw UsageError("--map '" + rule_ + "' leaves '" + name + "' no name");
    return rest.substr(1);
  }
  void check_used() const {
    if (!used_) throw UsageError("--map '" + rule_ + "' fits no tensor's name");
  }

 private:
  std::string rule_, from_, to_;
  bool used_ = false;
};

/// The first rule that fits a name is applied to it.
void rename(io::NamedTensors& tensors, const std::vector<std::string>& rules) {
  std::vector<Renaming> renamings(rules.begin(), rules.end());
  std::set<std::string> names;
  for (auto& [name, tensor] : tensors) {
    for (Renaming& renaming : renamings)
      if (const auto other = renaming.apply(name)) {
        name = *other;
        break;
      }
    if (!names.insert(name).second)
      throw UsageError("--map gives two tensors the name '" + name + "'");
  }
  for (const Renaming& renaming : renamings) renaming.check_used();
}

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
  rename(out, o.maps);
  return out;
}

void write_tensors(const io::NamedTensors& tensors, const io::Metadata& values,
                   const ConvertOptions& o) {
  const std::string ending = std::filesystem::path(o.to).extension().string();
  const bool shards = o.to.ends_with(".index.json");
  constexpr const char* kEndings[] = {".safetensors", ".npz", ".npy", ".pt", ".pth"};
  if (!shards && std::ranges::find(kEndings, ending) == std::end(kEndings))
    throw UsageError("cannot write " + o.to +
                     ": give it the ending .safetensors, .pt, .pth, .npz, .npy or .index.json");
  io::Archive archive;
  for (const auto& [name, tensor] : tensors) archive.add(name, tensor);
  if (ending == ".npz") return io::save_npz(tensors, o.to, o.compressed);
  if (ending != ".npy" && o.section.empty()) archive.metadata = values;
  if (shards)
    io::save_sharded(archive, o.to, static_cast<uint64_t>(o.shard_megabytes * 1e6));
  else
    io::save_archive(archive, o.to);
}

int run_convert(const ConvertOptions& o) {
  TensorFile file = read_tensors(o.from);
  // A .npy file holds an array without a name, which is a tensor alone to torch.load, too.
  if (file.format == ".npy" && (o.to.ends_with(".pt") || o.to.ends_with(".pth")))
    file.tensors[0].first = "tensor";
  const io::NamedTensors tensors = chosen(file, o);
  user_input([&] { write_tensors(tensors, file.values, o); });
  std::printf("%s: %s, %s\n", o.to.c_str(), count_text(tensors.size(), "tensor").c_str(),
              bytes_text(static_cast<double>(std::filesystem::file_size(o.to))).c_str());
  return 0;
}

}  // namespace

void add_convert(const Command& app) {
  const Command c =
      app.add_command("convert", "Write tensors in another format",
                      {"taeda convert resnet18.pt resnet18.safetensors",
                       "taeda convert checkpoint.pt weights.npz --section model",
                       "taeda convert weights.safetensors half.safetensors --dtype float16",
                       "taeda convert vgg.pth vgg.npz --map features.0.0=features.0"});
  auto o = std::make_shared<ConvertOptions>();
  c.add_plain("from", o->from, ".safetensors, .index.json, .npy, .npz or .pt").required();
  c.add_plain("to", o->to, ".safetensors, .index.json, .pt, .pth, .npz or .npy").required();
  c.add_option("--section", o->section, "Only what lies below this name, without it");
  c.add_option("--dtype", o->dtype, "float16, bfloat16, float32 or float64 for floating tensors");
  c.add_plain("--map", o->maps, "old=new: names that are or lie below old; may be repeated")
      .one_word_each();
  c.add_option("--shard-megabytes", o->shard_megabytes, "The most that a shard holds");
  c.add_flag("--compressed", o->compressed, "Deflate an .npz file");
  c.on_call([o] {
    check_flag(o->shard_megabytes > 0 && o->shard_megabytes <= kMostShardMegabytes,
               "--shard-megabytes", "positive and at most 1e12", o->shard_megabytes);
    return run_convert(*o);
  });
}

}  // namespace taeda::tool
