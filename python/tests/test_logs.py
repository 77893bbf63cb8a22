"""TensorBoard's files, profiles, hub."""

import glob
import io
import json
import struct
import subprocess
import wave

import pytest

import taeda as torch
from taeda import nn
from taeda.profiler import ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler

tensorboard = pytest.mark.skipif(not torch._C._has_tensorboard(), reason="built without Protocol Buffers")


def _content(folder):
    return b"".join(open(path, "rb").read() for path in glob.glob(f"{folder}/**/events.out.tfevents.*", recursive=True))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 3), nn.ReLU())
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        return self.head(self.body(x))


def _fields(message):
    """The fields of a message of Protocol Buffers, each (number, value)."""
    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte, at = message[at], at + 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    at, out = 0, []
    while at < len(message):
        key = varint()
        if key & 7 == 0:
            value = varint()
        else:
            size = varint() if key & 7 == 2 else {1: 8, 5: 4}[key & 7]
            value, at = message[at:at + size], at + size
        out.append((key >> 3, value))
    return out


def _values(folder):
    """Tag and fields of each value in a folder's event files."""
    content, at, out = _content(folder), 0, {}
    while at < len(content):
        size, = struct.unpack_from("<Q", content, at)
        for number, summary in _fields(content[at + 12:at + 12 + size]):
            for _, value in _fields(summary) if number == 5 else []:
                fields = dict(_fields(value))
                out[fields[1].decode()] = fields
        at += size + 16
    return out


@tensorboard
def test_sounds_meshes_and_layouts(tmp_path):
    from taeda.utils.tensorboard import SummaryWriter
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_audio("sound", torch.tensor([[0.0, 1.0, -1.0, 2.0, 0.5]]), 1, sample_rate=8000)
        writer.add_mesh("mesh", torch.arange(12.0).view(1, 4, 3), faces=torch.tensor([[[0, 1, 2]]]), config_dict={"a": 1})
        writer.add_custom_scalars({"one": {"both": ["Multiline", ["a", "b"]]}, "two": {"band": ["Margin", ["x", "y", "z"]]}})
    values = _values(tmp_path)
    sound = dict(_fields(values["sound"][6]))
    assert struct.unpack("<f", sound[1]) == (8000,) and sound[2] == 1 and sound[3] == 5 and sound[5] == b"audio/wav"
    with wave.open(io.BytesIO(sound[4])) as file:
        assert (file.getframerate(), file.getsampwidth(), file.getnchannels()) == (8000, 2, 1)
        assert struct.unpack("<5h", file.readframes(5)) == (0, 32767, -32767, 32767, 16383)
    plugin = dict(_fields(dict(_fields(values["mesh_VERTEX"][9]))[1]))
    assert plugin[1] == b"mesh" and plugin[2] == b'\x12\x04mesh\x18\x01*\x08{"a": 1}2\x03\x01\x04\x038\x06'
    assert struct.unpack("<12f", dict(_fields(values["mesh_VERTEX"][8]))[4]) == tuple(range(12))
    assert struct.unpack("<3i", dict(_fields(values["mesh_FACE"][8]))[4]) == (0, 1, 2)
    layout = dict(_fields(values["custom_scalars__config__"][8]))[8]
    charts = [dict(_fields(dict(_fields(category))[2])) for _, category in _fields(layout)]
    assert charts[0] == {1: b"both", 2: b"\n\x01a\n\x01b"}
    assert charts[1] == {1: b"band", 3: b"\n\x09\n\x01x\x12\x01y\x1a\x01z"}
    with pytest.raises(AssertionError, match="1 dimensional"):
        SummaryWriter(str(tmp_path)).add_audio("two", torch.zeros(2, 3))


@tensorboard
def test_videos(tmp_path):
    image = pytest.importorskip("PIL.Image")
    from taeda.utils.tensorboard import SummaryWriter
    with SummaryWriter(str(tmp_path)) as writer:
        frames = torch.zeros(3, 5, 3, 8, 6)
        frames[1] = torch.arange(5.0).view(5, 1, 1, 1) / 4
        writer.add_video("video", frames, fps=10)
        writer.add_video("grey", frames[:, :, :1], fps=10)
    values = _values(tmp_path)
    fields = dict(_fields(values["video"][4]))
    assert (fields[1], fields[2], fields[3]) == (8, 24, 3)  # four places, one of them empty, in a row
    shown = image.open(io.BytesIO(fields[4]))
    assert (shown.size, shown.n_frames, shown.info["duration"]) == ((24, 8), 5, 100)
    for frame, grey in ((0, 0), (2, 127), (4, 255)):
        shown.seek(frame)
        assert shown.convert("RGB").getpixel((7, 3)) == (grey,) * 3 and shown.convert("RGB").getpixel((0, 0)) == (0, 0, 0)
    assert dict(_fields(values["grey"][4]))[3] == 1


@tensorboard
def test_summary_writer(tmp_path):
    from taeda.utils.tensorboard import SummaryWriter
    with SummaryWriter(str(tmp_path / "run"), flush_secs=1) as writer:
        writer.add_scalar("loss/train", torch.tensor(0.5), 3)
        writer.add_scalar("accuracy", 0.25, 3)
        writer.add_scalars("both", {"a": 1, "b": 2.5}, 1)
        writer.add_histogram("weights", torch.randn(100), 2)
        writer.add_histogram("by_rule", torch.randn(100), 2, bins="auto")
        writer.add_image("picture", torch.rand(3, 8, 8), 0)
        writer.add_images("pictures", torch.rand(4, 1, 8, 8), 0)
        writer.add_text("words", "some *text*")
        writer.add_pr_curve("pr", torch.randint(0, 2, (50,)), torch.rand(50))
        writer.add_hparams({"lr": 0.1, "bs": 32, "ok": True, "opt": "adam"}, {"hparam/accuracy": 0.9})
        writer.add_embedding(torch.randn(5, 3), metadata=list("abcde"))
        net = Net()
        writer.add_graph(net, torch.rand(1, 4))
        assert net.training and "forward" not in net.head.__dict__
        writer.flush()
        assert writer.log_dir == str(tmp_path / "run") == writer.get_logdir()
    content = _content(tmp_path)
    for text in (b"loss/train", b"accuracy", b"weights", b"picture", b"words", b"Net/Sequential[body]/Linear[0]",
                 b"Net/Linear[head]", b"hparam/accuracy"):
        assert text in content, text
    assert (tmp_path / "run" / "projector_config.pbtxt").exists()
    with pytest.raises(TypeError, match="hparam_dict and metric_dict should be dictionary."):
        SummaryWriter(str(tmp_path / "other")).add_hparams([], {})


@tensorboard
def test_summary_writer_without_a_folder(tmp_path, monkeypatch):
    from taeda.utils.tensorboard import SummaryWriter
    monkeypatch.chdir(tmp_path)
    writer = SummaryWriter(comment="_first")
    writer.add_scalar("x", 1)
    writer.close()
    assert len(glob.glob("runs/*_first/events.out.tfevents.*")) == 1


@tensorboard
def test_event_files_are_read_by_tensorboard(tmp_path, torch_python):
    from taeda.utils.tensorboard import SummaryWriter
    with SummaryWriter(str(tmp_path)) as writer:
        for step in range(3):
            writer.add_scalar("loss", 1 / (step + 1), step)
    done = subprocess.run([torch_python, "-c", f"""
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
found = EventAccumulator({str(tmp_path)!r}); found.Reload()
print([(e.step, round(e.value, 3)) for e in found.Scalars("loss")])"""], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "[(0, 1.0), (1, 0.5), (2, 0.333)]", done.stderr


def test_profile(tmp_path):
    net, x = Net(), torch.rand(64, 4)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
        with record_function("my part"):
            net(x).sum().backward()
    averages = prof.key_averages()
    keys = {row.key for row in averages}
    assert "my part" in keys and any("matmul" in key for key in keys)
    part = next(row for row in averages if row.key == "my part")
    assert part.count == 1 and part.cpu_time_total >= part.self_cpu_time_total > 0
    table = averages.table(sort_by="self_cpu_time_total", row_limit=5)
    assert "Self CPU" in table and "# of Calls" in table
    assert prof.key_averages(group_by_input_shape=True)
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(str(path))
    assert any(event.get("name") == "my part" for event in json.loads(path.read_text())["traceEvents"])
    assert any(event.name == "my part" for event in prof.events())


def test_profile_by_schedule(tmp_path):
    seen = []
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
                 on_trace_ready=lambda p: seen.append((p.step_num, {e.name for e in p.events()}))) as prof:
        for _ in range(10):
            torch.ones(3).exp()
            prof.step()
    assert [step for step, _ in seen] == [4, 8] and {"ProfilerStep#2", "ProfilerStep#3"} <= seen[0][1]
    assert "ProfilerStep#1" not in seen[0][1]
    with profile(on_trace_ready=tensorboard_trace_handler(str(tmp_path), "me")):
        torch.ones(3).exp()
    assert len(glob.glob(str(tmp_path / "me.*.pt.trace.json"))) == 1
    with pytest.raises(AssertionError, match="Invalid profiler schedule arguments"):
        schedule(wait=-1, warmup=0, active=1)


@record_function("decorated")
def decorated():
    return torch.ones(2).sum()


def test_events_say_where_and_how_long_they_ran():
    x = torch.ones(3, device="sim")
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
        x * 2
        torch.sim.synchronize()
    of_type = {t: [e for e in prof.events() if e.device_type == t] for t in torch.autograd.DeviceType}
    host, device = of_type[torch.autograd.DeviceType.CPU], of_type[torch.autograd.DeviceType.CUDA]
    assert [e.name for e in host] == ["mul"] and [e.name for e in device] == ["mul"]
    assert device[0].time_range.elapsed_us() == device[0].time_range.end - device[0].time_range.start > 0
    assert device[0].cpu_time == 0 and host[0].cpu_time > 0 and host[0].count == 1


def test_autograd_profiler():
    with torch.autograd.profiler.profile() as prof:
        decorated()
        with torch.autograd.profiler.record_function("old name"):
            torch.ones(2)
    assert {"decorated", "old name"} <= {row.key for row in prof.key_averages()}


def test_hub(tmp_path):
    torch.save({"w": torch.ones(2)}, tmp_path / "weights.pth")
    found = torch.hub.load_state_dict_from_url((tmp_path / "weights.pth").as_uri(), model_dir=str(tmp_path / "cache"))
    assert found["w"].tolist() == [1, 1] and (tmp_path / "cache" / "weights.pth").exists()
    with pytest.raises(NotImplementedError, match="torch.hub.load"):
        torch.hub.load("pytorch/vision", "resnet18")
