"""Neural style transfer: Gram matrices of a network's features, losses as modules within it, an image that L-BFGS changes."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class ContentLoss(nn.Module):
    def __init__(self, target,):
        super(ContentLoss, self).__init__()
        self.target = target.detach()

    def forward(self, input):
        self.loss = F.mse_loss(input, self.target)
        return input


def gram_matrix(input):
    a, b, c, d = input.size()
    features = input.view(a * b, c * d)
    return torch.mm(features, features.t()).div(a * b * c * d)


class StyleLoss(nn.Module):
    def __init__(self, target_feature):
        super(StyleLoss, self).__init__()
        self.target = gram_matrix(target_feature).detach()

    def forward(self, input):
        self.loss = F.mse_loss(gram_matrix(input), self.target)
        return input


class Normalization(nn.Module):
    def __init__(self, mean, std):
        super(Normalization, self).__init__()
        self.mean = torch.tensor(mean).view(-1, 1, 1)
        self.std = torch.tensor(std).view(-1, 1, 1)

    def forward(self, img):
        return (img - self.mean) / self.std


torch.manual_seed(2)
cnn = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(inplace=True), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(inplace=True),
                    nn.MaxPool2d(2, 2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(inplace=True)).eval()
content_img, style_img = torch.rand(1, 3, 16, 16), torch.rand(1, 3, 16, 16).round()
normalization = Normalization([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
content_losses, style_losses = [], []
model, i = nn.Sequential(normalization), 0
for layer in copy.deepcopy(cnn).children():
    if isinstance(layer, nn.Conv2d):
        i += 1
        name = "conv_{}".format(i)
    elif isinstance(layer, nn.ReLU):
        name = "relu_{}".format(i)
        layer = nn.ReLU(inplace=False)
    elif isinstance(layer, nn.MaxPool2d):
        name = "pool_{}".format(i)
    else:
        raise RuntimeError("Unrecognized layer: {}".format(layer.__class__.__name__))
    model.add_module(name, layer)
    if name == "conv_3":
        content_loss = ContentLoss(model(content_img).detach())
        model.add_module("content_loss_{}".format(i), content_loss)
        content_losses.append(content_loss)
    if name.startswith("conv"):
        style_loss = StyleLoss(model(style_img).detach())
        model.add_module("style_loss_{}".format(i), style_loss)
        style_losses.append(style_loss)
for i in range(len(model) - 1, -1, -1):
    if isinstance(model[i], ContentLoss) or isinstance(model[i], StyleLoss):
        break
model = model[:(i + 1)]
print(model)
input_img = content_img.clone().requires_grad_(True)
model.eval()
model.requires_grad_(False)
optimizer = optim.LBFGS([input_img], lr=0.5, history_size=10)
run = [0]
while run[0] <= 10:
    def closure():
        with torch.no_grad():
            input_img.clamp_(0, 1)
        optimizer.zero_grad()
        model(input_img)
        style_score = sum(sl.loss for sl in style_losses) * 1e4
        content_score = sum(cl.loss for cl in content_losses)
        loss = style_score + content_score
        loss.backward()
        run[0] += 1
        if run[0] in (1, 3, 6):
            print("run {}: Style Loss : {:4f} Content Loss: {:4f}".format(run, style_score.item(), content_score.item()))
        return style_score + content_score

    optimizer.step(closure)
print("better:", bool(sum(sl.loss for sl in style_losses) * 1e4 < 5.0))
