// Automatic mixed precision: autocast around the forward pass, a GradScaler around the step.
#include "simple_model.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Device device = device_of(argc, argv);
    SimpleModel model;
    Tensor input = randn({32, 10}), target = randn({32, 10});
    if (device.is_cuda()) {
      model->cuda(device.index());
      input = input.cuda(device.index());
      target = target.cuda(device.index());
    } else {
      model->to(device);
      input = input.to(device);
      target = target.to(device);
    }
    nn::MSELoss criterion;
    optim::SGD optimizer(model->parameters(), optim::SGDOptions(0.001));
    amp::GradScaler scaler(device);

    for (int step = 0; step < 3; ++step) {
      Tensor output, loss;
      {
        const amp::autocast autocast(device);
        output = model(input);
        loss = criterion(output, target);
      }
      optimizer.zero_grad();
      scaler.scale(loss).backward();
      const amp::StepResult result = scaler.step(optimizer, model->named_parameters());
      scaler.update();
      std::cout << "output " << output.dtype() << ", loss " << loss.dtype() << " "
                << four_decimals(loss.item<float>()) << ", scale " << scaler.get_scale()
                << (result ? "" : ", step left out: " + result.non_finite->str()) << "\n";
    }
  });
}
