// Files and archives that are not there, hold something else, or have no place for what is saved.
#include "tests/wrong_calls.h"

#include "taeda/io/atomic_file.h"
#include "taeda/io/checkpoint.h"
#include "taeda/io/npy.h"
#include "taeda/io/pickle.h"
#include "taeda/io/pt_reader.h"
#include "taeda/io/safetensors.h"
#include "taeda/taeda.h"
#include "tests/io/temporary_folder.h"

namespace taeda::wrong {
namespace {

using namespace io;

std::string file() {
  static const TemporaryFolder folder;
  return folder / "file";
}

Tensor loaded(std::string s) {
  std::istringstream in(s);
  Tensor t;
  load(t, in);
  return t;
}
Archive one() {
  Archive a;
  a.add("w", ones({2}));
  return a;
}
std::string bytes() { return serialize_npy(ones({2})); }
void load_module(const Archive& a) {
  nn::Linear l(2, 2);
  unpack(a, *l);
}
void load_adam(const Archive& a) {
  optim::Adam o({ones({2}).requires_grad_()}, optim::AdamOptions());
  unpack(a, o);
}
void load_schedule(const Archive& a) {
  optim::SGD o({ones({2}).requires_grad_()}, 0.1);
  optim::StepLR s(o, 1);
  unpack(a, s);
}
Archive number(const std::string& k, const std::string& v) {
  Archive a;
  a.metadata[k] = v;
  return a;
}
Tensor t_;

const std::vector<Row> rows_1 = {
    REFUSED(Error, save(ones({2}), "/nowhere/file"),
            "cannot write /nowhere/file: No such file or directory (open)"),
    REFUSED(Error, save(ones({2}), ""), "cannot write : not the name of a file"),
    REFUSED(Error, save(ones({2}), "/"), "cannot write /: not the name of a file"),
    REFUSED(ValueError, save(Tensor(), file()), "tensor 'tensor' is undefined"),
    REFUSED(ValueError, save(std::vector<Tensor>{Tensor()}, file()), "tensor '0' is undefined"),
    ACCEPTED(save(std::map<std::string, Tensor>{{"", ones({2})}}, file()),
             "the format allows an empty name"),
    REFUSED(ValueError, save(std::map<std::string, Tensor>{{"__metadata__", ones({2})}}, file()),
            "a tensor cannot be named '__metadata__'"),
    REFUSED(TypeError, save(zeros({2}, kComplexDouble), file()),
            "tensor 'tensor' has dtype complex128, which safetensors does not have"),
    REFUSED(Error, load(t_, "/nowhere/file"),
            "cannot read /nowhere/file: No such file or directory"),
    REFUSED(Error, load(t_, "/"), "cannot read /: not a regular file"),
    REFUSED(Error, load(t_, ""), "cannot read : No such file or directory"),
    REFUSED(
        Error, loaded(""),
        "the stream is no valid safetensors file: it has 0 bytes, fewer than the 8 of the heade"),
    REFUSED(
        Error, loaded("x"),
        "the stream is no valid safetensors file: it has 1 bytes, fewer than the 8 of the heade"),
    REFUSED(
        Error, loaded(std::string(64, 'x')),
        "the stream is no valid safetensors file: its header of 8680820740569200760 bytes is la"),
    REFUSED(
        Error, loaded(std::string(8, '\xff')),
        "the stream is no valid safetensors file: its header of 18446744073709551615 bytes is l"),
    REFUSED(Error, load_archive("/nowhere/file"),
            "cannot read /nowhere/file: No such file or directory"),
    REFUSED(Error, load_archive("/nowhere/file", true),
            "cannot read /nowhere/file: No such file or directory"),
    REFUSED(
        Error, load_archive("/proc/self/mem"),
        "/proc/self/mem is no valid safetensors file: it has 0 bytes, fewer than the 8 of the h"),
    REFUSED(Error, load_archive("/dev/zero"), "cannot read /dev/zero: not a regular file"),
    REFUSED(Error, save_archive(Archive(), "/nowhere/file"),
            "cannot write /nowhere/file: No such file or directory (open)"),
    REFUSED(ValueError, Archive().at("w"), "no tensor named 'w' was saved; there are: none"),
    REFUSED(ValueError, one().at("v"), "no tensor named 'v' was saved; there are: w"),
    REFUSED(ValueError, Archive().only(), "no tensor named 'tensor' was saved; there are: none"),
    ACCEPTED(one().only(), "the only tensor, whatever its name"),
    REFUSED(Error, one().add("w", ones({2})), "Tensor 'w' already defined"),
    REFUSED(
        Error,
        [] {
          Archive a = one();
          a.add("w", ones({2}));
        }(),
        "Tensor 'w' already defined"),
    ACCEPTED(Archive().add("w", Tensor()), "refused when it is written"),
    ACCEPTED(Archive().add_number("w", kNaN), "a loss may be nan"),
    REFUSED(ValueError, Archive::parse_number("epoch", "x"), "'epoch' is no number: 'x'"),
    REFUSED(ValueError, Archive::parse_number("epoch", ""), "'epoch' is no number: ''"),
    REFUSED(ValueError, Archive::parse_number("epoch", "1 2"), "'epoch' is no number: '1 2'"),
    REFUSED(ValueError, Archive::parse_number("epoch", "1e999"), "'epoch' is no number: '1e999'"),
    REFUSED(Error, load_module(Archive()), "Error(s) in loading state_dict for Linear:"),
    REFUSED(Error, load_module(one()), "Error(s) in loading state_dict for Linear:"),
    REFUSED(ValueError, load_adam(Archive()),
            "loaded state dict has a different number of parameter groups"),
    REFUSED(ValueError, load_adam(one()),
            "loaded state dict has a different number of parameter groups"),
    REFUSED(
        ValueError, load_adam(number("kind", "SGD")),
        "loaded state dict is that of an optimizer of class SGD, but this one is of class Adam"),
    REFUSED(Error, load_schedule(Archive()), "Key 'last_epoch' is not defined"),
    REFUSED(ValueError, load_schedule(number("last_epoch", "x")), "'last_epoch' is no number: 'x'"),
    REFUSED(ValueError, load_schedule(number("last_epoch", "nan")),
            "Expected a number as last_epoch, but got nan"),
    REFUSED(Error, Checkpoint::load("/nowhere/file"),
            "cannot read /nowhere/file: No such file or directory"),
    REFUSED(Error, Checkpoint::load(""), "cannot read : No such file or directory"),
    REFUSED(Error, Checkpoint().save("/nowhere/file"),
            "cannot write /nowhere/file: No such file or directory (open)"),
    REFUSED(ValueError, Checkpoint().number("epoch"), "the checkpoint has no value named 'epoch'"),
    REFUSED(ValueError, Checkpoint().text("epoch"), "the checkpoint has no value named 'epoch'"),
    REFUSED(ValueError, Checkpoint().set("epoch", "x").number("epoch"),
            "'epoch' is no number: 'x'"),
    REFUSED(ValueError, Checkpoint().get("model", t_),
            "the checkpoint has no section 'model'; there are: none"),
    REFUSED(ValueError, Checkpoint().set("run.lr", 0.1).put("net", ones({2})).get("model", t_),
            "the checkpoint has no section 'model'; there are: net, run"),
    REFUSED(Error, Checkpoint().put("model", ones({2})).put("model", ones({2})),
            "Tensor 'model.tensor' already defined"),
    ACCEPTED(Checkpoint().put("model", Tensor()), "refused when it is written"),
    REFUSED(Error, Checkpoint().put("m", nn::Linear(nullptr)), "Accessing empty ModuleHolder"),
    REFUSED(Error, load_npy("/nowhere/file"),
            "cannot read /nowhere/file: No such file or directory"),
    REFUSED(Error, load_npy("/"), "cannot read /: not a regular file"),
    REFUSED(Error, load_npy(""), "cannot read : No such file or directory"),
    REFUSED(Error, parse_npy(""), "the data is no valid .npy file: it does not start as one"),
    REFUSED(Error, parse_npy("x"), "the data is no valid .npy file: it does not start as one"),
    REFUSED(Error, parse_npy(bytes().substr(0, 70)),
            "the data is no valid .npy file: it is cut off"),
    REFUSED(Error, parse_npy(bytes() + "x"),
            "the data is no valid .npy file: its header promises 8 bytes of data, it has 9"),
    REFUSED(Error, parse_npy_header(""), "it does not start as one"),
    REFUSED(Error, parse_npy_header("\x93NUMPY"), "it is cut off"),
    REFUSED(ValueError, save_npy(Tensor(), file()), "an undefined tensor cannot be saved"),
};

const std::vector<Row> rows_2 = {
    REFUSED(Error, save_npy(ones({2}), "/nowhere/file"),
            "cannot write /nowhere/file: No such file or directory (open)"),
    ACCEPTED(save_npy(ones({2}, kBFloat16), file()), "written as ml_dtypes writes it"),
    REFUSED(ValueError, serialize_npy(Tensor()), "an undefined tensor cannot be saved"),
    REFUSED(Error, load_npz("/nowhere/file"), "cannot read /nowhere/file: No such file"),
    REFUSED(Error, load_npz("/"), "cannot read /: Operation not supported"),
    REFUSED(ValueError, save_npz({}, file()), "an .npz file needs an array"),
    REFUSED(ValueError, save_npz({{"a", ones({1})}, {"a", ones({1})}}, file()),
            "two tensors are named 'a'"),
    REFUSED(ValueError, save_npz({{"a", Tensor()}}, file()), "an undefined tensor cannot be saved"),
    ACCEPTED(save_npz({{"", ones({1})}}, file()), "NumPy accepts it"),
    REFUSED(ValueError, save_npz({{"../a", ones({1})}}, file()),
            "'../a.npy' has no place within an archive"),
    REFUSED(Error, save_npz({{"a", ones({1})}}, "/nowhere/file"),
            "cannot write /nowhere/file: No such file or directory (open)"),
    REFUSED(Error, load_pt("/nowhere/file"), "cannot read /nowhere/file: No such file"),
    REFUSED(Error, load_pt("/"), "cannot read /: Operation not supported"),
    REFUSED(Error, parse_pt("", "it"), "it has no data.pkl"),
    REFUSED(Error, parse_pt("PK\x03\x04", "it"), "cannot read it: Not a zip archive"),
    REFUSED(ValueError, PtFile().state_dict(), "the file has no tensors below ''; it has:"),
    REFUSED(ValueError, PtFile().state_dict("model"),
            "the file has no tensors below 'model'; it has:"),
    REFUSED(ValueError, (PtFile{.tensors = {{"a.w", ones({1})}}, .values = {}}.state_dict("b")),
            "the file has no tensors below 'b'; it has: a"),
    REFUSED(Error, SafeTensors::open("/nowhere/file"),
            "cannot read /nowhere/file: No such file or directory"),
    REFUSED(Error, SafeTensors::open("/"), "cannot read /: not a regular file"),
    REFUSED(
        Error, SafeTensors::parse(""),
        "the data is no valid safetensors file: it has 0 bytes, fewer than the 8 of the header'"),
    REFUSED(
        Error, SafeTensors::parse("12345678"),
        "the data is no valid safetensors file: its header of 4050765991979987505 bytes is larg"),
    REFUSED(ValueError, SafeTensors::parse(serialize_safetensors({{"w", ones({2})}})).get("v"),
            "the data has no tensor named 'v'"),
    REFUSED(
        Error, SafeTensors::parse(serialize_safetensors({{"w", ones({2})}}).substr(0, 30)),
        "the data is no valid safetensors file: its header of 120 bytes goes beyond the file of"),
    REFUSED(Error, SafeTensors::parse(serialize_safetensors({{"w", ones({2})}}) + "x"),
            "the data is no valid safetensors file: 1 bytes at the end belong to no tensor"),
    REFUSED(ValueError, serialize_safetensors({{"w", ones({2})}, {"w", ones({2})}}),
            "two tensors are named 'w'"),
    REFUSED(ValueError, serialize_safetensors({{"__metadata__", ones({2})}}),
            "a tensor cannot be named '__metadata__'"),
    REFUSED(ValueError, serialize_safetensors({{"w", Tensor()}}), "tensor 'w' is undefined"),
    REFUSED(TypeError, serialize_safetensors({{"w", zeros({2}, kComplexDouble)}}),
            "tensor 'w' has dtype complex128, which safetensors does not have"),
    REFUSED(
        ValueError, serialize_safetensors({{"\xff", ones({2})}}),
        "names and metadata must be valid UTF-8: [json.exception.type_error.316] invalid UTF-8"),
    REFUSED(Error, save_safetensors({{"w", ones({2})}}, "/nowhere/file"),
            "cannot write /nowhere/file: No such file or directory (open)"),
    REFUSED(Error, load_safetensors("/nowhere/file"),
            "cannot read /nowhere/file: No such file or directory"),
    REFUSED(Error, write_file("/nowhere/file", "x"),
            "cannot write /nowhere/file: No such file or directory (open)"),
    REFUSED(Error, write_file("/", "x"), "cannot write /: not the name of a file"),
    REFUSED(Error, write_file("", "x"), "cannot write : not the name of a file"),
    REFUSED(Error, taeda::pickle_load({}),
            "pickle_load: the value is no checkpoint that can be read: it has no data.pkl"),
    REFUSED(Error, taeda::pickle_load({'x'}),
            "cannot read pickle_load: the value: Not a zip archive"),
    REFUSED(Error, taeda::pickle_save(IValue(Tensor())), "pickle_save: a tensor is undefined"),
    REFUSED(Error, serialize::InputArchive().read("w", t_), "No such serialized value 'w'"),
    REFUSED(Error, serialize::InputArchive().load_from("/nowhere/file"),
            "cannot read /nowhere/file: No such file or directory"),
    REFUSED(ValueError, serialize::InputArchive().load_from(nullptr, 4),
            "load_from: 4 bytes at a null pointer"),
    REFUSED(
        Error, serialize::InputArchive().load_from("x", 1),
        "the stream is no valid safetensors file: it has 1 bytes, fewer than the 8 of the heade"),
    REFUSED(Error, serialize::OutputArchive().save_to("/nowhere/file"),
            "cannot write /nowhere/file: No such file or directory (open)"),
    ACCEPTED(serialize::OutputArchive().write("w", Tensor()), "refused when it is written"),
    REFUSED(ValueError,
            serialize::OutputArchive().save_to(std::function<size_t(const void*, size_t)>()),
            "save_to: expected a function that writes, but got an empty one"),
    REFUSED(Error,
            serialize::OutputArchive().save_to([](const void*, size_t) -> size_t { return 0; }),
            "save_to: the writer took 0 of 64 bytes"),
    REFUSED(ValueError,
            serialize::InputArchive().load_from(std::function<size_t(uint64_t, void*, size_t)>(),
                                                std::function<size_t()>()),
            "load_from: expected functions that read, but got an empty one"),
    REFUSED(Error,
            serialize::InputArchive().load_from([](uint64_t, void*, size_t) -> size_t { return 0; },
                                                []() -> size_t { return 8; }),
            "load_from: the reader gave 0 of 8 bytes"),
    REFUSED(
        OutOfMemoryError,
        serialize::InputArchive().load_from([](uint64_t, void*, size_t n) -> size_t { return n; },
                                            []() -> size_t { return size_t(-1); }),
        "load_from: 18446744073709551615 bytes do not fit into memory"),
};

TEST(WrongCallsOfFiles, AreRefused) {
  check(rows_1);
  check(rows_2);
}

}  // namespace
}  // namespace taeda::wrong
