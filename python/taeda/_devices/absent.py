"""What modules of accelerators say that Taeda knows none of."""


def is_available():
    return False


def device_count():
    return 0


def is_initialized():
    return False
