// Note [Shared memory]
// Memory that processes share is an anonymous file (memfd_create), mapped by each of them and known
// by its descriptor alone. It has no name, so nothing is left when the last process is gone, in
// whatever way it went.
#include "shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include "bindings.h"
#include "data.h"
#include "memory_view.h"
#include "taeda/taeda.h"

namespace taeda::python {

namespace {

struct Mapping {
  size_t nbytes;
  int fd;  ///< -1 once nobody may be given it any more
};

/// Where shared memory is mapped in this process.
class Mappings {
 public:
  void add(const char* start, Mapping mapping) {
    std::lock_guard lock(mutex_);
    by_start_[start] = mapping;
  }
  void remove(const char* start) {
    Mapping gone{};
    {
      std::lock_guard lock(mutex_);
      const auto found = by_start_.find(start);
      gone = found->second;
      by_start_.erase(found);
    }
    munmap(const_cast<char*>(start), gone.nbytes);
    if (gone.fd >= 0) close(gone.fd);
  }
  /// Descriptor and place of an address in shared memory.
  std::optional<std::pair<int, size_t>> find(const void* address) {
    const auto* at = static_cast<const char*>(address);
    std::lock_guard lock(mutex_);
    auto next = by_start_.upper_bound(at);
    if (next == by_start_.begin()) return {};
    const auto& [start, mapping] = *--next;
    if (at >= start + mapping.nbytes) return {};
    return std::pair(mapping.fd, static_cast<size_t>(at - start));
  }

 private:
  std::mutex mutex_;
  std::map<const char*, Mapping> by_start_;
};

/// Lasts longer than any tensor.
Mappings& mappings() {
  static auto& all = *new Mappings;
  return all;
}

[[noreturn]] void refuse(const std::string& what) {
  raise(PyExc_RuntimeError, what + ": " + std::strerror(errno));
}

/// Takes over the descriptor.
char* map_file(int fd, size_t nbytes, bool keeps_fd, int flags) {
  const size_t length = std::max<size_t>(nbytes, 1);
  void* start = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, 0);
  if (start == MAP_FAILED) {
    const int error = errno;
    close(fd);
    errno = error;
    refuse("unable to map " + std::to_string(nbytes) + " bytes of shared memory");
  }
  if (!keeps_fd) close(fd);
  mappings().add(static_cast<char*>(start), {length, keeps_fd ? fd : -1});
  return static_cast<char*>(start);
}

char* new_memory(size_t nbytes) {
  const int fd = memfd_create("taeda", MFD_CLOEXEC);
  if (fd < 0) refuse("unable to make shared memory");
  if (ftruncate(fd, static_cast<off_t>(std::max<size_t>(nbytes, 1))) < 0) {
    const int error = errno;
    close(fd);
    errno = error;
    refuse("unable to make " + std::to_string(nbytes) + " bytes of shared memory");
  }
  return map_file(fd, nbytes, true, 0);
}

Tensor over_mapping(char* start, IntArrayRef sizes, ScalarType dtype) {
  return from_blob(
      start, sizes, [](void* p) { mappings().remove(static_cast<char*>(p)); },
      TensorOptions(dtype));
}

Tensor share_new(size_t nbytes) {
  return over_mapping(new_memory(nbytes), {static_cast<int64_t>(nbytes)}, kByte);
}

Tensor share_map(int fd, size_t nbytes, bool keeps_fd) {
  struct stat found {};
  if (fstat(fd, &found) < 0) refuse("unable to look at shared memory");
  if (static_cast<size_t>(found.st_size) < nbytes)
    raise(PyExc_RuntimeError, "shared memory of " + std::to_string(found.st_size) +
                                  " bytes is too small for " + std::to_string(nbytes));
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) refuse("unable to keep shared memory");
  return over_mapping(map_file(own, nbytes, keeps_fd, MAP_POPULATE), {static_cast<int64_t>(nbytes)},
                      kByte);
}

/// Moves a tensor's memory to where other processes can see it. Its views stay where they were.
void share(const Tensor& t) {
  if (!t.is_cpu() || mappings().find(t.storage()->data())) return;
  const NoGradGuard no_grad;
  const size_t nbytes = t.storage()->nbytes();
  char* start = new_memory(nbytes);
  const Tensor all =
      over_mapping(start, {static_cast<int64_t>(nbytes) / t.element_size()}, t.dtype());
  if (nbytes) std::memcpy(start, t.storage()->data(), nbytes);
  t.set_data(all.as_strided(t.sizes(), t.strides(), t.storage_offset()).detach());
}

py::object share_place(const Tensor& t) {
  const auto place =
      t.is_cpu() ? mappings().find(t.storage()->data()) : std::optional<std::pair<int, size_t>>();
  if (!place || place->first < 0) return py::none();
  return py::make_tuple(place->first, place->second);
}

/// The bytes of a contiguous tensor, for readers of buffers.
py::object bytes_of(const Tensor& t) {
  if (!t.is_cpu() || !t.is_contiguous())
    raise(PyExc_ValueError,
          "the bytes of a tensor are asked for that is not contiguous on the CPU");
  return py::reinterpret_steal<py::object>(memory_view(from_blob(
      t.data_ptr(), {t.nbytes()}, [t](void*) {}, TensorOptions(kByte))));
}

Tensor tensor_on(py::object buffer, ScalarType dtype, const std::vector<int64_t>& sizes,
                 const std::vector<int64_t>& strides, int64_t offset) {
  const Tensor bytes = tensor_over(buffer.ptr());
  const auto size = static_cast<int64_t>(element_size(dtype));
  int64_t last = offset;
  bool empty = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || strides.size() != sizes.size() || strides[i] < 0)
      raise(PyExc_RuntimeError, "a tensor over memory expects sizes and strides of at least 0");
    empty |= sizes[i] == 0;
    last += (sizes[i] - 1) * strides[i];
  }
  if (offset < 0 || (!empty && (last + 1) * size > bytes.nbytes()))
    raise(PyExc_RuntimeError, "memory of " + std::to_string(bytes.nbytes()) +
                                  " bytes is too small for element " + std::to_string(last) +
                                  " of a tensor");
  return from_blob(
      bytes.data_ptr<uint8_t>() + offset * size, sizes, strides, [bytes](void*) {},
      TensorOptions(dtype));
}

}  // namespace

void add_shared_memory(PyObject* module) {
  py::module_ m = as_module(module);
  m.def("_share_new", &share_new, "So many bytes of shared memory.");
  m.def("_share_map", &share_map, py::arg("fd"), py::arg("nbytes"), py::arg("keeps_fd"),
        "The shared memory of a descriptor; with keeps_fd it can be passed on.");
  m.def("_share", &share, "Moves a tensor's memory to shared memory.");
  m.def("_share_place", &share_place,
        "(descriptor, bytes before the tensor's storage) of shared memory that can be passed on, "
        "or None.");
  m.def("_is_shared", [](const Tensor& t) {
    return t.is_cpu() && mappings().find(t.storage()->data()).has_value();
  });
  m.def("_bytes_of", &bytes_of, "The bytes of a contiguous tensor, by the buffer protocol.");
  m.def("_tensor_on", &tensor_on, py::arg("buffer"), py::arg("dtype"), py::arg("sizes"),
        py::arg("strides"), py::arg("offset") = 0,
        "A tensor over the memory of an object with the buffer protocol.");
}

}  // namespace taeda::python
