#include "taeda/log/summary.h"

#include <algorithm>

#include "taeda/base/error.h"

#if defined(TAEDA_HAS_TENSORBOARD)
#include "event.pb.h"
#include "hparams.pb.h"
#endif

namespace taeda::inline v0_2::logging::summary {

#if defined(TAEDA_HAS_TENSORBOARD)

namespace pb = ::taeda_tensorboard;

namespace {

constexpr const char* kFileVersion = "brain.Event:2";
constexpr const char* kHParamsTag = "_hparams_/";
/// The version of TensorFlow's graphs that readers of today expect at least.
constexpr int kGraphProducer = 22;

template <class Message>
std::string bytes(const Message& message) {
  std::string out;
  TAEDA_CHECK(message.SerializeToString(&out),
              "a summary of more than 2 GiB does not fit into a message of Protocol Buffers");
  return out;
}

pb::Event start(const When& when) {
  pb::Event out;
  out.set_wall_time(when.wall_time);
  out.set_step(when.step);
  return out;
}

void set_plugin(pb::Summary::Value& value, const std::string& name, std::string content = {}) {
  auto* plugin = value.mutable_metadata()->mutable_plugin_data();
  plugin->set_plugin_name(name);
  plugin->set_content(std::move(content));
}

pb::Value to_value(const HParam& param) {
  pb::Value out;
  if (const auto* flag = std::get_if<bool>(&param)) out.set_bool_value(*flag);
  if (const auto* n = std::get_if<int64_t>(&param)) out.set_number_value(static_cast<double>(*n));
  if (const auto* x = std::get_if<double>(&param)) out.set_number_value(*x);
  if (const auto* s = std::get_if<std::string>(&param)) out.set_string_value(*s);
  return out;
}

pb::HParamInfo::Type type_of(const HParam& param) {
  if (std::holds_alternative<bool>(param)) return pb::HParamInfo::BOOL;
  return std::holds_alternative<std::string>(param) ? pb::HParamInfo::STRING
                                                    : pb::HParamInfo::FLOAT64;
}

/// A summary without data, whose metadata say it all.
std::string hparams_summary(const char* what, const pb::HParamsData& data) {
  pb::Summary out;
  auto* value = out.add_value();
  value->set_tag(std::string(kHParamsTag) + what);
  set_plugin(*value, "hparams", bytes(data));
  return bytes(out);
}

void set_shape(pb::Shape& out, const DimVector& sizes) {
  for (int64_t size : sizes) out.add_dim()->set_size(size);
}

}  // namespace

void check_available() {}

std::string version_event(const When& when) {
  pb::Event out = start(when);
  out.set_file_version(kFileVersion);
  return bytes(out);
}

std::string session_start_event(const When& when) {
  pb::Event out = start(when);
  out.mutable_session_log()->set_status(pb::SessionLog::START);
  return bytes(out);
}

std::string event(const When& when, std::string summary) {
  pb::Event out = start(when);
  out.set_summary(std::move(summary));
  return bytes(out);
}

std::string graph_event(const When& when, const std::vector<GraphNode>& nodes) {
  pb::GraphDef graph;
  for (const GraphNode& from : nodes) {
    auto* node = graph.add_node();
    node->set_name(from.name);
    node->set_op(from.op);
    node->set_device(from.device);
    for (const std::string& input : from.inputs) node->add_input(input);
    auto* shapes = (*node->mutable_attr())["_output_shapes"].mutable_list();
    for (const DimVector& sizes : from.shapes) set_shape(*shapes->add_shape(), sizes);
  }
  graph.mutable_versions()->set_producer(kGraphProducer);
  pb::Event out = start(when);
  out.set_graph_def(bytes(graph));
  return bytes(out);
}

std::string scalar(const std::string& tag, double number, ScalarKind kind) {
  pb::Summary out;
  auto* value = out.add_value();
  value->set_tag(tag);
  if (kind == ScalarKind::kSimple) {
    value->set_simple_value(static_cast<float>(number));
    return bytes(out);
  }
  auto* tensor = value->mutable_tensor();
  tensor->mutable_tensor_shape();
  tensor->set_dtype(kind == ScalarKind::kDoubleTensor ? pb::DOUBLE : pb::FLOAT);
  if (kind == ScalarKind::kDoubleTensor)
    tensor->add_double_val(number);
  else
    tensor->add_float_val(static_cast<float>(number));
  set_plugin(*value, "scalars");
  value->mutable_metadata()->set_data_class(pb::Metadata::SCALAR);
  return bytes(out);
}

std::string histogram(const std::string& tag, const HistogramData& data) {
  pb::Summary out;
  auto* value = out.add_value();
  value->set_tag(tag);
  auto* histogram = value->mutable_histo();
  histogram->set_min(data.min);
  histogram->set_max(data.max);
  histogram->set_num(data.num);
  histogram->set_sum(data.sum);
  histogram->set_sum_squares(data.sum_squares);
  histogram->mutable_bucket_limit()->Add(data.limits.begin(), data.limits.end());
  histogram->mutable_bucket()->Add(data.counts.begin(), data.counts.end());
  return bytes(out);
}

std::string image(const std::string& tag, int64_t height, int64_t width, int64_t channels,
                  std::string png) {
  pb::Summary out;
  auto* value = out.add_value();
  value->set_tag(tag);
  auto* image = value->mutable_image();
  image->set_height(static_cast<int32_t>(height));
  image->set_width(static_cast<int32_t>(width));
  image->set_colorspace(static_cast<int32_t>(channels));
  image->set_encoded_image_string(std::move(png));
  return bytes(out);
}

std::string text(const std::string& tag, const std::string& content) {
  pb::Summary out;
  auto* value = out.add_value();
  value->set_tag(tag + "/text_summary");
  auto* tensor = value->mutable_tensor();
  tensor->set_dtype(pb::STRING);
  tensor->add_string_val(content);
  tensor->mutable_tensor_shape()->add_dim()->set_size(1);
  set_plugin(*value, "text");
  value->mutable_metadata()->set_data_class(pb::Metadata::TENSOR);
  return bytes(out);
}

std::string hparams_experiment(const HParams& params, const std::vector<std::string>& metrics,
                               const std::vector<HParamDomain>& domains) {
  pb::HParamsData data;
  auto* experiment = data.mutable_experiment();
  for (const auto& [name, param] : params) {
    auto* info = experiment->add_hparam_infos();
    info->set_name(name);
    info->set_type(type_of(param));
    const auto domain = std::find_if(domains.begin(), domains.end(),
                                     [&, &key = name](const auto& d) { return d.name == key; });
    if (domain == domains.end()) continue;
    for (const HParam& value : domain->values)
      *info->mutable_domain_discrete()->add_values() = to_value(value);
  }
  for (const std::string& metric : metrics)
    experiment->add_metric_infos()->mutable_name()->set_tag(metric);
  return hparams_summary("experiment", data);
}

std::string hparams_start(const HParams& params, double time) {
  pb::HParamsData data;
  auto* info = data.mutable_session_start_info();
  info->set_start_time_secs(time);
  for (const auto& [name, param] : params) (*info->mutable_hparams())[name] = to_value(param);
  return hparams_summary("session_start_info", data);
}

std::string hparams_end(double time) {
  pb::HParamsData data;
  data.mutable_session_end_info()->set_status(pb::SessionEnd::SUCCESS);
  data.mutable_session_end_info()->set_end_time_secs(time);
  return hparams_summary("session_end_info", data);
}

#else

void check_available() {
  throw NotImplementedError(
      "cannot write events for TensorBoard: this build of Taeda has no Protocol Buffers (Debian "
      "packages libprotobuf-dev, protobuf-compiler)");
}

namespace {
std::string unavailable() {
  check_available();
  return {};
}
}  // namespace

std::string version_event(const When&) { return unavailable(); }
std::string session_start_event(const When&) { return unavailable(); }
std::string event(const When&, std::string) { return unavailable(); }
std::string graph_event(const When&, const std::vector<GraphNode>&) { return unavailable(); }
std::string scalar(const std::string&, double, ScalarKind) { return unavailable(); }
std::string histogram(const std::string&, const HistogramData&) { return unavailable(); }
std::string image(const std::string&, int64_t, int64_t, int64_t, std::string) {
  return unavailable();
}
std::string text(const std::string&, const std::string&) { return unavailable(); }
std::string hparams_experiment(const HParams&, const std::vector<std::string>&,
                               const std::vector<HParamDomain>&) {
  return unavailable();
}
std::string hparams_start(const HParams&, double) { return unavailable(); }
std::string hparams_end(double) { return unavailable(); }

#endif

}  // namespace taeda::logging::summary
