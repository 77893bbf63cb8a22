#include "taeda/io/pickle_writer.h"

#include <bit>
#include <cstring>
#include <map>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/io/zip_archive.h"
#include "taeda/ops/create/copy.h"

namespace taeda::inline v0_2 {

namespace {

/// "FloatStorage": the class by which Python names a dtype.
const char* storage_class(ScalarType dtype) {
  switch (dtype) {
    case kFloat: return "FloatStorage";
    case kDouble: return "DoubleStorage";
    case kHalf: return "HalfStorage";
    case kBFloat16: return "BFloat16Storage";
    case kLong: return "LongStorage";
    case kInt: return "IntStorage";
    case kShort: return "ShortStorage";
    case kChar: return "CharStorage";
    case kByte: return "ByteStorage";
    case kBool: return "BoolStorage";
    case kComplexFloat: return "ComplexFloatStorage";
    case kComplexDouble: return "ComplexDoubleStorage";
    default: return "UntypedStorage";  // bytes; the dtype stands beside them
  }
}

/// Writes opcodes of protocol 2 (docs.python.org/3/library/pickletools.html), and collects the
/// storages that they name.
class PickleWriter {
 public:
  std::string run(const IValue& value) {
    out_ = "\x80\x02";
    write(value);
    out_ += '.';
    return std::move(out_);
  }
  /// The bytes of each storage, by its key.
  std::vector<std::string> storages;

 private:
  template <class T>
  void raw(T value) {
    static_assert(std::endian::native == std::endian::little);
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void global(const std::string& module, const std::string& name) {
    out_ += 'c' + module + '\n' + name + '\n';
  }
  void text(const std::string& value) {
    out_ += 'X';
    raw(static_cast<uint32_t>(value.size()));
    out_ += value;
  }
  void integer(int64_t value) {
    if (value == static_cast<int32_t>(value)) {
      out_ += 'J';
      raw(static_cast<int32_t>(value));
    } else {
      out_ += "\x8a\x08";
      raw(value);
    }
  }
  void real(double value) {
    const auto bits = std::bit_cast<uint64_t>(value);
    out_ += 'G';
    for (int shift = 56; shift >= 0; shift -= 8) out_ += static_cast<char>(bits >> shift & 0xff);
  }
  void integers(IntArrayRef values) {
    out_ += '(';
    for (int64_t v : values) integer(v);
    out_ += 't';
  }

  void write(const IValue& v) {
    if (v.isNone()) {
      out_ += 'N';
    } else if (v.isBool()) {
      out_ += v.toBool() ? '\x88' : '\x89';
    } else if (v.isInt()) {
      integer(v.toInt());
    } else if (v.isDouble()) {
      real(v.toDouble());
    } else if (v.isString()) {
      text(v.toStringRef());
    } else if (v.isTensor()) {
      tensor(v.toTensor());
    } else if (v.isTuple()) {
      out_ += '(';
      for (const IValue& item : v.toTupleRef()) write(item);
      out_ += 't';
    } else if (v.isList()) {
      out_ += "](";  // an empty list, and a mark: what Python's reader of weights knows
      for (const IValue& item : v.toListRef()) write(item);
      out_ += 'e';
    } else if (v.isGenericDict()) {
      out_ += "}(";
      for (const auto& [key, value] : v.toEntriesRef()) {
        write(key);
        write(value);
      }
      out_ += 'u';
    } else {
      TAEDA_CHECK(false, "pickle_save: Python's files have no place for a ", v.tagKind());
    }
  }

  /// torch._utils._rebuild_tensor_v2(storage, offset, sizes, strides, requires_grad,
  /// OrderedDict()), or _v3 with a dtype behind them, of a storage of bytes.
  void tensor(const Tensor& original) {
    TAEDA_CHECK(original.defined(), "pickle_save: a tensor is undefined");
    const Tensor t = original.detach().cpu();
    const bool untyped = is_stored(t.dtype());
    global("torch._utils", untyped ? "_rebuild_tensor_v3" : "_rebuild_tensor_v2");
    out_ += "((";
    const auto [key, elements] = storage(t);
    text("storage");
    global(untyped ? "torch.storage" : "torch", storage_class(t.dtype()));
    text(std::to_string(key));
    text("cpu");
    integer(untyped ? elements * t.element_size() : elements);
    out_ += "tQ";
    integer(t.storage_offset());
    integers(t.sizes());
    integers(t.strides());
    out_ += original.requires_grad() ? '\x88' : '\x89';
    global("collections", "OrderedDict");
    out_ += ")R";
    if (untyped) global("torch", dtype_name(t.dtype()));
    out_ += "tR";
  }

  /// The key and the number of elements of a tensor's storage, which is written once.
  std::pair<size_t, int64_t> storage(const Tensor& t) {
    TAEDA_CHECK_VALUE(!t.defined() || t.is_strided(),
                      "a sparse tensor cannot be saved: save its indices and values");
    const StorageImpl* s = t.storage().get();
    const int64_t elements =
        static_cast<int64_t>(s->nbytes()) / static_cast<int64_t>(element_size(t.dtype()));
    const auto [found, fresh] = keys_.try_emplace({s, t.dtype()}, storages.size());
    if (fresh) {
      kept_.push_back(t);  // so that no other storage takes its address
      const size_t bytes = static_cast<size_t>(elements) * element_size(t.dtype());
      storages.emplace_back(static_cast<const char*>(s->data()), bytes);
    }
    return {found->second, elements};
  }

  std::string out_;
  std::map<std::pair<const StorageImpl*, ScalarType>, size_t> keys_;
  std::vector<Tensor> kept_;
};

}  // namespace

std::vector<char> pickle_save(const IValue& value) {
  PickleWriter writer;
  std::vector<std::pair<std::string, std::string>> entries;
  entries.emplace_back("archive/data.pkl", writer.run(value));
  for (size_t i = 0; i < writer.storages.size(); ++i)
    entries.emplace_back("archive/data/" + std::to_string(i), std::move(writer.storages[i]));
  entries.emplace_back("archive/version", "3\n");
  const std::string bytes = io::make_zip(entries, /*compressed=*/false);
  return {bytes.begin(), bytes.end()};
}

}  // namespace taeda::inline v0_2
