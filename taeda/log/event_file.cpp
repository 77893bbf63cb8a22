#include "taeda/log/event_file.h"

#include "taeda/base/error.h"
#include "taeda/log/record_file.h"

#if defined(TAEDA_HAS_TENSORBOARD)
#include "event.pb.h"
#endif

namespace taeda::inline v0_2::logging {

#if defined(TAEDA_HAS_TENSORBOARD)

namespace {

namespace pb = ::taeda_tensorboard;

EventValue value_of(const pb::Summary::Value& v) {
  EventValue out{v.tag(), "tensor", {}};
  if (v.has_image()) out.kind = "image";
  if (v.has_histo()) out.kind = "histogram";
  if (v.value_case() == pb::Summary::Value::kSimpleValue) out.scalar = v.simple_value();
  if (v.has_tensor() && v.tensor().tensor_shape().dim_size() == 0) {
    if (v.tensor().float_val_size() == 1) out.scalar = v.tensor().float_val(0);
    if (v.tensor().double_val_size() == 1) out.scalar = v.tensor().double_val(0);
  }
  if (out.scalar) out.kind = "scalar";
  return out;
}

Event event_of(const std::string& record, const std::string& path) {
  pb::Event event;
  TAEDA_CHECK(event.ParseFromString(record), path, ": a record is no event");
  Event out{event.wall_time(), event.step(), {}, {}};
  switch (event.what_case()) {
    case pb::Event::kFileVersion: out.other = "version"; break;
    case pb::Event::kGraphDef: out.other = "graph"; break;
    case pb::Event::kSummary: {
      pb::Summary summary;
      TAEDA_CHECK(summary.ParseFromString(event.summary()), path, ": a summary is damaged");
      for (const auto& value : summary.value()) out.values.push_back(value_of(value));
      break;
    }
    default: out.other = "session";
  }
  return out;
}

}  // namespace

EventFile read_event_file(const std::string& path) {
  EventFile out;
  for (const std::string& record : read_records(path, &out.damage))
    out.events.push_back(event_of(record, path));
  return out;
}

#else

EventFile read_event_file(const std::string&) {
  throw NotImplementedError(
      "event files cannot be read: this build has no Protocol Buffers (Debian packages "
      "libprotobuf-dev, protobuf-compiler)");
}

#endif

}  // namespace taeda::logging
