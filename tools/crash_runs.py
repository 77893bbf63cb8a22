"""Training runs for crash_check: small jobs, what an unbroken one ends with, and runs under a fault."""
import collections
import hashlib
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import time

TIMEOUT = 120  # seconds: a run that takes longer hangs
CHECKPOINT = "checkpoint.safetensors"
INTERRUPTED = 130
SCRIPT_FAILED = 90
KILL = "signal=KILL"  # before the call is made
STRACE = ["strace", "--follow-forks", "--decode-fds=path", "--quiet=all", "--trace=%file,%desc"]
QUICK = "--seccomp-bpf"  # with it, signals alone are not delivered


class Loss(Exception):
    """Something that must not happen; says what."""


def idx(path, sizes, data):
    """An IDX file of bytes, as MNIST's."""
    path.write_bytes(struct.pack(f">BBBB{len(sizes)}I", 0, 0, 8, len(sizes), *sizes) + data)


def pictures(folder):
    """Pictures of noise and their labels, under MNIST's names."""
    dice = random.Random(1)
    for part, n in (("train", 160), ("t10k", 40)):
        idx(folder / f"{part}-images-idx3-ubyte", (n, 28, 28), dice.randbytes(n * 28 * 28))
        idx(folder / f"{part}-labels-idx1-ubyte", (n,), bytes(dice.randrange(10) for _ in range(n)))
    return ["mnist", "--data", str(folder), "--model", "lenet", "--workers", "2"]


def text(folder):
    dice = random.Random(2)
    (folder / "book.txt").write_text(" ".join(dice.choice(("sea", "ship", "sail", "storm")) for _ in range(600)))
    return ["text", "--data", str(folder / "book.txt"), "--context", "16", "--layers", "1", "--width", "16"]


JOBS = {"pictures": pictures, "text": text}


def state_of(path):
    """A checkpoint's content but for the time that it took: a digest, and its number of steps."""
    data = path.read_bytes()
    try:
        length, = struct.unpack("<Q", data[:8])
        header = json.loads(data[8:8 + length])
        metadata = {k: v for k, v in header.pop("__metadata__").items()
                    if not k.endswith(".seconds") and k != "taeda.crc32"}
        digest = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
        for name, info in sorted(header.items()):
            begin, end = (8 + length + at for at in info["data_offsets"])
            digest.update(json.dumps([name, info["dtype"], info["shape"]]).encode() + data[begin:end])
        return digest.hexdigest(), int(float(metadata["steps"]))
    except (ValueError, KeyError, struct.error) as error:
        raise Loss(f"{path.name} cannot be read: {error!r}") from None


class Run:
    """A process, with what it says in a file beside its folder."""

    def __init__(self, command, log, env=None):
        self.log = log
        with open(log, "wb") as out:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                            env=env, start_new_session=True)

    def send(self, number):
        """To the process that trains: the last one where others stand before it."""
        pid = self.process.pid
        if number != signal.SIGKILL:
            for _ in range(3):
                children = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
                below = children.read_text().split() if children.exists() else []
                pid = int(below[0]) if below else pid
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass

    def wait(self):
        try:
            return self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            raise Loss(f"hangs: no end after {TIMEOUT} s") from None

    def said(self):
        return self.log.read_text(errors="replace")


class Job:
    """A training run of some steps with a checkpoint after each epoch, what it ends with when nothing
    happens, and a checkpoint from its middle."""

    def __init__(self, name, tool, scratch):
        self.name, self.scratch = name, scratch / name
        self.numbers = itertools.count()
        data = self.scratch / "data"
        data.mkdir(parents=True)
        self.command = [str(tool), "train", *JOBS[name](data), "--device", "cpu", "--threads", "1",
                        "--epochs", "4", "--batch-size", "32", "--resume", "auto"]
        unbroken = self.new_folder()
        start = time.monotonic()
        self.expect(unbroken, 0)
        self.seconds = time.monotonic() - start
        self.end = state_of(unbroken / CHECKPOINT)
        self.files = {p.name for p in unbroken.iterdir()}
        middle = self.new_folder()
        self.expect(middle, INTERRUPTED, "--stop-after", str(self.end[1] // 2 + 2))  # not at the end of an epoch
        self.half = self.scratch / "half"
        shutil.copy(middle / CHECKPOINT, self.half)
        self.before = state_of(self.half)
        self.expect(middle, INTERRUPTED, "--stop-after", "1")
        self.after = state_of(middle / CHECKPOINT)

    def new_folder(self):
        return self.scratch / f"run{next(self.numbers)}"

    def halfway(self, folder):
        """Puts the checkpoint from the middle there."""
        folder.mkdir()
        shutil.copy(self.half, folder / CHECKPOINT)

    def start(self, folder, *flags, wrapper=()):
        command = [*wrapper, *self.command, "--out", str(folder), *flags]
        return Run(command, folder.with_suffix(".log"))

    def expect(self, folder, status, *flags):
        run = self.start(folder, *flags)
        found = run.wait()
        if found != status:
            raise Loss(f"going on ends with {found} instead of {status}: {run.said()[-500:]}")

    def outcome(self, run, status):
        """How a run ended that was not killed: by itself, on request, or with an error that it tells."""
        if status == 0:
            return "finished"
        if status == INTERRUPTED:
            return "stopped"
        if status not in (1, 2):
            raise Loss(f"ends with {status}: {run.said()[-500:]}")
        if "taeda: " not in run.said():
            raise Loss(f"ends with {status} and says nothing: {run.said()[-500:]}")
        return "failed"

    def finish(self, folder):
        """Goes on to the end, which must be that of the unbroken run."""
        if (folder / CHECKPOINT).exists():
            state_of(folder / CHECKPOINT)
        self.expect(folder, 0)
        if state_of(folder / CHECKPOINT) != self.end:
            raise Loss("ends with other weights, losses or random numbers than the unbroken run")
        left = {p.name for p in folder.iterdir()} - self.files
        if left:
            raise Loss(f"left lying about: {', '.join(sorted(left))}")

    def check_step(self, folder, status):
        """After a step from the middle: the checkpoint is the one before or the next, and the next if the run
        says that it saved."""
        state = state_of(folder / CHECKPOINT)
        if state not in (self.before, self.after):
            raise Loss(f"the checkpoint of step {state[1]} is neither that of before nor the next")
        if status == INTERRUPTED and state != self.after:
            raise Loss("says that it saved, and did not")


def save_points(job):
    """(call, n) for each call of the main thread that names the run's folder or a file in it, where n counts
    the thread's calls of that name."""
    folder = job.new_folder()
    job.halfway(folder)
    log = folder.with_suffix(".strace")
    job.start(folder, "--stop-after", "1", wrapper=[*STRACE, QUICK, f"--output={log}", "--"]).wait()
    counts, points, main = collections.Counter(), [], None
    inside = re.compile(re.escape(str(folder)) + r'[/">]')
    for line in log.read_text(errors="replace").splitlines():
        match = re.match(r"(\d+) +(\w+)\((.*)", line)
        if not match:
            continue
        main = main or match[1]
        if match[1] != main:
            continue
        counts[match[2]] += 1
        if inside.search(match[3]) and match[2] != "execve":
            points.append((match[2], counts[match[2]]))
    shutil.rmtree(folder)
    return points


def injected_run(job, folder, call, n, fault):
    """A step from the middle whose n-th `call` meets the fault; returns how it ended."""
    job.halfway(folder)
    log = folder.with_suffix(".strace")
    run = job.start(folder, "--stop-after", "1", wrapper=[
        *STRACE, *([] if fault == KILL else [QUICK]), f"--output={log}", f"--inject={call}:{fault}:when={n}", "--"])
    status = run.wait()
    if fault == KILL and status == -signal.SIGKILL:
        outcome = "killed"
    else:
        outcome = job.outcome(run, status)
    log.unlink(missing_ok=True)
    job.check_step(folder, status)
    return outcome


def in_namespace(job, folder, script, disk, must_know=False):
    """Runs a shell script, in which {run} is the run from the middle, with the folder on a disk of its own.
    What is on the disk afterwards becomes the folder's content."""
    whole = ('mount -t tmpfs -o "$DISK" taeda "$OUT" && cp "$FROM"/* "$OUT" || exit %d\n%s\nstatus=$?\n'
             'mount -o remount,rw,size=64m "$OUT" && cp -a "$OUT"/. "$FROM" || exit %d\nexit $status\n' %
             (SCRIPT_FAILED, script.format(run='"$@"'), SCRIPT_FAILED))
    run, status = run_on_disk(job, folder, whole, DISK=disk)
    if must_know:
        job.check_step(folder, status)
    return job.outcome(run, status)


def on_failing_disk(job, folder, delay):
    """The run from the middle on a disk that nothing can be written to after `delay` seconds, although files are
    open. What had not reached the disk by then is lost; what is on it when it is checked becomes the folder's content."""
    fail = f"exit {SCRIPT_FAILED}"
    run, status = run_on_disk(job, folder, f"""
trap 'umount "$OUT"' EXIT
truncate -s 64M "$DISK" && mkfs.ext4 -q "$DISK" && mount -o loop "$DISK" "$OUT" || {fail}
rmdir "$OUT/lost+found" && cp "$FROM"/* "$OUT" && sync -f "$OUT" || {fail}
"$@" & pid=$!
sleep {delay:.3f}
mount -o remount,abort "$OUT" || {fail}
wait $pid
status=$?
umount "$OUT" && e2fsck -fy "$DISK" > "$DISK.checked" 2>&1
[ $? -le 1 ] && mount -o loop "$DISK" "$OUT" || {fail}
rm -rf "$OUT/lost+found" "$FROM"/* && cp -a "$OUT"/. "$FROM" || {fail}
rm "$DISK" "$DISK.checked"
exit $status
""", DISK=str(folder.with_suffix(".image")))
    return job.outcome(run, status)


def run_on_disk(job, folder, script, **environment):
    """Runs a shell script with mounts of its own, which puts what is in $FROM on a disk at $OUT, runs "$@" there,
    and copies back what that leaves. Returns the run and its status."""
    job.halfway(folder)
    mounted = folder.with_suffix(".disk")
    mounted.mkdir()
    env = {**os.environ, "OUT": str(mounted), "FROM": str(folder), **environment}
    run = Run([*NAMESPACE, "--mount", "--propagation", "private", "sh", "-c", script, "sh", *job.command,
               "--out", str(mounted)], folder.with_suffix(".log"), env)
    status = run.wait()
    mounted.rmdir()
    if status == SCRIPT_FAILED:
        raise Loss(f"the disk could not be prepared: {run.said()}")
    return run, status


NAMESPACE = ["unshare"] if os.geteuid() == 0 else ["unshare", "--map-root-user"]


PROBE_DISK = """
disk=$(mktemp) && trap 'rm "$disk"' EXIT
truncate -s 1M "$disk" && mkfs.ext4 -q "$disk" && command -v e2fsck > /dev/null &&
  mount -o loop "$disk" /mnt && mount -o remount,abort /mnt && umount /mnt
"""


def allowed(what):
    """Empty if this machine allows it, else the reason why not."""
    probes = {"strace": ["strace", "--output=/dev/null", QUICK, "--follow-forks", "true"],
              "disk": [*NAMESPACE, "--mount", "--propagation", "private", "sh", "-c", PROBE_DISK],
              "mount": [*NAMESPACE, "--mount", "sh", "-c", "mount -t tmpfs taeda /mnt"],
              "pid": ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "true"]}
    try:
        probe = subprocess.run(probes[what], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return probe.stderr.strip() or f"{probes[what][0]} fails" if probe.returncode else ""
