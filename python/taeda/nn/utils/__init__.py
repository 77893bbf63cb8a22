"""Helpers around modules."""
