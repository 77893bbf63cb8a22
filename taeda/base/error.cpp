#include "taeda/base/error.h"

#include <sstream>

namespace taeda::inline v0_2 {

void Error::enter_module(const std::string& name, const std::string& type) {
  if (path_at_ == std::string::npos) {
    message_ += "\nin module ";
    path_at_ = message_.size();
    message_ += name.empty() ? type : name + " (" + type + ")";
  } else if (!name.empty()) {
    message_.insert(path_at_, name + ".");
  }
}

}  // namespace taeda

namespace taeda::inline v0_2::detail {

std::string concat_all(const Printable* parts, size_t n) {
  std::ostringstream out;
  for (size_t i = 0; i < n; ++i) parts[i].print(out, parts[i].value);
  return std::move(out).str();
}

void print_text(std::ostream& out, const void* text) { out << static_cast<const char*>(text); }

template void print_value<int>(std::ostream&, const void*);
template void print_value<int64_t>(std::ostream&, const void*);
template void print_value<size_t>(std::ostream&, const void*);
template void print_value<double>(std::ostream&, const void*);
template void print_value<std::string>(std::ostream&, const void*);

template <class E>
void fail(std::string message) {
  throw E(std::move(message));
}
template void fail<Error>(std::string);
template void fail<IndexError>(std::string);
template void fail<ValueError>(std::string);
template void fail<TypeError>(std::string);
template void fail<NotImplementedError>(std::string);
template void fail<OutOfMemoryError>(std::string);
template void fail<DistributedError>(std::string);

void internal_error(const char* condition, const char* file, int line, const std::string& message) {
  throw Error(concat("internal error: ", condition, " failed at ", file, ":", line,
                     message.empty() ? "" : ": ", message));
}

}  // namespace taeda::detail
