#include "tests/distributed/stores.h"

#include "taeda/distributed/store/file_store.h"
#include "taeda/distributed/store/hash_store.h"
#include "taeda/distributed/store/prefix_store.h"
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

template <class World>
StoreKind kind(const char* name) {
  return {name, [] { return std::make_unique<World>(); }};
}

}  // namespace

std::vector<StoreKind> store_kinds() {
  return {kind<HashWorld>("Hash"), kind<FileWorld>("File"),
          kind<PrefixWorld<HashWorld>>("PrefixOfHash"),
          kind<PrefixWorld<FileWorld>>("PrefixOfFile")};
}

}  // namespace taeda::distributed
