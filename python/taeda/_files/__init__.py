"""What files are written and read with."""
