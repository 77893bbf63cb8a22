"""torchvision, as Taeda has it."""

from taeda.compat.finder import alias

alias("torchvision", "taeda.vision")
