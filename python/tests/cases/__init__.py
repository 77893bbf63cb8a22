"""Programs that run under Taeda and under PyTorch: each is a function of the package, and gives numbers or texts to compare."""
