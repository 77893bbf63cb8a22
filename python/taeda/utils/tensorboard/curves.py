"""Precision over recall, drawn."""

from ... import _C


def precision_recall(labels, predictions, num_thresholds, weights=None):
    """Precision and recall of labels 0 and 1 at thresholds from 0 to 1."""
    labels, predictions = labels.flatten().to(_C.float64), predictions.flatten().to(_C.float64)
    weights = _C.ones_like(predictions) if weights is None else weights.flatten().to(_C.float64)
    thresholds = _C.linspace(0, 1, num_thresholds, dtype=_C.float64).unsqueeze(1)
    chosen = (predictions.unsqueeze(0) >= thresholds).to(_C.float64) * weights
    hits = (chosen * labels).sum(1)
    tiny = 1e-12
    return hits / chosen.sum(1).clamp(min=tiny), hits / (labels * weights).sum().clamp(min=tiny)


def pr_curve(labels, predictions, num_thresholds, weights=None, size=256):
    """The curve as a picture of bytes (3, size, size): recall to the right, precision upwards."""
    precision, recall = precision_recall(labels, predictions, num_thresholds, weights)
    picture = _C.full((3, size, size), 255, dtype=_C.uint8)
    picture[:, :, 0] = picture[:, -1, :] = 0
    steps = _C.linspace(0, 1, 2 * size, dtype=_C.float64)
    for i in range(len(precision) - 1):
        xs = recall[i] + (recall[i + 1] - recall[i]) * steps
        ys = precision[i] + (precision[i + 1] - precision[i]) * steps
        rows, columns = ((1 - ys) * (size - 1)).round().to(_C.int64), (xs * (size - 1)).round().to(_C.int64)
        picture[0, rows, columns] = 0
        picture[1, rows, columns] = 90
    return picture
