"""What gpu_check asks of the machine: the CUDA toolkit and libraries that are there, and running programs."""
import contextlib
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import time

OUT_OF_TIME, SILENT = "out of time", "silent"  # instead of an exit status
LIBRARIES = ("libcublasLt.so", "libcublas.so", "libcudnn.so", "libcufft.so", "libcusolver.so", "libcupti.so",
             "libnccl.so")


def output_of(command, env=None):
    """What a command prints, or an empty string if it cannot be run."""
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              env={**os.environ, **(env or {})}, timeout=60).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def python_packages():
    """Where pip puts NVIDIA's libraries: PyTorch brings cuBLAS and cuDNN along."""
    return [p for folder in sys.path for p in sorted(pathlib.Path(folder or ".").glob("nvidia/*")) if p.is_dir()]


def find_tool(name):
    """A program of the CUDA toolkit, or None."""
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    folders = [os.path.join(home, "bin"), os.path.join(home, "compute-sanitizer"),
               *(str(p / "bin") for p in python_packages())]
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(folders))


def toolkit():
    """The folder of the CUDA toolkit, or None."""
    nvcc = find_tool("nvcc")
    return pathlib.Path(nvcc).resolve().parent.parent if nvcc else None


def library_folders():
    """Folders of CUDA libraries; the loader need not know them."""
    home = toolkit()
    folders = [home / "lib64", home / "lib", home / "targets" / "x86_64-linux" / "lib"] if home else []
    folders += [p / "lib" for p in python_packages()]
    return [str(f) for f in dict.fromkeys(folders) if any(True for name in LIBRARIES for _ in f.glob(name + "*"))]


def cudnn_headers():
    """An include folder with cudnn.h that the compiler would not find, or None."""
    home = toolkit()
    if any((folder / "cudnn.h").exists() for folder in (home / "include", pathlib.Path("/usr/include"))):
        return None
    return next((str(p / "include") for p in python_packages() if (p / "include" / "cudnn.h").exists()), None)


def library_versions(env):
    """What the CUDA plug-in will load, by name."""
    code = """
import ctypes
def version(names, function):
    for name in names:
        try:
            get = getattr(ctypes.CDLL(name), function)
            get.restype = ctypes.c_size_t
            return name + " " + str(get())
        except (OSError, AttributeError):
            pass
    return "not found: the own kernels instead"
print(version(["libcublasLt.so.%d" % v for v in (14, 13, 12, 11)], "cublasLtGetVersion"))
print(version(["libcudnn.so.9"], "cudnnGetVersion"))"""
    lines = output_of([sys.executable, "-c", code], env).split("\n") + ["", ""]
    return {"cublaslt": lines[0], "cudnn": lines[1]}


def stop(process):
    """Ends a process group: compilers and make remove what they have half written."""
    for number, seconds in ((signal.SIGTERM, 8), (signal.SIGKILL, None)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        try:
            process.wait(seconds)
            return
        except subprocess.TimeoutExpired:
            pass


running = set()
ended = False  # nothing more is to be run


def stop_all():
    """For the end of the program: nothing that it started goes on."""
    global ended
    ended = True
    for process in list(running):
        stop(process)


def execute(command, seconds, env=None, log=None, silence=None):
    """Runs a command in a process group of its own; (exit status, output). The status is OUT_OF_TIME after
    `seconds`, SILENT when the command printed nothing for `silence` seconds. `log` can be read meanwhile."""
    if ended:
        return OUT_OF_TIME, ""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env={**os.environ, **(env or {})}, start_new_session=True)
    running.add(process)
    output, status = b"", None
    heard = time.monotonic()
    end = heard + seconds
    with open(log, "wb") if log else contextlib.nullcontext() as file:
        while status is None:
            limit = min(end, heard + silence) if silence else end
            wait = max(0.0, min(limit - time.monotonic(), 1.0))
            if select.select([process.stdout], [], [], wait)[0]:
                data = os.read(process.stdout.fileno(), 1 << 16)
                if not data:
                    status = process.wait()
                output, heard = output + data, time.monotonic()
                if file:
                    file.write(data)
                    file.flush()
            elif process.poll() is not None:  # somebody else keeps its pipe open
                status = process.returncode
            elif time.monotonic() >= limit:
                status = OUT_OF_TIME if limit == end else SILENT
                stop(process)
    running.discard(process)
    process.stdout.close()
    return status, output.decode(errors="replace")
