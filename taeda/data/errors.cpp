#include "taeda/data/errors.h"

namespace taeda::inline v0_2::data::detail {

void rethrow_with_context(const std::string& line) {
  try {
    throw;
  } catch (Error& e) {
    e.add_context(line);
    throw;
  } catch (const std::exception& e) {
    throw WorkerException(std::string(e.what()) + "\n" + line, std::current_exception());
  } catch (...) {
    throw WorkerException("exception of an unknown type\n" + line, std::current_exception());
  }
}

}  // namespace taeda::data::detail
