#include "tools/taeda/use/trained.h"

#include <filesystem>

#include "taeda/io/checkpoint.h"
#include "tools/taeda/json.h"
#include "tools/taeda/tensor_file.h"
#include "tools/taeda/train/folders.h"

namespace taeda::tool {

namespace {

namespace fs = std::filesystem;

std::string file_of(const UseOptions& o) {
  if (!fs::is_directory(o.run)) {
    if (fs::exists(o.run)) return o.run;
    throw UsageError("there is no run or checkpoint " + o.run +
                     "; `taeda runs` lists the runs that there are");
  }
  const std::string best = (fs::path(o.run) / kBestFile).string(),
                    last = (fs::path(o.run) / kCheckpointFile).string();
  if (!o.last && fs::exists(best)) return best;
  if (fs::exists(last)) return last;
  throw UsageError(o.run + " holds no " + kCheckpointFile +
                   "; `taeda runs` lists the runs that there are");
}

std::string value_of(const io::Archive& archive, const std::string& name) {
  const auto found = archive.metadata.find(name);
  return found == archive.metadata.end() ? "" : found->second;
}

}  // namespace

void add_use(const Command& c, UseOptions& o) {
  c.add_plain("run", o.run, "Folder of a run of taeda train, or a checkpoint of one").required();
  c.add_option("--device", o.device,
               "cpu, cuda, cuda:N, sim, sim:N, or auto: a GPU if there is one");
  c.add_flag("--last", o.last, "The last weights, not the best ones");
  c.add_flag("--json", o.json, "Print JSON");
}

Trained open_trained(const UseOptions& options, Device device) {
  const std::string path = file_of(options);
  return user_input([&] {
    const std::string format = format_of(path);
    if (format != "safetensors" && format != ".pt")
      throw UsageError(path +
                       " is no checkpoint of taeda train, nor weights that taeda export wrote");
    const io::Archive archive = io::load_archive(path);
    const std::string about = value_of(archive, "about");
    if (about.empty())
      throw UsageError(path +
                       " does not say what network it is of: it is no checkpoint of taeda "
                       "train, or of an earlier version (--resume it to have it say so)");
    Trained out{
        .path = path, .about = About::from_json(about), .config = value_of(archive, "config")};
    const std::string best = value_of(archive, "best"), done = value_of(archive, "epoch");
    out.epoch = static_cast<int64_t>(std::strtod((best.empty() ? done : best).c_str(), nullptr));
    out.network = out.about.make_network();
    const io::Archive section = archive.section("model.");  // weights alone lie in none
    io::unpack(section.tensors.empty() ? archive : section, *out.network);
    out.network->to(device);
    out.network->eval();
    return out;
  });
}

TrainOptions options_of_run(const Trained& t) {
  const auto config = Json::read(t.config);
  if (!config.is_object())
    throw UsageError(t.path + " does not say which data it is of: give --data");
  TrainOptions out;
  out.task = t.about.task;
  for (const Setting& s : settings(out))
    if (config.contains(s.name))
      std::visit([&]<class T>(T* value) { *value = config[s.name].get<T>(); }, s.value);
  return out;
}

std::string title_of(const Trained& t) {
  const fs::path path = t.path;
  const std::string folder = path.parent_path().string();
  return path.filename().string() + (folder.empty() ? "" : " of " + folder) + ", epoch " +
         std::to_string(t.epoch) + ": " + t.about.model + ", " + t.about.task;
}

}  // namespace taeda::tool
