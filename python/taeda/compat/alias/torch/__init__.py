"""torch, as Taeda has it."""

from taeda.compat.finder import alias

alias("torch", "taeda")
