"""What a program's time and memory go into."""

from .profiler import (DeviceType, ProfilerAction, ProfilerActivity, profile, record_function, schedule,  # noqa: F401
                       supported_activities, tensorboard_trace_handler)

__all__ = ["ProfilerAction", "ProfilerActivity", "profile", "record_function", "schedule", "supported_activities",
           "tensorboard_trace_handler"]
