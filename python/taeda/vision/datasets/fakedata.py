"""Noise with random labels, for programs that need any data."""

from ... import _C
from ..transforms.functional import to_pil_image
from .vision import VisionDataset


class FakeData(VisionDataset):
    """`size` pictures of noise, the same ones each time they are asked for; torchvision's numbers."""

    def __init__(self, size=1000, image_size=(3, 224, 224), num_classes=10, transform=None, target_transform=None,
                 random_offset=0):
        super().__init__(transform=transform, target_transform=target_transform)
        self.size, self.num_classes, self.image_size, self.random_offset = size, num_classes, image_size, random_offset

    def __getitem__(self, index):
        if index >= len(self):
            raise IndexError(f"{type(self).__name__} index out of range")
        before = _C.default_generator.get_state()
        _C.default_generator.manual_seed(index + self.random_offset)
        image = _C.randn(self.image_size)
        target = _C.randint(0, self.num_classes, (1,), dtype=_C.int64)[0]
        _C.default_generator.set_state(before)
        return self._transformed(to_pil_image(image), target.item())

    def __len__(self):
        return self.size
