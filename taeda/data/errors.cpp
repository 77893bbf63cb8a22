#include "taeda/data/errors.h"

namespace taeda::inline v0_2::data {

namespace {

std::string worker_text(const std::exception_ptr& original) {
  const std::string text = "Caught exception in DataLoader worker thread.";
  try {
    std::rethrow_exception(original);
  } catch (const std::exception& e) {
    return text + " Original message: " + e.what();
  } catch (...) {
    return text;
  }
}

/// The exception that a dataset threw, without what stands in for it.
std::exception_ptr innermost(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const WorkerException& e) {
    return e.original_exception;
  } catch (...) {
    return thrown;
  }
}

}  // namespace

WorkerException::WorkerException(std::exception_ptr original)
    : Error(worker_text(original)), original_exception(innermost(original)) {}

}  // namespace taeda::data

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
