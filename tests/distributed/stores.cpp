#include "tests/distributed/stores.h"

#include "taeda/distributed/engine.h"
#include "taeda/distributed/store/file_store.h"
#include "taeda/distributed/store/hash_store.h"
#include "taeda/distributed/store/prefix_store.h"
#include "taeda/distributed/store/tcp_store.h"
#include "tests/io/temporary_folder.h"

namespace taeda::distributed {
namespace {

struct HashWorld final : StoreWorld {
  StorePtr open() override { return store; }
  StorePtr store = std::make_shared<HashStore>();
};

struct FileWorld final : StoreWorld {
  StorePtr open() override { return std::make_shared<FileStore>(folder / "store", 4); }
  TemporaryFolder folder;
};

template <class World>
struct PrefixWorld final : StoreWorld {
  StorePtr open() override { return std::make_shared<PrefixStore>("part", world.open()); }
  World world;
};

struct TcpWorld : StoreWorld {
  explicit TcpWorld(const std::string& secret = "")
      : security{.secret = secret},
        master(std::make_shared<TCPStore>(
            "localhost",
            TCPStoreOptions{.port = 0, .is_master = true, .job = "stores", .security = security})) {
  }
  StorePtr open() override {
    return std::make_shared<TCPStore>(
        "localhost",
        TCPStoreOptions{.port = master->port(), .job = "stores", .security = security});
  }
  Security security;
  std::shared_ptr<TCPStore> master;
};

struct SecretTcpWorld final : TcpWorld {
  SecretTcpWorld() : TcpWorld(kTestSecret) {}
};

std::string missing_grpc() {
  return has_engine("grpc") ? "" : "TCPStore needs the engine 'grpc', which this build lacks";
}

template <class World>
StoreKind kind(const char* name) {
  return {name, [] { return std::make_unique<World>(); }};
}

}  // namespace

std::vector<StoreKind> store_kinds() {
  return {kind<HashWorld>("Hash"),
          kind<FileWorld>("File"),
          kind<PrefixWorld<HashWorld>>("PrefixOfHash"),
          kind<PrefixWorld<FileWorld>>("PrefixOfFile"),
          {"Tcp", [] { return std::make_unique<TcpWorld>(); }, missing_grpc},
          {"TcpWithSecret", [] { return std::make_unique<SecretTcpWorld>(); }, missing_grpc}};
}

}  // namespace taeda::distributed
