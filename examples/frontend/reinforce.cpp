// A policy that learns to balance a pole, by the score of what it tried (Williams 1992).
#include <array>
#include <vector>

#include "deterministic.h"

/// A cart on a track with a pole on it (Barto, Sutton and Anderson 1983).
class CartPole {
 public:
  torch::Tensor reset(int64_t episode) {
    const double tilt = 0.04 * std::sin(static_cast<double>(episode));
    state_ = {0, 0, tilt, 0};
    return observation();
  }
  /// Pushes left (0) or right (1). False when the pole has fallen or the cart has left the track.
  bool step(int64_t action) {
    auto& [x, speed, angle, spin] = state_;
    const double force = action == 1 ? 10 : -10, c = std::cos(angle), s = std::sin(angle);
    const double push = (force + 0.05 * spin * spin * s) / 1.1;
    const double turn = (9.8 * s - c * push) / (0.5 * (4.0 / 3 - 0.1 * c * c / 1.1));
    const double gain = push - 0.05 * turn * c / 1.1;
    x += 0.02 * speed;
    speed += 0.02 * gain;
    angle += 0.02 * spin;
    spin += 0.02 * turn;
    return std::abs(x) < 2.4 && std::abs(angle) < 0.21;
  }
  torch::Tensor observation() const {
    return torch::tensor({state_[0], state_[1], state_[2], state_[3]}).to(torch::kDouble);
  }

 private:
  std::array<double, 4> state_{};
};

int main() {
  torch::manual_seed(5);
  torch::nn::Sequential policy(torch::nn::Linear(4, 24), torch::nn::Tanh(),
                               torch::nn::Linear(24, 2));
  fill(*policy);
  policy->to(torch::kDouble);
  torch::optim::RMSprop optimizer(policy->parameters(), torch::optim::RMSpropOptions(1e-2));
  CartPole cart;
  for (int64_t episode = 0; episode < 6; ++episode) {
    std::vector<torch::Tensor> log_probabilities;
    torch::Tensor observation = cart.reset(episode);
    bool up = true;
    while (up && log_probabilities.size() < 60) {
      const torch::Tensor scores = torch::log_softmax(policy->forward(observation), 0);
      const int64_t action = scores.exp().multinomial(1).item<int64_t>();
      log_probabilities.push_back(scores[action]);
      up = cart.step(action);
      observation = cart.observation();
    }
    std::vector<double> returns(log_probabilities.size());
    double sum = 0;
    for (size_t i = returns.size(); i-- > 0;) returns[i] = sum = 1 + 0.99 * sum;
    torch::Tensor advantage = torch::tensor(returns, torch::kDouble);
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6);
    optimizer.zero_grad();
    torch::Tensor loss = -(torch::stack(log_probabilities) * advantage).sum();
    loss.backward();
    optimizer.step();
    report("steps", episode, static_cast<double>(returns.size()));
    report("loss", episode, loss);
  }
}
