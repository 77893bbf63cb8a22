"""Weights that others trained: where they are, and models by name."""

import enum
import fnmatch
import functools
import json
import pathlib

_BUILDERS = {}


@functools.cache
def _known():
    """What weights.json says of all weights; tools/python/vision_weights.py makes it."""
    known = json.loads(pathlib.Path(__file__).with_name("weights.json").read_text(encoding="utf-8"))
    lists = known.pop("categories")
    for weights in known.values():
        if weights["meta"]["categories"] is not None:
            weights["meta"]["categories"] = lists[weights["meta"]["categories"]]
        if "min_size" in weights["meta"]:
            weights["meta"]["min_size"] = tuple(weights["meta"]["min_size"])
    return known


class Weights:
    """One set of weights: its address, what makes pictures fit for it, and what is known of it."""

    def __init__(self, url, transforms=None, meta=None, name=None):
        self.url, self._transforms, self._meta, self._name = url, transforms, meta, name

    @property
    def transforms(self):
        """A function without arguments that gives the transform."""
        if self._transforms is None:
            from ..transforms import _presets
            preset, keywords = _known()[self._name]["transforms"]
            if "interpolation" in keywords:
                keywords = {**keywords, "interpolation": _presets.InterpolationMode(keywords["interpolation"])}
            self._transforms = functools.partial(getattr(_presets, preset), **keywords)
        return self._transforms

    @property
    def meta(self):
        """A dict: `categories`, `num_params`, `min_size`, `_metrics` and others."""
        if self._meta is None:
            self._meta = _known().get(self._name, {}).get("meta", {})
        return self._meta

    def __eq__(self, other):
        return isinstance(other, Weights) and self.url == other.url

    def __hash__(self):
        return hash(self.url)

    def __repr__(self):
        return f"Weights(url={self.url!r}, transforms={self.transforms}, meta={self.meta})"


class WeightsEnum(enum.Enum):
    """The sets of weights that a model has. `get_state_dict` fetches one."""

    @classmethod
    def verify(cls, weights):
        """The member that a name stands for. TypeError for another model's."""
        if weights is None or isinstance(weights, cls):
            return weights
        if isinstance(weights, str):
            return cls[weights.replace(cls.__name__ + ".", "")]
        raise TypeError(f"Invalid Weight class provided; expected {cls.__name__} but received {type(weights).__name__}.")

    @property
    def url(self):
        return self.value.url

    @property
    def transforms(self):
        return self.value.transforms

    @property
    def meta(self):
        return self.value.meta

    def get_state_dict(self, *args, **kwargs):
        from ...hub import load_state_dict_from_url
        return load_state_dict_from_url(self.url, *args, **kwargs)

    def __repr__(self):
        return f"{type(self).__name__}.{self.name}"


def weights_of(name, default, **urls):
    """The WeightsEnum of a model: names and what follows https://download.pytorch.org/models/ in their addresses."""
    start = "https://download.pytorch.org/models/"
    members = {key: Weights(start + url, name=f"{name}.{key}") for key, url in urls.items()}
    members["DEFAULT"] = members[default]
    return WeightsEnum(name, members, module="torchvision.models")


def fixed(name, given, wanted):
    """The value that weights need; ValueError where another is given."""
    if given is not None and given != wanted:
        raise ValueError(f"The parameter '{name}' expected value {wanted} but got {given} instead.")
    return wanted


def _register(function, build, weights):
    """What `build` becomes by its name: its one positional argument is `weights` or, as before, whether to fetch them."""
    def call(*args, **kwargs):
        if len(args) > 1:
            raise TypeError(f"{function.__name__}() takes at most 1 positional argument ({len(args)} given)")
        if args and isinstance(args[0], bool):
            kwargs["pretrained"] = args[0]
        elif args:
            kwargs["weights"] = args[0]
        pretrained = kwargs.pop("pretrained", None)
        if pretrained and kwargs.get("weights") is None:
            kwargs["weights"] = weights.DEFAULT
        return build(**kwargs)
    call.__name__, call.__qualname__, call.__doc__ = function.__name__, function.__name__, function.__doc__
    call.__module__ = function.__module__
    _BUILDERS[function.__name__] = call, weights
    return call


_FIRST = object()


def on_backbone(weights, backbone, num_classes, first=_FIRST, finish=None, **needed):
    """As `builder`, for a network on another one, `weights_backbone`, whose weights of kind `backbone` - `first` if none are
    named - are fetched unless those of the whole are.

    Weights of the whole need the arguments `needed`; finish(model, weights) is called when they are loaded.
    """
    default = next(iter(backbone)) if first is _FIRST else first

    def register(function):
        def build(*, weights=None, progress=True, weights_backbone=default, pretrained_backbone=True, num_classes=None,
                  **kwargs):
            chosen = kinds.verify(weights)
            part = backbone.verify(weights_backbone if pretrained_backbone else None)
            if chosen is not None:
                part, num_classes = None, fixed("num_classes", num_classes, len(chosen.meta["categories"]))
                kwargs.update({name: fixed(name, kwargs.get(name), value) for name, value in needed.items()})
            model = function(classes if num_classes is None else num_classes, part, chosen, **kwargs)
            if chosen is not None:
                model.load_state_dict(chosen.get_state_dict(progress=progress))
                if finish is not None:
                    finish(model, chosen)
            return model
        kinds, classes = weights, usual
        return _register(function, build, weights)
    usual = num_classes
    return register


def builder(weights, complete=None):
    """Registers the function that makes a model, and has it take `weights` (or, as before, `pretrained`).

    Where there are weights, complete(arguments) makes the arguments those of a model that fits them, and gives a function that
    makes of it what was asked for.
    """
    def register(function):
        def build(*, weights=None, progress=True, **kwargs):
            chosen = kinds.verify(weights)
            if chosen is not None and chosen.meta.get("categories"):
                kwargs["num_classes"] = fixed("num_classes", kwargs.get("num_classes"), len(chosen.meta["categories"]))
            finish = complete(kwargs) if chosen is not None and complete is not None else None
            model = function(**kwargs)
            if chosen is not None:
                model.load_state_dict(chosen.get_state_dict(progress=progress))
            if finish is not None:
                finish(model)
            return model
        kinds = weights
        return _register(function, build, weights)
    return register


def defined(name, weights, doc, urls, default=None, register=builder):
    """A decorator of a function that makes a model: its module gets it, and its weights, by these names, and lists them.

    `urls` are the files of the members of the weights, `default` the usual member, by default the first.
    """
    def define(function):
        kinds = weights_of(weights, default or next(iter(urls)), **urls)
        function.__name__, function.__doc__ = name, doc
        space = function.__globals__
        space[name], space[weights] = register(kinds)(function), kinds
        space["__all__"] += [name, weights]
    return define


def list_models(module=None, include=None, exclude=None):
    """The names of all models, or those of a module ("torchvision.models.segmentation", say), that fit one of the patterns
    `include` and none of `exclude`."""
    def fits(name, patterns):
        return any(fnmatch.fnmatch(name, p) for p in ([patterns] if isinstance(patterns, str) else patterns))
    names = [name for name, (call, _) in _BUILDERS.items()
             if module is None or call.__module__.rpartition(".")[0] == module.__name__]
    return sorted(n for n in names if (not include or fits(n, include)) and not (exclude and fits(n, exclude)))


def get_model_builder(name):
    if name.lower() not in _BUILDERS:
        raise ValueError(f"Unknown model {name}")
    return _BUILDERS[name.lower()][0]


def get_model(name, **config):
    """A model by its name."""
    return get_model_builder(name)(**config)


def get_model_weights(name):
    get_model_builder(name)
    return _BUILDERS[name.lower()][1]


def get_weight(name):
    """A member by its full name, "ResNet18_Weights.IMAGENET1K_V1"."""
    kind, _, member = name.partition(".")
    for _, weights in _BUILDERS.values():
        if weights.__name__ == kind:
            return weights[member]
    raise ValueError(f"The weight enum '{kind}' does not exist.")
