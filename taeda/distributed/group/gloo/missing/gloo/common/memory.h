// What Gloo's headers of its TCP transport include and installations of it leave out. Where it is
// installed, that one is included. Here the classes only have to be as large as Gloo's own, which
// its library alone works with: pointers to buffers that may go while messages are under way.
#pragma once

#include <memory>

namespace gloo {

template <class T>
class WeakNonOwningPtr {
  std::weak_ptr<T> buffer_;
};

template <class T>
class NonOwningPtr {
  std::shared_ptr<T> buffer_;
};

template <class T>
class ShareableNonOwningPtr {
  std::shared_ptr<T> buffer_;
};

}  // namespace gloo
