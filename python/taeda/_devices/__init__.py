"""What the modules of device types have in common."""
