#include "tools/taeda/tensor_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "taeda/io/file_bytes.h"
#include "taeda/io/npy.h"
#include "taeda/io/pt_reader.h"
#include "taeda/io/pt_source.h"
#include "taeda/io/sharded.h"
#include "tools/taeda/command.h"

namespace taeda::tool {

namespace {

std::string first_bytes(const std::string& path) {
  TAEDA_CHECK(!std::filesystem::is_directory(path), "cannot read ", path, ": ",
              std::strerror(EISDIR));
  const auto file = io::FileBytes::open(path);
  std::string out(static_cast<size_t>(std::min<uint64_t>(16, file->size())), '\0');
  file->read(0, out.data(), out.size());
  return out;
}

}  // namespace

std::string format_of(const std::string& path) {
  const std::string start = first_bytes(path);
  const std::filesystem::path name = std::filesystem::path(path).filename();
  if (start.starts_with("\x93NUMPY")) return ".npy";
  if (start.starts_with("PK")) return io::is_npz(path) ? ".npz" : ".pt";
  if (start.starts_with("\x89PNG") || start.starts_with("\xff\xd8\xff")) return "image";
  if (name.string().find("tfevents") != std::string::npos) return "events";
  if (io::is_legacy_pt(start)) return ".pt";
  if (name.string().ends_with(".index.json")) return "shards";
  if (name.extension() == ".onnx") return "onnx";
  if (start.size() > 8 && start[8] == '{') return "safetensors";
  const std::string ending = name.extension().string();
  if (ending == ".npy" || ending == ".npz" || ending == ".pt") return ending;
  if (ending == ".pth" || ending == ".ckpt") return ".pt";
  return ending == ".safetensors" ? "safetensors" : "";
}

TensorFile read_tensors(const std::string& path) {
  return user_input([&]() -> TensorFile {
    const std::string format = format_of(path);
    if (format == "safetensors") {
      const auto file = io::SafeTensors::open(path);
      return {format, file.all(), file.metadata()};
    }
    if (format == ".npy")
      return {format, {{std::filesystem::path(path).stem().string(), io::load_npy(path)}}, {}};
    if (format == ".npz") return {format, io::load_npz(path), {}};
    if (format == ".pt") {
      const std::string start = first_bytes(path);
      if (!start.starts_with("PK") && !io::is_legacy_pt(start))
        throw UsageError(path +
                         " is no file of torch.save, whatever its name says: it begins neither as "
                         "a zip archive nor as a pickle");
      io::PtFile file = io::load_pt(path);
      return {format, std::move(file.tensors), std::move(file.values)};
    }
    if (format == "shards") {
      io::Archive archive = io::load_sharded(path);
      return {format, archive.tensors.pairs(), std::move(archive.metadata)};
    }
    throw UsageError(path + " is no file of tensors that is known: .safetensors, .npy, .npz, .pt");
  });
}

}  // namespace taeda::tool
