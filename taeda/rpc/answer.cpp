#include "taeda/rpc/answer.h"

#include <atomic>

#include "taeda/base/error.h"
#include "taeda/rpc/agent.h"
#include "taeda/rpc/contexts.h"

namespace taeda::inline v0_2::distributed::rpc {

namespace {

enum class ErrorClass : uint8_t {
  Error,
  Index,
  Value,
  Type,
  NotImplemented,
  OutOfMemory,
  Distributed
};

std::pair<ErrorClass, std::string> class_and_text(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const IndexError& e) {
    return {ErrorClass::Index, e.what()};
  } catch (const ValueError& e) {
    return {ErrorClass::Value, e.what()};
  } catch (const TypeError& e) {
    return {ErrorClass::Type, e.what()};
  } catch (const NotImplementedError& e) {
    return {ErrorClass::NotImplemented, e.what()};
  } catch (const OutOfMemoryError& e) {
    return {ErrorClass::OutOfMemory, e.what()};
  } catch (const DistributedError& e) {
    return {ErrorClass::Distributed, e.what()};
  } catch (const std::exception& e) {
    return {ErrorClass::Error, e.what()};
  } catch (...) {
    return {ErrorClass::Error, "an exception that is no std::exception"};
  }
}

}  // namespace

namespace detail {

void write_error(Writer& out, const std::exception_ptr& error) {
  const auto [kind, text] = class_and_text(error);
  out.byte(static_cast<uint8_t>(kind));
  out.text(text);
}

void throw_error(Reader& in, const std::string& place) {
  const auto kind = static_cast<ErrorClass>(in.byte());
  const std::string text = place + ": " + in.text();
  switch (kind) {
    case ErrorClass::Index: throw IndexError(text);
    case ErrorClass::Value: throw ValueError(text);
    case ErrorClass::Type: throw TypeError(text);
    case ErrorClass::NotImplemented: throw NotImplementedError(text);
    case ErrorClass::OutOfMemory: throw OutOfMemoryError(text);
    case ErrorClass::Distributed: throw DistributedError(text);
    default: throw Error(text);
  }
}

}  // namespace detail

struct Answer::Once {
  Agent& agent;
  const int64_t to;
  const Transport::Reply reply;
  int64_t context = -1;
  std::atomic<bool> sent{false};

  void send(Writer answer) {
    if (!sent.exchange(true)) reply(answer.take());
  }
  void fail(const std::exception_ptr& error) {
    Writer answer(&agent, to);
    answer.byte(1);
    detail::write_error(answer, error);
    send(std::move(answer));
  }
  ~Once() {
    if (!sent) fail(std::make_exception_ptr(DistributedError("it was dropped without an answer")));
  }
};

Answer::Answer(Agent& agent, int64_t to, Transport::Reply reply)
    : once_(new Once{.agent = agent, .to = to, .reply = std::move(reply)}) {}

void Answer::set_context(int64_t id) const { once_->context = id; }

Writer Answer::writer() const { return Writer(&once_->agent, once_->to); }

void Answer::send(Writer result) const {
  Writer answer = writer();
  answer.byte(0);
  once_->agent.contexts().write(answer, result, once_->context);
  answer.append(std::move(result));
  once_->send(std::move(answer));
}

void Answer::fail(std::exception_ptr error) const { once_->fail(error); }

}  // namespace taeda::inline v0_2::distributed::rpc
