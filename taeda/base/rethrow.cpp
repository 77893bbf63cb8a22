#include "taeda/base/rethrow.h"

#include <exception>
#include <stdexcept>
#include <typeinfo>

#include "taeda/base/error.h"
#include "taeda/base/type_name.h"

namespace taeda::inline v0_2 {

namespace {

/// Throws on what is being handled as a T with a longer message, if it is a T and nothing more.
template <class T>
void rethrow_longer(const std::exception& e, const std::string& line) {
  if (typeid(e) == typeid(T)) throw T(std::string(e.what()) + "\n" + line);
}

}  // namespace

void rethrow_from(const std::string& place) {
  const auto line = [&](const std::type_info& type) {
    return detail::concat("Caught ", detail::short_type_name(type.name()), " ", place, ".");
  };
  try {
    throw;
  } catch (Error& e) {
    e.add_context(line(typeid(e)));
    throw;
  } catch (const std::exception& e) {
    rethrow_longer<std::runtime_error>(e, line(typeid(e)));
    rethrow_longer<std::logic_error>(e, line(typeid(e)));
    rethrow_longer<std::invalid_argument>(e, line(typeid(e)));
    rethrow_longer<std::out_of_range>(e, line(typeid(e)));
    throw;
  }
}

}  // namespace taeda::inline v0_2
