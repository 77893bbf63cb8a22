"""What a program's time and memory go into."""

from .profiler import (ProfilerAction, ProfilerActivity, profile, record_function, schedule, supported_activities,
                       tensorboard_trace_handler)

__all__ = ["ProfilerAction", "ProfilerActivity", "profile", "record_function", "schedule", "supported_activities",
           "tensorboard_trace_handler"]
