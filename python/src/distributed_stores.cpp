#include <pybind11/chrono.h>

#include "distributed.h"
#include "taeda/distributed/rendezvous.h"
#include "taeda/distributed/store/file_store.h"
#include "taeda/distributed/store/hash_store.h"
#include "taeda/distributed/store/prefix_store.h"
#include "taeda/distributed/store/tcp_store.h"
#include "waiting.h"

namespace taeda::python {

namespace {

using distributed::FileStore;
using distributed::HashStore;
using distributed::PrefixStore;
using distributed::Store;
using distributed::StorePtr;
using distributed::TCPStore;
using std::chrono::milliseconds;

/// A value, which Python gives as str or bytes.
std::string value_text(const py::object& value) {
  if (py::isinstance<py::str>(value) || py::isinstance<py::bytes>(value))
    return value.cast<std::string>();
  raise(PyExc_TypeError,
        std::string("a store's value is str or bytes, not ") + Py_TYPE(value.ptr())->tp_name);
}

py::bytes get(const StorePtr& store, const std::string& key) {
  return interruptibly([=] { return store->get(key); });
}
void set(const StorePtr& store, const std::string& key, const py::object& value) {
  const std::string text = value_text(value);
  const ReleaseGil released;
  store->set(key, text);
}
std::vector<py::bytes> multi_get(const StorePtr& store, const std::vector<std::string>& keys) {
  const std::vector<std::string> values = interruptibly([=] {
    store->wait(keys);
    std::vector<std::string> out;
    for (const std::string& key : keys) out.push_back(store->get(key));
    return out;
  });
  return {values.begin(), values.end()};
}
void multi_set(const StorePtr& store, const std::vector<std::string>& keys,
               const std::vector<py::object>& values) {
  if (keys.size() != values.size())
    raise(PyExc_ValueError, "multi_set wants a value for each key, but got " +
                                std::to_string(keys.size()) + " keys and " +
                                std::to_string(values.size()) + " values");
  for (size_t i = 0; i < keys.size(); ++i) set(store, keys[i], values[i]);
}
void wait_for_keys(const StorePtr& store, const std::vector<std::string>& keys,
                   std::optional<milliseconds> timeout) {
  interruptibly([=] { store->wait(keys, timeout); });
}
py::bytes compare_set(const StorePtr& store, const std::string& key, const py::object& expected,
                      const py::object& desired) {
  const std::string before = value_text(expected), after = value_text(desired);
  std::string out;
  {
    const ReleaseGil released;
    out = store->compare_set(key, before, after);
  }
  return out;
}

/// The last one to go may serve it, and wait for others then.
template <class S>
std::shared_ptr<S> shared(S* store) {
  return std::shared_ptr<S>(store, DeleteWithoutGil());
}

constexpr const char* kAboutStores =
    R"(A map from keys, each a text, to bytes that processes share.

>>> store = torch.distributed.HashStore()
>>> store.set("place", "here")
>>> store.get("place")
b'here'
>>> store.add("arrived", 1), store.add("arrived", 1)
(1, 2)
)";
constexpr const char* kAboutTCP =
    R"(A store that one process serves, for processes on any machines.

host_name: a text, the machine of that process
port: a scalar; 0 lets the system choose, and `port` tells
world_size: how many processes come, a scalar; `wait_for_workers` waits for them
is_master: whether this process serves
timeout: how long `get` and `wait` wait, a datetime.timedelta; five minutes unless given

>>> store = torch.distributed.TCPStore("localhost", 0, 1, is_master=True)
>>> store.set("place", "here")
>>> store.get("place")
b'here'
)";
constexpr const char* kAboutFile =
    R"(A store in a file that all processes see.

file_name: a text; the last process removes the file
world_size: how many processes there are, a scalar; -1, the default, for a number that is not known

>>> import os, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> store = torch.distributed.FileStore(os.path.join(folder.name, "store"), 1)
>>> store.set("place", "here")
>>> store.get("place")
b'here'
)";
constexpr const char* kAboutHash =
    R"(A store for threads of one process; takes no arguments.

>>> store = torch.distributed.HashStore()
>>> store.set("place", "here")
>>> store.num_keys()
1
)";
constexpr const char* kAboutPrefix =
    R"(A part of another store: the keys that begin with a prefix, a text.

>>> store = torch.distributed.HashStore()
>>> torch.distributed.PrefixStore("mine", store).set("place", "here")
>>> torch.distributed.PrefixStore("other", store).check(["place"])
False
)";

void add_interface(py::module_& m) {
  const auto released = py::call_guard<ReleaseGil>();
  py::class_<Store, StorePtr>(m, "Store", kAboutStores)
      .def("get", &get, py::arg("key"), "The value of a key; waits for it.")
      .def("set", &set, py::arg("key"), py::arg("value"), "Gives a key a value.")
      .def("multi_get", &multi_get, py::arg("keys"), "The values of several keys; waits for all.")
      .def("multi_set", &multi_set, py::arg("keys"), py::arg("values"),
           "Gives keys values, in turn.")
      .def("add", &Store::add, py::arg("key"), py::arg("amount"), released,
           "Adds to the number that a key holds, 0 where there is none; what it is then.")
      .def("compare_set", &compare_set, py::arg("key"), py::arg("expected_value"),
           py::arg("desired_value"), "Sets the value if the key holds the expected one.")
      .def("delete_key", &Store::delete_key, py::arg("key"), released,
           "Whether there was such a key to remove.")
      .def("check", &Store::check, py::arg("keys"), released, "Whether all keys exist.")
      .def(
          "wait",
          [](const StorePtr& s, const std::vector<std::string>& k) { wait_for_keys(s, k, {}); },
          py::arg("keys"))
      .def("wait", &wait_for_keys, py::arg("keys"), py::arg("timeout"),
           "Waits until all keys exist.")
      .def("num_keys", &Store::num_keys, released, "How many keys there are.")
      .def("set_timeout", &Store::set_timeout, py::arg("timeout"),
           "How long get and wait wait where the call does not say.")
      .def_property_readonly("timeout", &Store::timeout);
}

void add_kinds_of_stores(py::module_& m) {
  py::class_<TCPStore, std::shared_ptr<TCPStore>, Store>(m, "TCPStore", kAboutTCP)
      .def(py::init([](const std::string& host, uint16_t port, std::optional<int64_t> world_size,
                       bool is_master, milliseconds timeout, bool wait_for_workers,
                       bool multi_tenant, const py::object&, bool) {
             const distributed::TCPStoreOptions options{.port = port,
                                                        .is_master = is_master,
                                                        .world_size = world_size,
                                                        .wait_for_workers = wait_for_workers,
                                                        .timeout = timeout,
                                                        .multi_tenant = multi_tenant};
             return interruptibly([=] { return shared(new TCPStore(host, options)); });
           }),
           py::arg("host_name"), py::arg("port"), py::arg("world_size") = std::nullopt,
           py::arg("is_master") = false, py::arg("timeout") = distributed::kDefaultTimeout,
           py::arg("wait_for_workers") = true, py::arg("multi_tenant") = false,
           py::arg("master_listen_fd") = py::none(), py::arg("use_libuv") = true)
      .def_property_readonly("host", &TCPStore::host)
      .def_property_readonly("port", &TCPStore::port);
  py::class_<FileStore, std::shared_ptr<FileStore>, Store>(m, "FileStore", kAboutFile)
      .def(py::init([](const std::string& path, int64_t world_size) {
             return interruptibly([=] { return shared(new FileStore(path, world_size)); });
           }),
           py::arg("file_name"), py::arg("world_size") = -1)
      .def_property_readonly("path", &FileStore::path);
  py::class_<HashStore, std::shared_ptr<HashStore>, Store>(m, "HashStore", kAboutHash)
      .def(py::init<>());
  py::class_<PrefixStore, std::shared_ptr<PrefixStore>, Store>(m, "PrefixStore", kAboutPrefix)
      .def(py::init<std::string, StorePtr>(), py::arg("prefix"), py::arg("store"))
      .def_property_readonly("underlying_store", &PrefixStore::underlying_store)
      .def_property_readonly("prefix", &PrefixStore::prefix);
}

}  // namespace

void add_stores(py::module_& m) {
  add_interface(m);
  add_kinds_of_stores(m);
  m.def(
      "rendezvous",
      [](const std::string& url, int64_t rank, int64_t world_size, milliseconds timeout) {
        const distributed::Rendezvous met =
            interruptibly([=] { return distributed::rendezvous(url, rank, world_size, timeout); });
        return py::make_tuple(met.store, met.rank, met.world_size);
      },
      py::arg("url"), py::arg("rank") = -1, py::arg("world_size") = -1,
      py::arg("timeout") = distributed::kDefaultTimeout,
      "The store of a job, this process's rank, and how many there are.");
}

}  // namespace taeda::python
