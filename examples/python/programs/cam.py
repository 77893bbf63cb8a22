"""Where a classifier looks: Grad-CAM through hooks, guided backpropagation by a Function, integrated gradients, saliency."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Function


class GuidedReLU(Function):
    @staticmethod
    def forward(ctx, input_img):
        positive_mask = (input_img > 0).type_as(input_img)
        output = torch.addcmul(torch.zeros(input_img.size()).type_as(input_img), input_img, positive_mask)
        ctx.save_for_backward(input_img, output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        input_img, output = ctx.saved_tensors
        mask1 = (input_img > 0).type_as(grad_output)
        mask2 = (grad_output > 0).type_as(grad_output)
        zero = torch.zeros(input_img.size()).type_as(input_img)
        return torch.addcmul(zero, torch.addcmul(zero, grad_output, mask1), mask2)


class GradCAM:
    def __init__(self, model, target_layer):
        self.model, self.gradients, self.activations = model, None, None
        self.handles = [target_layer.register_forward_hook(self.save_activation),
                        target_layer.register_full_backward_hook(self.save_gradient)]

    def save_activation(self, module, input, output):
        self.activations = output.detach()

    def save_gradient(self, module, grad_input, grad_output):
        self.gradients = grad_output[0].detach()

    def __call__(self, x, index=None):
        logits = self.model(x)
        if index is None:
            index = logits.argmax(dim=1)
        one_hot = torch.zeros_like(logits).scatter_(1, index.view(-1, 1), 1.0)
        self.model.zero_grad()
        logits.backward(gradient=one_hot, retain_graph=True)
        weights = self.gradients.mean(dim=(2, 3), keepdim=True)
        cam = F.relu((weights * self.activations).sum(dim=1, keepdim=True))
        cam = F.interpolate(cam, size=x.shape[2:], mode="bilinear", align_corners=False)
        low, high = cam.amin(dim=(2, 3), keepdim=True), cam.amax(dim=(2, 3), keepdim=True)
        return (cam - low) / (high - low + 1e-8), index

    def remove(self):
        for handle in self.handles:
            handle.remove()


def replace_relu(module):
    for name, child in module._modules.items():
        replace_relu(child)
        if child.__class__.__name__ == "ReLU":
            module._modules[name] = GuidedReLU.apply


torch.manual_seed(4)
model = nn.Sequential()
model.features = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2),
                               nn.Conv2d(6, 8, 3, padding=1), nn.ReLU())
model.add_module("head", nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2)))
x = torch.rand(24, 1, 12, 12) * 0.3
y = torch.arange(24) % 2
x[y == 0, :, 1:5, 1:5] += 1
x[y == 1, :, 7:11, 7:11] += torch.eye(4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-4)
for step in range(15):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
model.eval()
cam = GradCAM(model, model.features[4])
maps, index = cam(x[:4])
print(index.tolist(), [f"{v:.3f}" for v in maps.mean(dim=(1, 2, 3)).tolist()])
cam.remove()
assert len(model.features[4]._forward_hooks) == 0 and len(model.features[4]._backward_hooks) == 0
image = x[:2].clone().requires_grad_()
baseline, total = torch.zeros_like(image), torch.zeros_like(image)
for alpha in torch.linspace(0, 1, steps=8):
    point = (baseline + alpha * (image - baseline)).detach().requires_grad_(True)
    out = model(point).gather(1, y[:2, None]).sum()
    grad, = torch.autograd.grad(outputs=out, inputs=point)
    total += grad / 8
attribution = ((image - baseline) * total).detach()
difference = (model(image) - model(baseline)).gather(1, y[:2, None]).sum()
print(f"integrated {attribution.sum().item():.4f} of {difference.item():.4f}")
with torch.enable_grad():
    norms = []
    image.register_hook(lambda g: norms.append(g.norm().item()))
    model(image)[:, 0].sum().backward()
print(f"saliency {image.grad.abs().max().item():.4f} {norms[0]:.4f}")
