// Values in remote calls, without the engine that carries them.
#include "tests/fuzz/values.h"

#include "taeda/ops/create/create.h"
#include "tests/fuzz/reader.h"

namespace taeda::fuzz {
namespace {

namespace rpc = distributed::rpc;

template <class T>
void read_as(const rpc::Packet& packet) {
  try {
    rpc::Reader in(packet);
    rpc::Codec<T>::read(in);
    in.finish();
  } catch (const Error&) {
  }
}

}  // namespace

void read_values(const rpc::Packet& packet) {
  read_as<Tensor>(packet);
  read_as<std::string>(packet);
  read_as<std::vector<int64_t>>(packet);
  read_as<std::vector<std::vector<Tensor>>>(packet);
  read_as<std::optional<double>>(packet);
  read_as<std::map<std::string, Tensor>>(packet);
  read_as<std::tuple<int64_t, std::vector<std::string>, Tensor>>(packet);
}

Reader fuzz_wire() {
  return {[](std::string_view bytes) {
    read_values({std::string(bytes), {ones({6}), ones({4}, kByte)}});
  }};
}

}  // namespace taeda::fuzz
