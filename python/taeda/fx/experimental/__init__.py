"""Transformations for inference."""
