#include "taeda/io/safetensors.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "taeda/base/error.h"
#include "taeda/io/atomic_file.h"
#include "taeda/io/mapped_file.h"
#include "taeda/io/safetensors_header.h"
#include "taeda/ops/copy.h"

#if defined(TAEDA_HAS_JSON)
#include <nlohmann/json.hpp>
#endif

namespace taeda::inline v0_2::io {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "safetensors holds little-endian numbers");

SafeTensors::SafeTensors(std::shared_ptr<void> owner, const char* data, size_t size,
                         const std::string& name)
    : owner_(std::move(owner)), source_(name) {
  try {
    SafeTensorsHeader header = parse_header(data, size);
    tensors_ = std::move(header.tensors);
    metadata_ = std::move(header.metadata);
    data_ = data + header.data_offset;
  } catch (const NotImplementedError&) {
    throw;
  } catch (const Error& e) {
    throw Error(name + " is no valid safetensors file: " + e.message());
  }
  for (size_t i = 0; i < tensors_.size(); ++i) index_[tensors_[i].name] = i;
}

SafeTensors SafeTensors::open(const std::string& path) {
  auto file = MappedFile::open(path);
  return SafeTensors(file, file->data(), file->size(), path);
}

SafeTensors SafeTensors::parse(std::string bytes, const std::string& name) {
  auto owner = std::make_shared<std::string>(std::move(bytes));
  return SafeTensors(owner, owner->data(), owner->size(), name);
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
  const size_t bytes = info->end - info->begin;
  char* data = const_cast<char*>(data_) + info->begin;
  const auto alignment = static_cast<uintptr_t>(element_size(*dtype));
  if (bytes == 0 || reinterpret_cast<uintptr_t>(data) % alignment != 0) {
    Tensor copy = make_tensor(info->shape, *dtype, kCPU);
    if (bytes > 0) std::memcpy(copy.data_ptr(), data, bytes);
    return copy;
  }
  Storage storage = Storage::from_user(data, bytes, kCPU, [owner = owner_](void*) {});
  return Tensor(
      make_intrusive<TensorImpl>(std::move(storage), Layout::contiguous(info->shape), *dtype));
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

template <class Order>
std::string make_header(const Order& order, const Metadata& metadata) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!metadata.empty()) json["__metadata__"] = metadata;
  uint64_t position = 0;
  for (const auto* entry : order) {
    const Tensor& t = entry->second;
    const uint64_t end = position + static_cast<uint64_t>(t.nbytes());
    json[entry->first] = {{"dtype", safetensors_dtype(t.dtype())},
                          {"shape", t.sizes().vec()},
                          {"data_offsets", {position, end}}};
    position = end;
  }
  std::string text;
  try {
    text = json.dump();
  } catch (const nlohmann::json::exception& e) {
    throw ValueError(taeda::detail::concat("names and metadata must be valid UTF-8: ", e.what()));
  }
  text.resize((text.size() + 8 + kDataAlignment - 1) / kDataAlignment * kDataAlignment - 8, ' ');
  TAEDA_CHECK_VALUE(text.size() <= kMaxHeaderBytes, "the header of ", text.size(),
                    " bytes is larger than ", kMaxHeaderBytes);
  return text;
}

/// Hands the file's parts in order to `write(data, bytes)`.
template <class F>
void write_parts(const NamedTensors& tensors, const Metadata& metadata, F&& write) {
  const auto order = storage_order(tensors);
  const std::string header = make_header(order, metadata);
  const uint64_t length = header.size();
  write(&length, sizeof length);
  write(header.data(), header.size());
  for (const auto* entry : order) {
    const Tensor t = entry->second.detach().cpu().contiguous();
    write(t.data_ptr(), static_cast<size_t>(t.nbytes()));
  }
}

#else

template <class F>
void write_parts(const NamedTensors&, const Metadata&, F&&) {
  throw NotImplementedError(
      "this build of Taeda writes no safetensors files: nlohmann-json was not found");
}

#endif

}  // namespace

void save_safetensors(const NamedTensors& tensors, const std::string& path,
                      const Metadata& metadata) {
  AtomicFile file(path);
  write_parts(tensors, metadata, [&](const void* data, size_t bytes) { file.write(data, bytes); });
  file.commit();
}

std::string serialize_safetensors(const NamedTensors& tensors, const Metadata& metadata) {
  std::string out;
  write_parts(tensors, metadata, [&](const void* data, size_t bytes) {
    out.append(static_cast<const char*>(data), bytes);
  });
  return out;
}

NamedTensors load_safetensors(const std::string& path) { return SafeTensors::open(path).all(); }

}  // namespace taeda::io
