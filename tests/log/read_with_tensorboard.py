"""Reads what summary_writer_test.cpp wrote with TensorBoard's reader: read_with_tensorboard.py FOLDER [picture]."""

import sys

from tensorboard.backend.event_processing import event_accumulator
from tensorboard.compat.proto import graph_pb2
from tensorboard.plugins.hparams import plugin_data_pb2


def main(folder, *parts):
    events = event_accumulator.EventAccumulator(folder)
    events.Reload()
    assert [(e.step, round(e.value, 6)) for e in events.Scalars("loss")] == [
        (0, 1.0), (1, 0.5), (2, 0.333333)]
    histogram = events.Histograms("weights")[0]
    assert histogram.step == 1
    value = histogram.histogram_value
    assert (value.min, value.max, value.num, value.sum) == (-1, 1, 3, 0)
    assert sum(value.bucket) == 3 and len(value.bucket) == len(value.bucket_limit)
    text = events.Tensors("notes/text_summary")[0].tensor_proto
    assert text.string_val[0] == b"hello"
    if "picture" in parts:
        picture = events.Images("picture")[0]
        assert (picture.height, picture.width) == (4, 5)
        assert picture.encoded_image_string.startswith(b"\x89PNG")
    graph = events.Graph()
    assert isinstance(graph, graph_pb2.GraphDef)
    names = {node.name for node in graph.node}
    assert "Net/Linear[out]/weight" in names and "input/0" in names
    assert all(name in names for node in graph.node for name in node.input)
    shape = next(n for n in graph.node if n.name == "Net/Relu").attr["_output_shapes"]
    assert [d.size for d in shape.list.shape[0].dim] == [5, 2]

    row = event_accumulator.EventAccumulator(folder + "/row")
    row.Reload()
    content = row.SummaryMetadata("_hparams_/session_start_info").plugin_data.content
    start = plugin_data_pb2.HParamsPluginData.FromString(content).session_start_info
    assert start.hparams["lr"].number_value == 0.1
    assert row.Scalars("accuracy")[0].value == 0.5


if __name__ == "__main__":
    main(*sys.argv[1:])
