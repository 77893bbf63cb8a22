"""Timings of statements: repeated until they can be trusted, with waits for devices, compared in tables."""

from .timer import Compare, Measurement, TaskSpec, Timer, timer

__all__ = ["Compare", "Measurement", "TaskSpec", "Timer", "timer"]
