#include "taeda/io/safetensors.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "taeda/base/error.h"
#include "taeda/io/atomic_file.h"
#include "taeda/io/checksums.h"
#include "taeda/io/file_bytes.h"
#include "taeda/io/json_events.h"
#include "taeda/io/safetensors_header.h"
#include "taeda/ops/create/copy.h"

namespace taeda::inline v0_2::io {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "safetensors holds little-endian numbers");

SafeTensors::SafeTensors(std::shared_ptr<FileBytes> file, const std::string& name)
    : file_(std::move(file)), source_(name) {
  try {
    SafeTensorsHeader header = read_header(*file_);
    checksums_ = take_checksums(header.tensors, header.metadata);
    tensors_ = std::move(header.tensors);
    metadata_ = std::move(header.metadata);
    data_offset_ = header.data_offset;
  } catch (const NotImplementedError&) {
    throw;
  } catch (const Error& e) {
    throw Error(name + " is no valid safetensors file: " + e.message());
  }
  for (size_t i = 0; i < tensors_.size(); ++i) index_[tensors_[i].name] = i;
}

SafeTensors SafeTensors::open(const std::string& path, bool mmap) {
  return SafeTensors(mmap ? FileBytes::map(path) : FileBytes::open(path), path);
}

SafeTensors SafeTensors::parse(std::string bytes, const std::string& name) {
  return SafeTensors(FileBytes::of(std::move(bytes)), name);
}

std::vector<std::string> SafeTensors::keys() const {
  std::vector<std::string> out;
  for (const TensorInfo& t : tensors_) out.push_back(t.name);
  return out;
}

const TensorInfo* SafeTensors::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

Tensor SafeTensors::get(const std::string& name) const {
  const TensorInfo* info = find(name);
  TAEDA_CHECK_VALUE(info, source_, " has no tensor named '", name, "'");
  const auto dtype = dtype_from_safetensors(info->dtype);
  TAEDA_CHECK_TYPE(dtype, "tensor '", name, "' in ", source_, " has dtype ", info->dtype,
                   ", which Taeda does not have");
  if (!file_->memory() || info->begin == info->end) return copy_of(*info, *dtype);
  char* data = file_->memory() + data_offset_ + info->begin;
  const auto alignment = static_cast<uintptr_t>(element_size(*dtype));
  if (reinterpret_cast<uintptr_t>(data) % alignment != 0) return copy_of(*info, *dtype);
  Storage storage =
      Storage::from_user(data, info->end - info->begin, kCPU, [file = file_](void*) {});
  return Tensor(
      make_intrusive<TensorImpl>(std::move(storage), Layout::contiguous(info->shape), *dtype));
}

Tensor SafeTensors::copy_of(const TensorInfo& info, ScalarType dtype) const {
  const size_t bytes = info.end - info.begin;
  Tensor out = make_tensor(info.shape, dtype, kCPU);
  auto* data = static_cast<char*>(out.data_ptr());
  file_->read(data_offset_ + info.begin, data, bytes);
  if (!checksums_.empty()) {
    const auto i = static_cast<size_t>(&info - tensors_.data());
    TAEDA_CHECK(checksum_of(data, bytes) == checksums_[i], "tensor '", info.name, "' in ", source_,
                " is damaged: its ", bytes, " bytes do not fit their checksum");
  }
  if (dtype == kBool)
    for (size_t i = 0; i < bytes; ++i) data[i] = data[i] != 0;
  return out;
}

NamedTensors SafeTensors::all() const {
  NamedTensors out;
  out.reserve(tensors_.size());
  for (const TensorInfo& t : tensors_) out.emplace_back(t.name, get(t.name));
  return out;
}

namespace {

/// Tensors' data starts at a multiple of this, so that mapped tensors are aligned as allocated
/// ones.
constexpr size_t kDataAlignment = 64;

#if defined(TAEDA_HAS_JSON)

/// Widest elements first: then every tensor is aligned to its element.
std::vector<const std::pair<std::string, Tensor>*> storage_order(const NamedTensors& tensors) {
  std::set<std::string> names;
  std::vector<const std::pair<std::string, Tensor>*> order;
  for (const auto& entry : tensors) {
    const auto& [name, tensor] = entry;
    TAEDA_CHECK_VALUE(name != "__metadata__", "a tensor cannot be named '__metadata__'");
    TAEDA_CHECK_VALUE(names.insert(name).second, "two tensors are named '", name, "'");
    TAEDA_CHECK_VALUE(tensor.defined(), "tensor '", name, "' is undefined");
    TAEDA_CHECK_TYPE(safetensors_dtype(tensor.dtype()), "tensor '", name, "' has dtype ",
                     dtype_name(tensor.dtype()), ", which safetensors does not have");
    order.push_back(&entry);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->second.element_size() > b->second.element_size();
  });
  return order;
}

/// What the header says of tensors that lie in this order.
template <class Order>
std::vector<TensorInfo> infos_of(const Order& order) {
  std::vector<TensorInfo> out;
  uint64_t position = 0;
  for (const auto* entry : order) {
    const Tensor& t = entry->second;
    const uint64_t end = position + static_cast<uint64_t>(t.nbytes());
    out.push_back({entry->first, safetensors_dtype(t.dtype()), t.sizes().vec(), position, end});
    position = end;
  }
  return out;
}

std::string metadata_json(const Metadata& metadata) {
  std::string out;
  for (const auto& [key, value] : metadata)
    out += (out.empty() ? "" : ",") + json_text(key) + ":" + json_text(value);
  return "\"__metadata__\":{" + out + "}";
}

std::string make_header(const std::vector<TensorInfo>& infos, const Metadata& metadata) {
  std::string text = "{";
  if (!metadata.empty()) text += metadata_json(metadata);
  for (const TensorInfo& t : infos) {
    text += (text.size() == 1 ? "" : ",") + json_text(t.name) + ":{\"dtype\":\"" + t.dtype +
            "\",\"shape\":[";
    for (size_t d = 0; d < t.shape.size(); ++d) text += (d ? "," : "") + std::to_string(t.shape[d]);
    text += "],\"data_offsets\":[" + std::to_string(t.begin) + "," + std::to_string(t.end) + "]}";
  }
  text += "}";
  text.resize((text.size() + 8 + kDataAlignment - 1) / kDataAlignment * kDataAlignment - 8, ' ');
  TAEDA_CHECK_VALUE(text.size() <= kMaxHeaderBytes, "the header of ", text.size(),
                    " bytes is larger than ", kMaxHeaderBytes);
  return text;
}

/// Hands the file's parts in order to `write(data, bytes)`. Tensors come from their devices one by
/// one, so their checksums are known at the end, and `overwrite(offset, text)` puts them in place.
template <class Write, class Overwrite>
void write_parts(const NamedTensors& tensors, Metadata metadata, Write&& write,
                 Overwrite&& overwrite) {
  TAEDA_CHECK_VALUE(!metadata.contains(kChecksumKey), "the metadata's key '", kChecksumKey,
                    "' is reserved");
  for (const auto& [name, tensor] : tensors)
    TAEDA_CHECK_VALUE(!tensor.defined() || tensor.is_strided(), "the tensor '", name,
                      "' is sparse, but files hold dense tensors: save its indices and values");
  const auto order = storage_order(tensors);
  const std::vector<TensorInfo> infos = infos_of(order);
  std::vector<uint32_t> checksums(infos.size());
  if (has_checksums()) metadata[kChecksumKey].assign(checksum_text_size(infos.size()), '0');
  const std::string header = make_header(infos, metadata);
  metadata.erase(kChecksumKey);
  const uint64_t length = header.size();
  write(&length, sizeof length);
  write(header.data(), header.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const Tensor t = order[i]->second.detach().cpu().contiguous();
    const auto bytes = static_cast<size_t>(t.nbytes());
    checksums[i] = checksum_of(t.data_ptr(), bytes);
    write(t.data_ptr(), bytes);
  }
  if (!has_checksums()) return;
  // Within a text of JSON quotes are escaped, so this is found where it is a key.
  const std::string key = json_text(kChecksumKey) + ":\"";
  overwrite(sizeof length + header.find(key) + key.size(),
            checksum_text(infos, metadata, checksums));
}

#else

template <class Write, class Overwrite>
void write_parts(const NamedTensors&, const Metadata&, Write&&, Overwrite&&) {
  throw NotImplementedError(
      "this build of Taeda writes no safetensors files: nlohmann-json was not found");
}

#endif

}  // namespace

void save_safetensors(const NamedTensors& tensors, const std::string& path,
                      const Metadata& metadata) {
  AtomicFile file(path);
  write_parts(
      tensors, metadata, [&](const void* data, size_t bytes) { file.write(data, bytes); },
      [&](size_t at, const std::string& text) { file.overwrite(static_cast<long>(at), text); });
  file.commit();
}

std::string serialize_safetensors(const NamedTensors& tensors, const Metadata& metadata) {
  std::string out;
  write_parts(
      tensors, metadata,
      [&](const void* data, size_t bytes) { out.append(static_cast<const char*>(data), bytes); },
      [&](size_t at, const std::string& text) { out.replace(at, text.size(), text); });
  return out;
}

NamedTensors load_safetensors(const std::string& path, bool mmap) {
  return SafeTensors::open(path, mmap).all();
}

}  // namespace taeda::inline v0_2::io
