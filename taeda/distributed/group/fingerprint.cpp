#include "taeda/distributed/group/fingerprint.h"

#include <cstring>
#include <string_view>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed {

namespace {

/// FNV-1a, a 64-bit word at a time.
class Hash {
 public:
  void add(uint64_t word) { value_ = (value_ ^ word) * 0x100000001b3; }
  void add(std::string_view text) {
    for (const char c : text) add(static_cast<uint64_t>(c));
  }
  /// Every bit of the result depends on every bit that was added (the finalizer of MurmurHash3).
  uint64_t get() const {
    uint64_t h = value_;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccd;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53;
    return h ^ (h >> 33);
  }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

std::string_view base_name(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

std::string shape_text(IntArrayRef shape) {
  std::string out = "[";
  for (const int64_t n : shape) out += (out.size() > 1 ? ", " : "") + std::to_string(n);
  return out + "]";
}

}  // namespace

uint64_t Fingerprint::hash() const {
  Hash h;
  h.add(static_cast<uint64_t>(dtype));
  if (kind != Kind::Collective) {
    int64_t numel = 1;
    for (const int64_t n : shape) numel *= n;
    h.add(static_cast<uint64_t>(numel));
    h.add(static_cast<uint64_t>(tag));
    return h.get();
  }
  h.add(std::string_view(op));
  h.add(ragged ? ~uint64_t{0} : shape.size());
  if (!ragged)
    for (const int64_t n : shape) h.add(static_cast<uint64_t>(n));
  h.add(reduce ? static_cast<uint64_t>(*reduce) : ~uint64_t{0});
  h.add(static_cast<uint64_t>(peer));
  return h.get();
}

uint64_t Fingerprint::call_id() const {
  if (kind != Kind::Collective) return hash();
  Hash h;
  h.add(hash());
  h.add(sequence);
  h.add(follows);
  return h.get();
}

std::string Fingerprint::to_string() const {
  std::string out = taeda::detail::concat(op, " #", sequence);
  if (follows > 0) out += "." + std::to_string(follows);
  if (dtype != ScalarType::Undefined)
    out += std::string(" ") + dtype_name(dtype) + shape_text({shape.data(), shape.size()});
  if (reduce) out += std::string(" (") + distributed::to_string(*reduce) + ")";
  if (kind == Kind::Send) out += " to rank " + std::to_string(peer);
  if (kind == Kind::Recv) out += peer < 0 ? " from any rank" : " from rank " + std::to_string(peer);
  if (kind == Kind::Collective && peer >= 0) out += ", root rank " + std::to_string(peer);
  if (kind != Kind::Collective && tag != 0) out += ", tag " + std::to_string(tag);
  if (site.line() != 0)
    out += taeda::detail::concat(" at ", base_name(site.file_name()), ":", site.line());
  return out;
}

}  // namespace taeda::inline v0_2::distributed
