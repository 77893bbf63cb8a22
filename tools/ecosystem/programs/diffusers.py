import torch
from diffusers import DDIMScheduler, DDPMPipeline, DDPMScheduler, UNet2DModel

from .common import losses, numbers


def unet():
    return UNet2DModel(sample_size=8, in_channels=1, out_channels=1, layers_per_block=1, block_out_channels=(8, 16),
                       norm_num_groups=4, down_block_types=("DownBlock2D", "AttnDownBlock2D"),
                       up_block_types=("AttnUpBlock2D", "UpBlock2D"))


def forward(folder):
    model = unet().eval()
    return numbers(model(torch.randn(2, 1, 8, 8), 3).sample, each=8)


def training(folder):
    model, noisy = unet(), DDPMScheduler(num_train_timesteps=50)
    x, noise, steps = torch.randn(4, 1, 8, 8), torch.randn(4, 1, 8, 8), torch.tensor([1, 7, 20, 49])
    return losses(model.parameters(), lambda: torch.nn.functional.mse_loss(
        model(noisy.add_noise(x, noise, steps), steps).sample, noise), lr=1e-3)


def saving(folder):
    DDPMPipeline(unet(), DDIMScheduler(num_train_timesteps=50)).save_pretrained(folder)
    pipe = DDPMPipeline.from_pretrained(folder)
    pipe.set_progress_bar_config(disable=True)
    made = pipe(generator=torch.manual_seed(1), num_inference_steps=3, output_type="np").images
    return numbers(torch.from_numpy(made), each=8)
