#include "taeda/io/pt_reader.h"

#include <charconv>
#include <cstring>
#include <map>
#include <set>

#include "taeda/base/error.h"
#include "taeda/io/pickle.h"
#include "taeda/io/pickle_writer.h"
#include "taeda/io/pt_source.h"

namespace taeda::inline v0_2::io {

namespace {

using Kind = PickleValue::Kind;

constexpr int kDeepest = 100;
/// What a value takes beside its name and its text: a node of a map, or a tensor.
constexpr uint64_t kValueBytes = 512;

std::string number_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

class PtParser {
 public:
  explicit PtParser(PtSource& source) : source_(source) {}

  PtFile parse() {
    add("", source_.root(), 0);
    return std::move(out_);
  }
  IValue parse_value() { return value_of(source_.root(), 0); }

 private:
  /// Keys are texts or integers.
  static std::string key_text(const PickleValue& key) {
    TAEDA_CHECK(key.kind == Kind::Text || key.kind == Kind::Int,
                "a key of a dictionary is neither text nor integer");
    return key.kind == Kind::Text ? std::string(key.text) : std::to_string(key.integer);
  }
  /// Containers may hold each other more than once, so paths may be far more than values, and
  /// longer than the file.
  std::string join(const std::string& path, const std::string& key) {
    source_.budget().charge(path.size() + key.size() + 1, "the names of its values");
    return path.empty() ? key : path + "." + key;
  }
  void add_value(const std::string& path, std::string_view text) {
    source_.budget().charge(text.size(), "its texts");
    out_.values[path] = text;
  }

  void add(const std::string& path, const PickleValue& v, int depth) {
    TAEDA_CHECK(depth <= kDeepest, "its containers are nested more than ", kDeepest, " deep");
    source_.budget().charge(kValueBytes, "all its values");
    switch (v.kind) {
      case Kind::Dict:
        for (const auto& [key, value] : v.entries)
          add(join(path, key_text(*key)), *value, depth + 1);
        return;
      case Kind::Tuple:
      case Kind::List:
        for (size_t i = 0; i < v.items.size(); ++i)
          add(join(path, std::to_string(i)), *v.items[i], depth + 1);
        return;
      case Kind::Call:
        out_.tensors.emplace_back(path.empty() ? "tensor" : path, tensor_of(v));
        return;
      case Kind::None: add_value(path, "None"); return;
      case Kind::Bool: add_value(path, v.integer ? "True" : "False"); return;
      case Kind::Int: add_value(path, std::to_string(v.integer)); return;
      case Kind::Float: add_value(path, number_text(v.real)); return;
      case Kind::Text: add_value(path, v.text); return;
      case Kind::Name:
      case Kind::Storage: break;
    }
    throw Error("'" + path + "' is neither a tensor nor a number, text or container");
  }

  IValue::List values_of(const std::vector<PickleValue*>& items, int depth) {
    IValue::List out;
    for (const PickleValue* item : items) out.push_back(value_of(*item, depth + 1));
    return out;
  }
  IValue value_of(const PickleValue& v, int depth) {
    TAEDA_CHECK(depth <= kDeepest, "its containers are nested more than ", kDeepest, " deep");
    source_.budget().charge(kValueBytes, "all its values");
    switch (v.kind) {
      case Kind::None: return {};
      case Kind::Bool: return v.integer != 0;
      case Kind::Int: return v.integer;
      case Kind::Float: return v.real;
      case Kind::Text: source_.budget().charge(v.text.size(), "its texts"); return v.text;
      case Kind::Call: {
        Tensor t = tensor_of(v);
        const auto& a = v.arguments->items;
        const size_t wants = v.text == "torch._utils._rebuild_parameter" ? 1 : 4;
        if (wants < a.size() && a[wants]->kind == Kind::Bool && a[wants]->integer)
          t.requires_grad_();
        return t;
      }
      case Kind::List: return values_of(v.items, depth);
      case Kind::Tuple: return IValue::tuple(values_of(v.items, depth));
      case Kind::Dict: {
        IValue::Entries entries;
        for (const auto& [key, value] : v.entries)
          entries.emplace_back(value_of(*key, depth + 1), value_of(*value, depth + 1));
        return IValue::dict(std::move(entries));
      }
      case Kind::Name:
      case Kind::Storage: break;
    }
    throw Error("it has a value that is neither a tensor nor a number, text or container");
  }

  Tensor tensor_of(const PickleValue& call) {
    if (call.text == "torch._utils._rebuild_parameter") {
      const auto& a = call.arguments->items;
      TAEDA_CHECK(a.size() == 3 && a[0]->kind == Kind::Call &&
                      a[0]->text.starts_with("torch._utils._rebuild_tensor_v"),
                  "a parameter is made of something else than a tensor");
      return tensor_of(*a[0]);
    }
    const bool untyped = call.text == "torch._utils._rebuild_tensor_v3";
    TAEDA_CHECK(untyped || call.text == "torch._utils._rebuild_tensor_v2", "it calls ", call.text);
    // Storage, offset, size, stride, requires_grad, hooks; then a dtype if the storage is of bytes.
    const auto& a = call.arguments->items;
    TAEDA_CHECK(a.size() >= 6 && a[0]->kind == Kind::Storage && a[1]->kind == Kind::Int,
                "a tensor is made of other arguments");
    const Tensor storage = untyped ? elements_of(storage_of(*a[0]), a) : storage_of(*a[0]);
    const std::vector<int64_t> sizes = integers(*a[2]), strides = integers(*a[3]);
    check_inside(storage, a[1]->integer, sizes, strides);
    return make_alias(storage, {IntArrayRef(sizes), IntArrayRef(strides), a[1]->integer},
                      storage.dtype());
  }

  /// The bytes of a storage as elements of the dtype that a tensor's call names.
  static Tensor elements_of(const Tensor& bytes, const std::vector<PickleValue*>& arguments) {
    constexpr std::string_view kModule = "torch.";
    TAEDA_CHECK(arguments.size() >= 7 && arguments[6]->kind == Kind::Name &&
                    arguments[6]->text.starts_with(kModule) && bytes.dtype() == kByte,
                "a tensor over bytes has no dtype");
    const ScalarType dtype =
        dtype_from_name(std::string(arguments[6]->text.substr(kModule.size())));
    TAEDA_CHECK(dtype != kBool, "a tensor over bytes has dtype bool");
    return make_alias(bytes, Layout::contiguous({bytes.numel() / element_size(dtype)}), dtype);
  }

  static std::vector<int64_t> integers(const PickleValue& v) {
    TAEDA_CHECK(v.kind == Kind::Tuple && v.items.size() <= 24, "a tensor has a shape that is none");
    std::vector<int64_t> out;
    for (const PickleValue* item : v.items) {
      TAEDA_CHECK(item->kind == Kind::Int && item->integer >= 0,
                  "a tensor has a size or stride that is none");
      out.push_back(item->integer);
    }
    return out;
  }

  static void check_inside(const Tensor& storage, int64_t offset, const std::vector<int64_t>& sizes,
                           const std::vector<int64_t>& strides) {
    TAEDA_CHECK(sizes.size() == strides.size(), "a tensor has ", sizes.size(), " sizes and ",
                strides.size(), " strides");
    int64_t last = offset, numel = 1;
    bool fits = offset >= 0;
    for (size_t d = 0; d < sizes.size(); ++d) {
      int64_t step = 0;
      fits = fits && !__builtin_mul_overflow(numel, sizes[d], &numel);
      if (sizes[d] > 0)
        fits = fits && !__builtin_mul_overflow(sizes[d] - 1, strides[d], &step) &&
               !__builtin_add_overflow(last, step, &last);
    }
    TAEDA_CHECK(fits && offset <= storage.numel() && numel <= storage.numel() &&
                    (numel == 0 || last < storage.numel()),
                "a tensor reaches beyond its storage");
  }

  /// ('storage', torch.FloatStorage, key, device, elements), and in old files what it is a view of
  Tensor storage_of(const PickleValue& v) {
    const auto& id = v.arguments->items;
    TAEDA_CHECK((id.size() == 5 || (id.size() == 6 && id[5]->kind == Kind::None)) &&
                    id[1]->kind == Kind::Name && id[2]->kind == Kind::Text &&
                    id[4]->kind == Kind::Int && id[4]->integer >= 0,
                "a storage has another description");
    const ScalarType dtype = storage_dtype(id[1]->text);
    const std::string key(id[2]->text);
    const auto found = storages_.find(key);
    if (found != storages_.end()) {
      TAEDA_CHECK(found->second.dtype() == dtype, "storage ", key, " has two dtypes");
      return found->second;
    }
    const std::string content = source_.storage(key, dtype, id[4]->integer);
    Tensor out = make_tensor({id[4]->integer}, dtype, kCPU);
    auto* data = static_cast<char*>(out.data_ptr());
    if (!content.empty()) std::memcpy(data, content.data(), content.size());
    if (dtype == kBool)
      for (size_t i = 0; i < content.size(); ++i) data[i] = data[i] != 0;
    storages_.emplace(key, out);
    return out;
  }

  PtSource& source_;
  std::map<std::string, Tensor> storages_;
  PtFile out_;
};

}  // namespace

OrderedDict<std::string, Tensor> PtFile::state_dict(const std::string& section) const {
  OrderedDict<std::string, Tensor> out;
  const std::string prefix = section.empty() ? "" : section + ".";
  std::set<std::string> sections;
  std::string names;
  for (const auto& [name, tensor] : tensors) {
    if (name.starts_with(prefix)) out.insert(name.substr(prefix.size()), tensor);
    const std::string first = name.substr(0, name.find('.'));
    if (sections.insert(first).second) names += (names.empty() ? "" : ", ") + first;
  }
  TAEDA_CHECK_VALUE(!out.is_empty(), "the file has no tensors below '", section,
                    "'; it has: ", names);
  return out;
}

namespace {

std::string unreadable(const std::string& name) {
  return name + " is no checkpoint that can be read: ";
}

/// What `parse` gives; its errors name the file.
template <class Parse>
auto named_errors(const std::string& name, const Parse& parse) {
  try {
    return parse();
  } catch (const NotImplementedError&) {
    throw;
  } catch (const OutOfMemoryError&) {  // says nothing of the file
    throw;
  } catch (const Error& e) {
    const bool named = e.message().find(name) != std::string::npos;
    throw Error((named ? "" : unreadable(name)) + e.message());
  }
}

}  // namespace

PtFile load_pt(const std::string& path) {
  return named_errors(path, [&] { return PtParser(*open_pt(path)).parse(); });
}

PtFile parse_pt(std::string bytes, const std::string& name) {
  return named_errors(name, [&] { return PtParser(*open_pt(std::move(bytes), name)).parse(); });
}

}  // namespace taeda::inline v0_2::io

namespace taeda::inline v0_2 {

IValue pickle_load(const std::vector<char>& bytes) {
  const std::string name = "pickle_load: the value";
  return io::named_errors(name, [&] {
    const auto source = io::open_pt(std::string(bytes.begin(), bytes.end()), name);
    return io::PtParser(*source).parse_value();
  });
}

}  // namespace taeda::inline v0_2
