"""Weights that others trained: where they are, and models by name."""

import dataclasses
import enum

_BUILDERS = {}


@dataclasses.dataclass(frozen=True)
class Weights:
    """One set of weights: its address, and how many classes it tells apart."""

    url: str
    num_classes: int = 1000


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

    def get_state_dict(self, *args, **kwargs):
        from ...hub import load_state_dict_from_url
        return load_state_dict_from_url(self.url, *args, **kwargs)

    def __repr__(self):
        return f"{type(self).__name__}.{self.name}"


def weights_of(name, default, **urls):
    """The WeightsEnum of a model: names and what follows https://download.pytorch.org/models/ in their addresses."""
    start = "https://download.pytorch.org/models/"
    members = {key: Weights(start + url) for key, url in urls.items()}
    members["DEFAULT"] = members[default]
    return WeightsEnum(name, members, module="torchvision.models")


def builder(weights, complete=None):
    """Registers the function that makes a model, and has it take `weights` (or, as before, `pretrained`).

    Where there are weights, complete(arguments) makes the arguments those of a model that fits them, and gives a function that
    makes of it what was asked for.
    """
    def register(function):
        def build(*, weights=None, progress=True, pretrained=None, **kwargs):
            if pretrained is not None and weights is None:
                weights = kinds.DEFAULT if pretrained else None
            chosen = kinds.verify(weights)
            if chosen is not None:
                given = kwargs.setdefault("num_classes", chosen.value.num_classes)
                if given != chosen.value.num_classes:
                    raise ValueError(f"The parameter 'num_classes' expected value {chosen.value.num_classes} but got {given} "
                                     "instead.")
            finish = complete(kwargs) if chosen is not None and complete is not None else None
            model = function(**kwargs)
            if chosen is not None:
                model.load_state_dict(chosen.get_state_dict(progress=progress))
            if finish is not None:
                finish(model)
            return model

        def call(*args, **kwargs):
            if len(args) > 1:
                raise TypeError(f"{function.__name__}() takes at most 1 positional argument ({len(args)} given)")
            if args and isinstance(args[0], bool):
                kwargs["pretrained"] = args[0]
            elif args:
                kwargs["weights"] = args[0]
            return build(**kwargs)
        kinds = weights
        call.__name__, call.__qualname__, call.__doc__ = function.__name__, function.__name__, function.__doc__
        call.__module__ = function.__module__
        _BUILDERS[function.__name__] = call, weights
        return call
    return register


def list_models(module=None, include=None, exclude=None):
    """The names of all models."""
    return sorted(_BUILDERS)


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
