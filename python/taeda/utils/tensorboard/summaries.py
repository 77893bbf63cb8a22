"""Summaries that the library has no function for - videos, sounds, meshes, layouts of charts - in Protocol Buffers' encoding.

The numbers of fields are those of TensorBoard's summary.proto, tensor.proto, plugins/mesh/plugin_data.proto and
plugins/custom_scalar/layout.proto.
"""

import io
import json
import struct
import wave

from ... import _C

_FLOAT, _INT32, _STRING = 1, 3, 7  # DataType
_VERTEX, _FACE, _COLOR = 1, 2, 3  # MeshPluginData.ContentType


def _varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def _field(number, value):
    """One field: a float of 32 bits, a number that is not negative, a text, or bytes, which a message is, too."""
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    value = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _message(*fields):
    return b"".join(_field(number, value) for number, value in fields)


def _value(tag, *fields):
    return _field(1, _message((1, tag), *fields))


def _metadata(plugin, content):
    return _field(1, _message((1, plugin), (2, content)))


def grid(frames):
    """Videos (N, T, C, H, W) as one (T, H, W, C) of bytes, in rows and columns whose numbers are powers of two."""
    if frames.is_floating_point():
        frames = (frames * 255).clamp(0, 255)
    frames = frames.to(_C.uint8)
    count, length, channels, height, width = frames.shape
    rows = 1 << (count.bit_length() - 1) // 2
    columns = (1 << (count - 1).bit_length()) // rows
    filled = _C.zeros(rows * columns, length, channels, height, width, dtype=_C.uint8)
    filled[:count] = frames
    filled = filled.reshape(rows, columns, length, channels, height, width)
    return filled.permute(2, 0, 4, 1, 5, 3).reshape(length, rows * height, columns * width, channels)


def video(tag, frames, fps):
    """A GIF of frames (T, H, W, C)."""
    from PIL import Image
    _, height, width, channels = frames.shape
    pictures = [Image.fromarray(frame.squeeze(-1).numpy() if channels == 1 else frame.numpy()) for frame in frames]
    gif = io.BytesIO()
    pictures[0].save(gif, "GIF", save_all=True, append_images=pictures[1:], duration=1000 / fps, loop=0)
    return _value(tag, (4, _message((1, height), (2, width), (3, channels), (4, gif.getvalue()))))


def audio(tag, samples, sample_rate):
    """A WAV file of 16 bits of samples (length,) or (1, length) between -1 and 1."""
    samples = samples.squeeze()
    if samples.dim() != 1:
        raise AssertionError("input tensor should be 1 dimensional.")
    sound = (samples.clamp(-1, 1) * 32767).to(_C.int16)
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(sample_rate)
        writer.writeframes(sound.contiguous().numpy().astype("<i2").tobytes())
    return _value(tag, (6, _message((1, float(sample_rate)), (2, 1), (3, sound.numel()), (4, file.getvalue()),
                                    (5, "audio/wav"))))


def _tensor(kind, values):
    shape = b"".join(_field(2, _message((1, size))) for size in values.shape)
    content = values.contiguous().numpy()
    return _message((1, kind), (2, shape), (4, content.astype(content.dtype.newbyteorder("<")).tobytes()))


def mesh(tag, vertices, colors, faces, config):
    """Points (B, N, 3), with colours (B, N, 3) and triangles (B, F, 3) where there are any."""
    parts = [("VERTEX", _VERTEX, _FLOAT, vertices.to(_C.float32))]
    if faces is not None:
        parts.append(("FACE", _FACE, _INT32, faces.to(_C.int32)))
    if colors is not None:
        parts.append(("COLOR", _COLOR, _FLOAT, colors.to(_C.float32)))
    components = sum(1 << kind for _, kind, _, _ in parts)
    out = b""
    for name, kind, dtype, values in parts:
        shape = b"".join(map(_varint, values.shape))
        content = _message((2, tag), (3, kind), (5, json.dumps(config or {}, sort_keys=True)), (6, shape), (7, components))
        out += _value(f"{tag}_{name}", (8, _tensor(dtype, values)), (9, _metadata("mesh", content)))
    return out


def custom_scalars(layout):
    """Which curves stand in one chart: {category: {title: ["Multiline" or "Margin", tags]}}."""
    categories = b""
    for category, charts in layout.items():
        body = _field(1, category)
        for title, (kind, tags) in charts.items():
            if kind == "Margin":
                if len(tags) != 3:
                    raise AssertionError("a margin chart has three tags: value, lower, upper")
                content = 3, _field(1, _message(*zip((1, 2, 3), tags)))
            else:
                content = 2, b"".join(_field(1, tag) for tag in tags)
            body += _field(2, _message((1, title), content))
        categories += _field(2, body)
    return _value("custom_scalars__config__", (8, _message((1, _STRING), (8, categories))),
                  (9, _metadata("custom_scalars", b"")))
