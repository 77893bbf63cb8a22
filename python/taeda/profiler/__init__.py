"""What a program's time and memory go into."""

from .profiler import (DeviceType, ProfilerAction, ProfilerActivity, kineto_available, profile,  # noqa: F401
                       record_function, schedule, supported_activities, tensorboard_trace_handler)

__all__ = ["ProfilerAction", "ProfilerActivity", "kineto_available", "profile", "record_function", "schedule",
           "supported_activities", "tensorboard_trace_handler"]
