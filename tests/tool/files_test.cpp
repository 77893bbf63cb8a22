// `taeda inspect`, `convert`, `plot`, `trace`, `bench`, `devices`, `info`, `completion`.
#include "taeda/io/npy.h"
#include "taeda/io/safetensors.h"
#include "taeda/io/zip_archive.h"
#include "taeda/log/summary_writer.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/vision/image_io.h"
#include "tests/tool/common.h"

namespace taeda {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kData = TAEDA_SOURCE_DIR "/tests/io/data/";

/// Succeeds without a word on stderr; what it printed.
std::string output_of(const std::string& arguments, const std::string& environment = "") {
  const Outcome o = taeda_tool(arguments, environment);
  EXPECT_EQ(o.code, 0) << arguments << "\n" << o.err;
  EXPECT_EQ(o.err, "") << arguments;
  return o.out;
}

class Files : public testing::Test {
 protected:
  TemporaryFolder folder;
};

TEST_F(Files, InspectTensors) {
  const std::string path = folder / "a.safetensors";
  io::save_safetensors({{"w", tensor({{1.f, -3.f}, {0.f, NAN}})}, {"n", arange(3)}}, path,
                       {{"epoch", "3"}});
  std::string out = output_of("inspect " + path);
  EXPECT_THAT(out, HasSubstr("│ w    │ float32 │ [2, 2] │    16 │"));
  EXPECT_THAT(out, HasSubstr("safetensors: 2 tensors, 7 elements, 40 B"));
  EXPECT_THAT(out, HasSubstr("  epoch: 3"));
  out = output_of("inspect --stats --json " + path);
  EXPECT_THAT(out, HasSubstr("\"mean\": -0.6666666666666666"));
  EXPECT_THAT(out, HasSubstr("\"min\": -3.0"));
  EXPECT_THAT(out, HasSubstr("\"zeros\": 1"));
  EXPECT_THAT(out, HasSubstr("\"not_finite\": 1"));
  EXPECT_THAT(output_of("inspect --stats " + path), HasSubstr("not finite"));
  io::save_npy(zeros({0, 2}, kHalf), folder / "empty.npy");
  EXPECT_THAT(output_of("inspect --stats " + (folder / "empty.npy")), HasSubstr("[0, 2]"));
  if (!io::has_zip()) return;
  EXPECT_THAT(output_of("inspect " + kData + "arrays.npz"), HasSubstr("complex128"));
  out = output_of("inspect --stats " + kData + "checkpoint.pt");
  EXPECT_THAT(out, HasSubstr("optimizer.state.0.momentum_buffer"));
  EXPECT_THAT(out, HasSubstr("  loss: 0.25"));
  expect_bad_input("inspect " + kData + "stranger.pt", "it names __main__.Stranger");
}

TEST_F(Files, InspectRefusesOthers) {
  expect_bad_input("inspect " + (folder / "none"), "cannot read");
  expect_bad_input("inspect " + folder.path(), "cannot read");
  write_bytes(folder / "a.txt", "hello");
  expect_bad_input("inspect " + (folder / "a.txt"), "is of no kind that is known");
  write_bytes(folder / "text.pt", "hi\n");
  expect_bad_input("inspect " + (folder / "text.pt"),
                   "is no file of torch.save, whatever its name says: it begins neither as a zip "
                   "archive nor as a pickle");
  expect_bad_input("inspect", "file is required");
}

TEST_F(Files, InspectPicturesAndEvents) {
  if (vision::has_png()) {
    vision::write_png(zeros({3, 4, 5}, kByte), folder / "a.png");
    EXPECT_EQ(output_of("inspect " + (folder / "a.png")), "image: 5 x 4, 3 channels\n");
    EXPECT_THAT(output_of("inspect --json " + (folder / "a.png")), HasSubstr("\"width\": 5"));
  }
  if (!logging::has_tensorboard()) return;
  {
    logging::SummaryWriter writer(folder / "run");
    for (int i = 1; i <= 3; ++i) writer.add_scalar("Loss/train", 1.0 / i, i);
    writer.add_scalar("exact", 0.1, 7, {}, true, true);
    writer.add_histogram("h", arange(5).to(kFloat), 2);
    writer.add_text("note", "words", 0);
  }
  const std::string path = std::filesystem::directory_iterator(folder / "run")->path().string();
  const std::string out = output_of("inspect " + path);
  EXPECT_THAT(out, testing::ContainsRegex("Loss/train +│ scalar +│ +3 │ +1 │ +3 │"));
  EXPECT_THAT(out, HasSubstr("0.3333"));
  EXPECT_THAT(out, HasSubstr("histogram"));
  EXPECT_THAT(output_of("inspect --json " + path), HasSubstr("\"last_value\": 0.1\n"));
  // A run that was killed while it wrote.
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 5);
  EXPECT_THAT(output_of("inspect " + path), HasSubstr("not read to its end: "));
  EXPECT_THAT(output_of("plot " + (folder / "run") + " --json --metric loss"),
              HasSubstr("\"name\": \"Loss/train\""));
}

TEST_F(Files, Convert) {
  const std::string a = folder / "a.safetensors", half = folder / "half.safetensors";
  io::save_safetensors({{"m.w", ones({2})}, {"m.n", arange(3)}, {"o", ones({1})}}, a, {{"k", "v"}});
  EXPECT_THAT(output_of("convert " + a + " " + half + " --dtype float16"), HasSubstr("3 tensors"));
  EXPECT_EQ(io::SafeTensors::open(half).get("m.w").dtype(), kHalf);
  EXPECT_EQ(io::SafeTensors::open(half).get("m.n").dtype(), kLong);
  EXPECT_EQ(io::SafeTensors::open(half).metadata().at("k"), "v");
  output_of("convert " + a + " " + half + " --section m");
  EXPECT_EQ(io::SafeTensors::open(half).keys().size(), 2u);
  EXPECT_TRUE(io::SafeTensors::open(half).contains("w"));
  expect_bad_input("convert " + a + " " + half + " --section q", "no tensors below 'q'");
  expect_bad_input("convert " + a + " " + half + " --dtype int8", "--dtype must be float16");
  expect_bad_input("convert " + a + " " + (folder / "b.bin"), "give it the ending .safetensors");
  expect_bad_input("convert " + a + " " + (folder / "b.npy"), "holds one tensor");
  expect_bad_input("convert " + a + " " + (folder / "no/b.safetensors"), "cannot write");
  io::save_npy(arange(4), folder / "x.npy");
  output_of("convert " + (folder / "x.npy") + " " + (folder / "x.safetensors"));
  EXPECT_TRUE(io::SafeTensors::open(folder / "x.safetensors").get("x").equal(arange(4)));
  output_of("convert " + (folder / "x.safetensors") + " " + (folder / "y.npy"));
  EXPECT_EQ(contents(folder / "x.npy"), contents(folder / "y.npy"));
  if (!io::has_zip()) return;
  const std::string npz = folder / "a.npz";
  output_of("convert --section model " + kData + "checkpoint.pt " + npz + " --compressed");
  const auto arrays = io::load_npz(npz);
  EXPECT_EQ(arrays.size(), 9u);
  EXPECT_EQ(arrays[0].first, "conv.weight");
}

TEST_F(Files, ConvertRenames) {
  const std::string a = folder / "a.safetensors", b = folder / "b.safetensors";
  io::save_safetensors({{"m.w", ones({2})}, {"m.ww", ones({1})}, {"o", ones({1})}}, a);
  output_of("convert --map m.w=n.v --map o=p " + a + " " + b);
  EXPECT_THAT(io::SafeTensors::open(b).keys(), testing::ElementsAre("n.v", "m.ww", "p"));
  output_of("convert --map m= --map =net " + a + " " + b);
  EXPECT_THAT(io::SafeTensors::open(b).keys(), testing::ElementsAre("w", "ww", "net.o"));
  expect_bad_input("convert --map q=r " + a + " " + b, "'q=r' fits no tensor's name");
  expect_bad_input("convert --map m.w=o " + a + " " + b, "two tensors the name 'o'");
  expect_bad_input("convert --map m " + a + " " + b, "must be old=new");
  expect_bad_input("convert --map o= " + a + " " + b, "leaves 'o' no name");
  const std::string index = folder / "s.safetensors.index.json";
  output_of("convert --shard-megabytes 0.000004 " + a + " " + index);
  EXPECT_THAT(output_of("convert " + index + " " + b), HasSubstr("3 tensors"));
  expect_bad_input("convert --shard-megabytes 0 " + a + " " + index, "positive");
}

TEST_F(Files, Plot) {
  const std::string run = folder / "run", csv = folder / "r.csv", png = folder / "p.png";
  std::filesystem::create_directory(run);
  write_bytes(run + "/result.json",
              R"({"epochs": [{"epoch": 1, "train_loss": 2.0, "test_loss": 3.0, "accuracy": 0.5},
                             {"epoch": 2, "train_loss": 1.0, "test_loss": null}]})");
  std::string out = output_of("plot " + run);
  EXPECT_THAT(out, HasSubstr("o test_loss"));
  EXPECT_THAT(out, HasSubstr("* train_loss"));
  EXPECT_THAT(out, Not(HasSubstr("accuracy")));
  EXPECT_THAT(output_of("plot " + run + " --json --metric TRAIN"),
              HasSubstr("\"y\": [\n        2.0"));
  write_bytes(csv, "run,epoch,loss,lr\n1,1,0.5,0.1\n1,2,0.25,0.1\n2,1,0.7,0.2\n");
  EXPECT_THAT(output_of("plot --log " + csv), HasSubstr("o lr 0.2\n")) << "what differs";
  EXPECT_THAT(output_of("plot " + run + " " + csv), HasSubstr("run train_loss\n"));
  EXPECT_EQ(output_of("plot " + csv + " --out " + (folder / "p.svg")), (folder / "p.svg") + "\n");
  EXPECT_THAT(contents(folder / "p.svg"), HasSubstr(">lr 0.1</text>"));
  if (vision::has_png()) {
    output_of("plot --width 300 --height 200 " + csv + " --out " + png);
    EXPECT_EQ(vision::read_png(png).sizes().vec(), (std::vector<int64_t>{3, 200, 300}));
  }
  expect_bad_input("plot " + run + " --metric speed",
                   "no curve's name has 'speed'; there are: train_loss, test_loss, accuracy");
  expect_bad_input("plot " + (folder / "none"), "there is no file");
  expect_bad_input("plot " + folder.path(), "holds neither result.json nor event files");
  expect_bad_input("plot --out a.gif " + csv, "give it the ending .png or .svg");
  expect_bad_input("plot --width 1 " + csv, "--width must be from 160 to 10000, got 1");
  write_bytes(run + "/result.json", "{");
  expect_bad_input("plot " + run, "is no JSON");
  write_bytes(run + "/result.json", "{}");
  expect_bad_input("plot " + run, "holds no epochs");
}

TEST_F(Files, Trace) {
  const std::string path = folder / "t.json";
  write_bytes(path, R"({"traceEvents": [
    {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "cpu"}},
    {"ph": "M", "pid": 1, "tid": 7, "name": "thread_name", "args": {"name": "main"}},
    {"ph": "X", "pid": 1, "tid": 7, "name": "step", "ts": 0, "dur": 1000},
    {"ph": "X", "pid": 1, "tid": 7, "name": "matmul", "ts": 100, "dur": 300},
    {"ph": "X", "pid": 1, "tid": 7, "name": "matmul", "ts": 500, "dur": 400},
    {"ph": "B", "pid": "gpu", "tid": 0, "name": "kernel", "ts": 1000},
    {"ph": "E", "pid": "gpu", "tid": 0, "ts": 2000},
    {"ph": "i", "pid": 1, "tid": 7, "name": "mark", "ts": 5}]})");
  const std::string out = output_of("trace " + path);
  EXPECT_THAT(out, HasSubstr("4 events over 2.000 ms"));
  EXPECT_THAT(out, testing::ContainsRegex("cpu / main +│ +3 │ +1.000 │ 50.0%"));
  EXPECT_THAT(out,
              testing::ContainsRegex("matmul +│ +0.700 │ 35.0% │ +0.700 │ +2 │ +0.350 │ +0.400"));
  EXPECT_THAT(out, testing::ContainsRegex("step +│ +0.300 │ 15.0% │ +1.000"));
  const std::string json = output_of("trace --json --top 1 " + path);
  EXPECT_THAT(json, HasSubstr("\"name\": \"kernel\""));
  EXPECT_THAT(json, Not(HasSubstr("matmul")));
  expect_bad_input("trace " + (folder / "none"),
                   "cannot read " + (folder / "none") + ": No such file or directory");
  expect_bad_input("trace --top 0 " + path, "--top must be positive");
  write_bytes(path, "{");
  expect_bad_input("trace " + path, "is no JSON");
  write_bytes(path, "{}");
  expect_bad_input("trace " + path, "is no Chrome trace");
  write_bytes(path, "[]");
  expect_bad_input("trace " + path, "holds no events that last");
}

TEST_F(Files, DevicesAndInfo) {
  const std::string json = output_of("devices --json", "TAEDA_SIM_DEVICES=3");
  EXPECT_THAT(json, HasSubstr("\"device\": \"sim:2\""));
  EXPECT_THAT(json, HasSubstr("\"memory_total\": 2147483648"));
  EXPECT_THAT(output_of("devices", "TAEDA_SIM_AS_CUDA=2"), HasSubstr("cuda:1"));
  EXPECT_THAT(output_of("devices", "TAEDA_SIM_AS_CUDA=2"), Not(HasSubstr("no cuda device")));
  const std::string info = output_of("info", "TAEDA_SIM_DEVICES=1");
  EXPECT_THAT(info, HasSubstr("TAEDA_SIM_DEVICES1"));
  for (const char* what : {"build:", "cpu kernels:", "components:", "  ZLIB", "sim:0"})
    EXPECT_THAT(info, HasSubstr(what));
  EXPECT_THAT(output_of("info --json"), HasSubstr("\"components\": {"));
}

TEST_F(Files, Bench) {
  const std::string out = output_of("bench --sizes 32 --repeats 1 --device sim:1");
  for (const char* what : {"32 x 32", "row by row", "gelu", "convolutional network", "sim:1"})
    EXPECT_THAT(out, HasSubstr(what));
  const std::string json = output_of("bench --only matmul --sizes 8,16 --repeats 2 --json");
  EXPECT_THAT(json, HasSubstr("\"largest_difference\": 0.0"));
  EXPECT_THAT(json, HasSubstr("GFLOP_per_second"));
  expect_bad_input("bench --only nothing", "--only takes matmul, transfers, operations, steps");
  expect_bad_input("bench --only ,", "--only names nothing");
  expect_bad_input("bench --sizes 0", "--sizes must be numbers from 1 to 32768, got 0");
  expect_bad_input("bench --device sim:77", "sim:77");
  expect_bad_input("bench --repeats 0", "--repeats must be from 1 to 10000, got 0");
}

TEST_F(Files, Completion) {
  const std::string script = folder / "complete.bash";
  write_bytes(script, output_of("completion bash") +
                          "COMP_WORDS=(taeda train csv --reg); COMP_CWORD=3; _taeda\n"
                          "echo \"${COMPREPLY[@]}\"\n"
                          "COMP_WORDS=(taeda tr); COMP_CWORD=1; _taeda\n"
                          "echo \"${COMPREPLY[@]}\"\n");
  EXPECT_EQ(std::system(("bash " + script + " >" + (folder / "out")).c_str()), 0);
  EXPECT_EQ(contents(folder / "out"), "--regression\ntrain trace\n");
  EXPECT_THAT(output_of("completion zsh"), HasSubstr("'inspect:Show what a file holds'"));
  EXPECT_THAT(output_of("completion fish"),
              HasSubstr("-n '__fish_seen_subcommand_from inspect' -l stats"));
  expect_bad_input("completion tcsh", "the shell must be bash, zsh or fish, got tcsh");
}

constexpr const char* kCommands[] = {"train fashion-mnist",
                                     "train mnist",
                                     "train cifar10",
                                     "train folder",
                                     "train csv",
                                     "train text",
                                     "eval",
                                     "predict",
                                     "generate",
                                     "runs",
                                     "report",
                                     "launch",
                                     "devices",
                                     "info",
                                     "bench",
                                     "plan",
                                     "inspect",
                                     "convert",
                                     "export",
                                     "plot",
                                     "trace",
                                     "trace merge",
                                     "ops",
                                     "completion"};

TEST_F(Files, EveryCommandHasHelpWithExamples) {
  for (const std::string command : kCommands)
    EXPECT_THAT(output_of(command + " --help", "COLUMNS=200 "), HasSubstr("  taeda " + command))
        << command;
}

TEST_F(Files, HelpFitsTheTerminal) {
  std::vector<std::string> commands(std::begin(kCommands), std::end(kCommands));
  commands.insert(commands.end(), {"", "train"});
  for (const size_t columns : {80, 40})
    for (const std::string& command : commands) {
      std::istringstream lines(
          output_of(command + " --help", "COLUMNS=" + std::to_string(columns) + " "));
      for (std::string line; std::getline(lines, line);) {
        const size_t word = line.find_first_not_of(' ');  // one that is too long stands alone
        if (line.find(' ', std::min(word, line.size())) == std::string::npos) continue;
        if (line.starts_with("  -") && columns < 60) continue;  // a flag with its default
        EXPECT_LE(line.size(), columns) << "taeda " << command << " --help: " << line;
      }
    }
}

TEST_F(Files, AnArrayAloneBecomesATensorAlone) {
  io::save_npy(arange(3), folder / "a.npy");
  EXPECT_THAT(output_of("convert " + (folder / "a.npy") + " " + (folder / "a.pt")),
              HasSubstr("a.pt: 1 tensor, "));
  EXPECT_THAT(output_of("inspect " + (folder / "a.pt")), HasSubstr("│ tensor │ int64 │ [3]   │"));
}

}  // namespace
}  // namespace taeda
