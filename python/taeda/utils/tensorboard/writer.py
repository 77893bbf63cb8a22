"""SummaryWriter: what programs log, in files that TensorBoard shows. A thread encodes and writes."""

import datetime
import io
import os
import socket
import tempfile

from ... import _C
from . import summaries

__all__ = ["SummaryWriter"]


def _tensor(values):
    """A tensor of a tensor, an array, or a list of them."""
    if isinstance(values, _C.TensorBase):
        return values.detach().cpu()
    if isinstance(values, (list, tuple)) and values and isinstance(values[0], _C.TensorBase):
        return _C.stack([v.detach().cpu() for v in values])
    return _C._tensor_from(values, None, None)


def _number(value):
    return float(value.item() if hasattr(value, "item") else value)


class SummaryWriter:
    """Writes to `log_dir`, by default runs/<date>_<host><comment>. The arguments of all calls are PyTorch's."""

    def __init__(self, log_dir=None, comment="", purge_step=None, max_queue=10, flush_secs=120, filename_suffix=""):
        if not log_dir:
            now = datetime.datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", now + "_" + socket.gethostname() + comment)
        self.log_dir = str(log_dir)
        self.purge_step, self.max_queue, self.flush_secs = purge_step, max_queue, flush_secs
        self.filename_suffix = filename_suffix
        self._writer = _C._SummaryWriter(self.log_dir, purge_step, max_queue, flush_secs, filename_suffix)

    def get_logdir(self):
        return self.log_dir

    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None, new_style=False, double_precision=False):
        self._writer.add_scalar(tag, _number(scalar_value), global_step, walltime, new_style, double_precision)

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
        """Several curves in one plot."""
        self._writer.add_scalars(main_tag, [(name, _number(v)) for name, v in tag_scalar_dict.items()], global_step, walltime)

    def add_tensor(self, tag, tensor, global_step=None, walltime=None):
        raise NotImplementedError("SummaryWriter.add_tensor: Taeda writes numbers, pictures, texts and histograms")

    def add_histogram(self, tag, values, global_step=None, bins="tensorflow", walltime=None, max_bins=None):
        if isinstance(bins, str) and bins != "tensorflow":
            limits = _numpy_limits(_tensor(values), bins)
        else:
            limits = None if isinstance(bins, str) else [float(b) for b in bins]
        self._writer.add_histogram(tag, _tensor(values), global_step, limits, walltime, max_bins or 0)

    def add_histogram_raw(self, tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts, global_step=None,
                          walltime=None):
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        self._writer.add_histogram_raw(tag, min, max, num, sum, sum_squares, list(map(float, bucket_limits)),
                                       list(map(float, bucket_counts)), global_step, walltime)

    def add_image(self, tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"):
        self._writer.add_image(tag, _tensor(img_tensor), global_step, walltime, dataformats)

    def add_images(self, tag, img_tensor, global_step=None, walltime=None, dataformats="NCHW"):
        self._writer.add_images(tag, _tensor(img_tensor), global_step, walltime, dataformats)

    def add_image_with_boxes(self, tag, img_tensor, box_tensor, global_step=None, walltime=None, rescale=1,
                             dataformats="CHW", labels=None):
        raise NotImplementedError("SummaryWriter.add_image_with_boxes: draw the boxes, and use add_image")

    def add_figure(self, tag, figure, global_step=None, close=True, walltime=None):
        """A figure of matplotlib, or several side by side."""
        figures = figure if isinstance(figure, list) else [figure]
        if len(figures) == 1:
            with tempfile.NamedTemporaryFile(suffix=".png") as file:
                figures[0].savefig(file.name, format="png", dpi=figures[0].dpi)
                self._writer.add_figure(tag, file.name, global_step, walltime)
        else:
            pictures = []
            for each in figures:
                buffer = io.BytesIO()
                each.savefig(buffer, format="png", dpi=each.dpi)
                pictures.append(_C._vision.decode_png(_C.from_numpy(bytearray(buffer.getvalue())))[:3])
            self.add_images(tag, _C.stack(pictures), global_step, walltime)
        if close:
            import matplotlib.pyplot
            for each in figures:
                matplotlib.pyplot.close(each)

    def add_text(self, tag, text_string, global_step=None, walltime=None):
        self._writer.add_text(tag, text_string, global_step, walltime)

    def add_video(self, tag, vid_tensor, global_step=None, fps=4, walltime=None):
        """Videos (N, T, C, H, W), bytes or numbers from 0 to 1, side by side. Needs Pillow."""
        self._add(summaries.video(tag, summaries.grid(_tensor(vid_tensor)), fps), global_step, walltime)

    def add_audio(self, tag, snd_tensor, global_step=None, sample_rate=44100, walltime=None):
        """A sound (1, L) of numbers from -1 to 1."""
        self._add(summaries.audio(tag, _tensor(snd_tensor), sample_rate), global_step, walltime)

    def add_mesh(self, tag, vertices, colors=None, faces=None, config_dict=None, global_step=None, walltime=None):
        """Point clouds (B, N, 3), or meshes with `faces` (B, F, 3), with colours of the points, in a batch."""
        colors, faces = (None if part is None else _tensor(part) for part in (colors, faces))
        self._add(summaries.mesh(tag, _tensor(vertices), colors, faces, config_dict), global_step, walltime)

    def add_custom_scalars(self, layout):
        """Charts of several curves each: {category: {title: ["Multiline" or "Margin", tags]}}."""
        self._add(summaries.custom_scalars(layout))

    def add_custom_scalars_multilinechart(self, tags, category="default", title="untitled"):
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(self, tags, category="default", title="untitled"):
        """One curve, and two that bound it."""
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def _add(self, summary, global_step=None, walltime=None):
        self._writer.add_summary(summary, global_step, walltime)

    def add_graph(self, model, input_to_model=None, verbose=False, use_strict_trace=True):
        """The graph of a module, seen by running it once, in evaluation mode, on a tensor or a tuple of them."""
        from .graph import draw
        draw(self._writer, model, input_to_model)

    def add_pr_curve(self, tag, labels, predictions, global_step=None, num_thresholds=127, weights=None, walltime=None):
        """Precision over recall as a picture, drawn from `num_thresholds` thresholds."""
        from .curves import pr_curve
        self._writer.add_image(tag, pr_curve(_tensor(labels), _tensor(predictions), num_thresholds,
                                             None if weights is None else _tensor(weights)), global_step, walltime, "CHW")

    def add_hparams(self, hparam_dict, metric_dict, hparam_domain_discrete=None, run_name=None, global_step=None):
        """A row in the table of hyperparameters, in a folder of its own below this one."""
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        for name, value in hparam_dict.items():
            if not isinstance(value, (bool, int, float, str, _C.TensorBase)) and value is not None:
                raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")
        values = [(name, value.item() if isinstance(value, _C.TensorBase) else value)
                  for name, value in hparam_dict.items() if value is not None]
        domains = [(name, list(domain)) for name, domain in (hparam_domain_discrete or {}).items()]
        self._writer.add_hparams(values, [(name, _number(v)) for name, v in metric_dict.items()], domains, run_name or "",
                                 global_step)

    def add_embedding(self, mat, metadata=None, label_img=None, global_step=None, tag="default", metadata_header=None):
        """Points (N, D) for the projector, with a label and a small picture for each if given."""
        header = [str(h) for h in metadata_header or []]
        labels = []
        if metadata is not None:
            labels = ["\t".join(map(str, row)) for row in metadata] if header else [str(row) for row in metadata]
        self._writer.add_embedding(_tensor(mat), labels, None if label_img is None else _tensor(label_img), global_step, tag,
                                   header)

    def flush(self):
        self._writer.flush()

    def close(self):
        self._writer.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def _numpy_limits(values, rule):
    """The limits that NumPy's rule ("auto", "fd", ...) gives."""
    import numpy
    return numpy.histogram_bin_edges(values.flatten().numpy(), bins=rule).tolist()
