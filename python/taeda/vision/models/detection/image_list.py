"""Pictures of several sizes in one batch."""


class ImageList:
    """`tensors` [N, C, H, W], padded, and the height and width of each picture in it."""

    def __init__(self, tensors, image_sizes):
        self.tensors, self.image_sizes = tensors, image_sizes

    def to(self, device):
        return ImageList(self.tensors.to(device), self.image_sizes)
