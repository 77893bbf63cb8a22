// Model sharding: two stages on two devices, run as a pipeline by nn::Pipe, and by hand.
#include "stages.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const Device first = resolve(device_of(argc, argv)), second = next_to(first);
    Stage1 stage1;
    Stage2 stage2;
    stage1->to(first);
    stage2->to(second);
    nn::Pipe model(nn::Sequential(stage1, stage2), nn::PipeOptions(2).measure(true));
    nn::MSELoss criterion;
    optim::SGD optimizer(model->parameters(), optim::SGDOptions(0.001));
    const Tensor input_data = randn({32, 10}).to(first);
    const Tensor target = randn({32, 10}).to(second);

    const Tensor output = model(input_data);
    const Tensor loss = criterion(output, target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();

    std::cout << model << "\n";
    std::cout << "output: " << output.sizes() << " on " << output.device() << "\n";
    std::cout << "loss: " << loss.item<float>() << " -> "
              << criterion(model(input_data), target).item<float>() << "\n";
    const Tensor by_hand = stage2(stage1(input_data).to(second));
    std::cout << "difference from the stages by hand: "
              << (model(input_data) - by_hand).abs().max().item<float>() << "\n";

    // One backward for each forward: a stage keeps fewer activations.
    model->options().schedule(nn::PipeSchedule::OneForwardOneBackward);
    optimizer.zero_grad();
    model->train_step(input_data, target, criterion);
    optimizer.step();
    std::cout << model->report() << "\n";
  });
}
