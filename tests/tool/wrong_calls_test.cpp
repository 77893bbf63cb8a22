// What people type wrongly: a command line, and words of the one line that says so. Nothing else
// is printed, nothing is written, and the exit code is 2.
#include "taeda/ops/create/create.h"
#include "tests/tool/common.h"

namespace taeda {
namespace {

struct Line {
  const char* arguments;  ///< `@` is the folder of the files below
  const char* words;
};

constexpr Line kTraining[] = {
    {"train text", "--data is required"},
    {"train text --data @none.txt", "none.txt: No such file or directory"},
    {"train text --data @empty", "holds 0 bytes: too few for pieces of 64"},
    {"train text --data @text --epochs -1", "--epochs must be positive, got -1"},
    {"train text --data @text --epochs 99999999999999999999", "has more than 64 bits"},
    {"train text --data @text --epochs 1.5", "Could not convert: --epochs = 1.5"},
    {"train text --data @text --epochs", "--epochs"},
    {"train text --data @text --batch-size 0", "--batch-size must be positive, got 0"},
    {"train text --data @text --batch-size -9999999999999999999", "has more than 64 bits"},
    {"train text --data @text --lr nan", "--lr must be positive, got nan"},
    {"train text --data @text --lr inf", "--lr must be positive, got inf"},
    {"train text --data @text --lr -1", "--lr must be positive, got -1"},
    {"train text --data @text --lr 1e999", "--lr must be positive, got inf"},
    {"train text --data @text --lr fast", "Could not convert: --lr = fast"},
    {"train text --data @text --workers -1", "--workers must be from 0 to 256, got -1"},
    {"train text --data @text --workers 1000000", "--workers must be from 0 to 256"},
    {"train text --data @text --threads -1", "--threads must be from 0 to 4096, got -1"},
    {"train text --data @text --threads 100000000", "--threads must be from 0 to 4096"},
    {"train text --data @text --nproc 0", "--nproc must be positive, got 0"},
    {"train text --data @text --nproc -3", "--nproc must be positive, got -3"},
    {"train text --data @text --context 0", "--context must be from 1 to 65536, got 0"},
    {"train text --data @text --context 4611686018427387904", "--context must be from 1 to 65536"},
    {"train text --data @text --layers 0", "--layers must be from 1 to 256, got 0"},
    {"train text --data @text --width 0", "--width must be from 1 to 65536, got 0"},
    {"train text --data @text --width 9223372036854775807", "--width must be from 1 to 65536"},
    {"train text --data @text --stop-after -1", "--stop-after must be 0 or more, got -1"},
    {"train text --data @text --seed x", "Could not convert: --seed = x"},
    {"train text --data @text --device sim:-1", "Invalid device string: 'sim:-1'"},
    {"train text --data @text --device cpu:128", "Invalid device string: 'cpu:128'"},
    {"train text --data @text --device no/such", "at start of device string: no/such"},
    {"train tables", "train: expected one of fashion-mnist, "},
};

constexpr Line kLaunching[] = {
    {"launch", "launch needs a program to run"},
    {"launch --nproc-per-node 0 true",
     "--nproc-per-node must be a number from 1 to 4096, auto, cpu or gpu"},
    {"launch --nproc-per-node -1 true",
     "--nproc-per-node must be a number from 1 to 4096, auto, cpu or gpu"},
    {"launch --nproc-per-node x true", "Unsupported nproc_per_node value: x"},
    {"launch --nproc-per-node 99999999999999999999 true", "value: 99999999999999999999 ("},
    {"launch --nproc-per-node 99999999999 true", "must be a number from 1 to 4096"},
    {"launch --nnodes 0 true",
     "--nnodes must be a number of machines up to 65536, or min:max, got '0'"},
    {"launch --nnodes 3:2 true",
     "--nnodes must be a number of machines up to 65536, or min:max, got '3:2'"},
    {"launch --nnodes a:b true",
     "--nnodes must be a number of machines up to 65536, or min:max, got 'a'"},
    {"launch --standalone --nnodes 2 true", "--standalone must be alone"},
    {"launch --rdzv-conf join_timeout true",
     "--rdzv-conf must be name=seconds,name=seconds, got 'join_timeout'"},
    {"launch --rdzv-conf join_timeout=-1 true", "--rdzv-conf must be name=seconds"},
    {"launch --rdzv-conf nonsense=3 true", "keep_alive_timeout, not 'nonsense'"},
    {"launch --rdzv-backend etcd true", "--rdzv-backend must be c10d or static, got etcd"},
    {"launch --node-rank 5 --nnodes 2 --rdzv-endpoint localhost:1 true",
     "--node-rank must be from 0 to less than the number of machines, got '5'"},
    {"launch --master-port 99999 true", "a port from 1 to 65535, got '99999'"},
    {"launch --master-port -1 true", "a port from 1 to 65535, got '-1'"},
    {"launch --rdzv-endpoint localhost:99999 true", "a port from 1 to 65535, got '99999'"},
    {"launch --rdzv-endpoint localhost:x --nnodes 2 true", "a port from 1 to 65535, got 'x'"},
    {"launch --max-restarts -1 true", "--max-restarts must be 0 or more, got '-1'"},
    {"launch --shutdown-timeout -1 true", "--shutdown-timeout must be 0 or more seconds, got '-1'"},
    {"launch --redirects 9 true", "outputs must be 0 (none), 1 (stdout), 2 (stderr) or 3 (both)"},
    {"launch --redirects 0:7 true", "got '0:7'"},
    {"launch --tee x true", "got 'x'"},
    {"launch --redirects 3 true", "--log-dir must be given with --redirects, --tee"},
    {"launch --hosts @none.toml true", "none.toml"},
    {"launch --hosts @bad.toml true", "bad.toml, line 1: machines must be a list"},
    {"launch --hosts @bad.json true", "bad.json, line 1: "},
    {"launch --check-hosts true", "--hosts must be given with --check-hosts, got none"},
};

constexpr Line kMeasuring[] = {
    {"bench --only nothing", "--only takes matmul, transfers, operations, steps, got nothing"},
    {"bench --only ,", "--only names nothing to measure"},
    {"bench --sizes 0", "--sizes must be numbers from 1 to 32768, got 0"},
    {"bench --sizes -5", "--sizes must be numbers from 1 to 32768, got -5"},
    {"bench --sizes x", "--sizes must be numbers from 1 to 32768, got x"},
    {"bench --sizes 5x", "--sizes must be numbers from 1 to 32768, got 5x"},
    {"bench --sizes ,", "--sizes must be numbers from 1 to 32768, got ,"},
    {"bench --sizes 99999999999999999999", "--sizes must be numbers from 1 to 32768"},
    {"bench --repeats 0", "--repeats must be from 1 to 10000, got 0"},
    {"bench --repeats -2", "--repeats must be from 1 to 10000, got -2"},
    {"bench --threads -1", "--threads must be from 0 to 4096, got -1"},
    {"bench --device nothing", "at start of device string: nothing"},
    {"plan --model none", "--model must be a run, or one of cnn, lenet, "},
    {"plan --dtype int8", "--dtype must be one of float32, float16, bfloat16, got int8"},
    {"plan --batch -1", "--batch must be from 1 to 1048576, got -1"},
    {"plan --batch 4611686018427387904", "--batch must be from 1 to 1048576"},
    {"plan --model gpt --layers 0", "--layers must be from 1 to 1000, got 0"},
    {"plan --model gpt --layers 99999999999", "--layers must be from 1 to 1000"},
    {"plan --model gpt --width 7 --heads 2", "--heads must be a divisor of --width, got 2"},
    {"plan --model gpt --width 4611686018427387904", "--width must be from 1 to 65536"},
    {"plan --model gpt --heads -1", "--heads must be a divisor of --width, got -1"},
    {"plan --model gpt --context 0", "--context must be from 1 to 1048576, got 0"},
    {"plan --model gpt --vocabulary 0", "--vocabulary must be from 1 to 1048576, got 0"},
    {"plan --devices 0xh100", "--devices must be 1 to 1048576 devices"},
    {"plan --devices 8", "--devices must be numbers and devices"},
    {"plan --devices 8xnone",
     "expected one of b200, h200, h100, a100, l40s, rtx4090, v100, p100, t4, got 'none'"},
    {"plan --devices -8xh100", "--devices must be 1 to 1048576 devices"},
    {"plan --devices 99999999999999999999xh100", "--devices must be 1 to 1048576 devices"},
    {"plan --devices 9223372036854775807xh100", "--devices must be 1 to 1048576 devices"},
    {"plan --network none", "network: expected one of nvlink, "},
    {"plan --network latency=-1us", "network: latency must be a positive number"},
    {"plan --network latency=x", "network: latency must be a positive number"},
    {"plan --network bandwidth=0GB/s", "network: bandwidth must be a positive number"},
    {"plan --network adapters=0", "network: adapters must be a positive number, got '0'"},
    {"plan --network node=-1", "network: node must be a positive number, got '-1'"},
    {"plan --pipeline 0", "--pipeline must be from 1 to 1024, got 0"},
    {"plan --pipeline 3", "--devices must be a multiple of --pipeline, got 8"},
    {"plan --pipeline 2 --microbatches -1", "--microbatches must be from 1 to 65536, got -1"},
    {"plan --schedule none", "schedule: expected gpipe, 1f1b or interleaved, got 'none'"},
    {"plan --parts 0", "--parts must be from 1 to 64, got 0"},
    {"plan --bucket-mib 0", "--bucket-mib must be above 0, got 0"},
    {"plan --bucket-mib nan", "--bucket-mib must be above 0, got nan"},
    {"plan --utilization 0", "--utilization must be above 0 and at most 1, got 0"},
    {"plan --utilization 2", "--utilization must be above 0 and at most 1, got 2"},
    {"plan --utilization nan", "--utilization must be above 0 and at most 1, got nan"},
};

constexpr Line kFiles[] = {
    {"inspect", "file is required"},
    {"inspect @none", "none: No such file or directory"},
    {"inspect @", "Is a directory"},
    {"inspect @empty", "is of no kind that is known"},
    {"inspect @cut.safetensors", "its header of 4611686018427387904 bytes is larger"},
    {"inspect @bad.index.json", "is no valid index of shards: it is not valid JSON"},
    {"inspect @outside.index.json", "'../a.safetensors' is no name of a shard beside it"},
    {"inspect @bad.npy", "bad.npy is no valid .npy file: it is cut off"},
    {"inspect @a.safetensors --nonsense", "The following argument was not expected: --nonsense"},
    {"convert", "from is required"},
    {"convert @a.safetensors", "to is required"},
    {"convert @none @b.npy", "none: No such file or directory"},
    {"convert @a.safetensors @b.txt", "cannot write"},
    {"convert @a.safetensors @b", "give it the ending .safetensors"},
    {"convert @a.safetensors @b.npy --dtype int8", "--dtype must be float16, bfloat16, "},
    {"convert @a.safetensors @b.npy --section none", "holds no tensors below 'none'"},
    {"convert @a.safetensors @b.npy --map x", "--map must be old=new, got 'x'"},
    {"convert @a.safetensors @b.npy --map =", "--map must be old=new, got '='"},
    {"convert @a.safetensors @b.npy --map w=", "--map 'w=' leaves 'w' no name"},
    {"convert @a.safetensors @b.npy --map none=x", "--map 'none=x' fits no tensor's name"},
    {"convert @a.safetensors @b.safetensors --map w=__metadata__", "cannot be named"},
    {"convert @a.safetensors @b.index.json --shard-megabytes 0", "--shard-megabytes must be"},
    {"convert @a.safetensors @b.index.json --shard-megabytes nan", "--shard-megabytes must be"},
    {"convert @a.safetensors @b.index.json --shard-megabytes -1", "--shard-megabytes must be"},
    {"convert @a.safetensors @b.index.json --shard-megabytes inf", "--shard-megabytes must be"},
    {"convert @a.safetensors @b.index.json --shard-megabytes 1e300", "--shard-megabytes must be"},
    {"convert @a.safetensors @no/folder/b.npy", "No such file or directory"},
    {"convert @cut.safetensors @b.npy", "its header of 4611686018427387904 bytes is larger"},
    {"plot", "runs is required"},
    {"plot @none", "there is no file"},
    {"plot @empty", "is neither .json, .csv nor an event file"},
    {"plot @bad.json", "holds no epochs"},
    {"plot @bad.json --width 0", "--width must be from 160 to 10000, got 0"},
    {"plot @bad.json --height 9223372036854775807", "--height must be from 120 to 10000"},
    {"plot @bad.json --height 9223372036854775808", "has more than 64 bits"},
    {"trace", "trace: a file is required"},
    {"trace @none", "cannot read"},
    {"trace @empty", "is no JSON"},
    {"trace @bad.json", "is no Chrome trace"},
    {"trace @bad.json --top -1", "--top must be positive, got -1"},
    {"trace @bad.json --top 0", "--top must be positive, got 0"},
    {"trace merge", "files is required"},
    {"trace merge @none @none", "cannot read"},
    {"trace merge @bad.json", "is neither a Chrome trace nor a flight record"},
    {"ops none_such", "no operation is called 'none_such'"},
    {"completion", "shell is required"},
    {"completion csh", "the shell must be bash, zsh or fish, got csh"},
    {"devices extra", "The following argument was not expected: extra"},
    {"info extra", "The following argument was not expected: extra"},
};

class WrongLines : public testing::Test {
 protected:
  WrongLines() {
    io::save_safetensors({{"w", zeros({2})}}, folder / "a.safetensors");
    write_bytes(folder / "text", std::string(4096, 'a'));
    write_bytes(folder / "empty", "");
    write_bytes(folder / "cut.safetensors", std::string("\0\0\0\0\0\0\0\x40{", 9));
    write_bytes(folder / "bad.index.json", "{");
    write_bytes(folder / "outside.index.json", R"({"weight_map":{"w":"../a.safetensors"}})");
    write_bytes(folder / "bad.npy", "\x93NUMPY");
    write_bytes(folder / "bad.json", R"({"traceEvents": 3})");
    write_bytes(folder / "bad.toml", "machines = 3");
    files = folder.count();
  }

  template <size_t N>
  void check(const Line (&lines)[N]) {
    for (const Line& line : lines) {
      std::string arguments = line.arguments;
      for (size_t at = 0; (at = arguments.find('@', at)) != std::string::npos;)
        arguments.replace(at, 1, folder.path() + "/");
      expect_bad_input(arguments, line.words);
      EXPECT_EQ(folder.count(), files) << arguments;
    }
  }

  TemporaryFolder folder;
  size_t files = 0;
};

TEST_F(WrongLines, OfTraining) { check(kTraining); }
TEST_F(WrongLines, OfLaunching) { check(kLaunching); }
TEST_F(WrongLines, OfMeasuringAndPlanning) { check(kMeasuring); }
TEST_F(WrongLines, OfFiles) { check(kFiles); }

}  // namespace
}  // namespace taeda
