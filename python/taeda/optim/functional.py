"""Steps of optimizers as functions of lists: parameters, their gradients and a list for each tensor of the state, all of which
are changed in place. `torch.optim.adam.adam` and its like.

`foreach`, `fused`, `capturable` and `has_complex` choose among ways of computing the same in PyTorch, and change nothing here.
With `differentiable` autograd records the step.
"""

from .. import _C
from ..autograd.modes import enable_grad, no_grad

__all__ = ["adadelta", "adagrad", "adam", "adamax", "adamw", "asgd", "nadam", "radam", "rmsprop", "rprop", "sgd"]


def _step(rule, params, grads, state, options, differentiable=False, grad_scale=None, found_inf=None):
    """A step of a rule over stand-ins for parameters, which share their memory. `state`: {name: list}; entries that are None
    or that a list lacks are made, and written to the list."""
    if not all(len(grads) == len(params) for grads in (grads, *(s for s in state.values() if s))):
        raise ValueError(f"{rule.lower()}: expected as many gradients and states as the {len(params)} parameters")
    if found_inf is not None and found_inf.item():
        return
    stand_ins, states = [], {}
    with enable_grad() if differentiable else no_grad():
        for i, (param, grad) in enumerate(zip(params, grads)):
            stand_in, grad = (param.view_as(param), grad) if differentiable else (param.detach(), grad.detach())
            stand_in.grad = grad if grad_scale is None else grad / grad_scale
            stand_ins.append(stand_in)
            states[stand_in] = {name: s[i] for name, s in state.items() if s and s[i] is not None}
    _C._optim.step(rule, [{"params": stand_ins, "differentiable": differentiable, **options}], states)
    for name, s in state.items():
        s[:] = [states[p].get(name) for p in stand_ins] if s else []


def sgd(params, d_p_list, momentum_buffer_list, has_sparse_grad=False, foreach=None, fused=None, grad_scale=None,
        found_inf=None, *, weight_decay, momentum, lr, dampening, nesterov, maximize):
    """One step of SGD; buffers that are None are made."""
    _step("SGD", params, d_p_list, {"momentum_buffer": momentum_buffer_list}, {
        "weight_decay": weight_decay, "momentum": momentum, "lr": lr, "dampening": dampening, "nesterov": nesterov,
        "maximize": maximize}, grad_scale=grad_scale, found_inf=found_inf)


def adam(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, foreach=None, capturable=False,
         differentiable=False, fused=None, grad_scale=None, found_inf=None, has_complex=False, decoupled_weight_decay=False, *,
         amsgrad, beta1, beta2, lr, weight_decay, eps, maximize):
    """One step of Adam; `state_steps` are tensors of one number that are counted up."""
    state = {"exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs, "step": state_steps}
    if amsgrad:
        state["max_exp_avg_sq"] = max_exp_avg_sqs
    _step("Adam", params, grads, state, {
        "amsgrad": amsgrad, "betas": (beta1, beta2), "lr": lr, "weight_decay": weight_decay, "eps": eps, "maximize": maximize,
        "decoupled_weight_decay": decoupled_weight_decay}, differentiable, grad_scale, found_inf)


def adamw(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, foreach=None, capturable=False,
          differentiable=False, fused=None, grad_scale=None, found_inf=None, has_complex=False, *, amsgrad, beta1, beta2, lr,
          weight_decay, eps, maximize):
    """One step of AdamW."""
    adam(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, foreach, capturable, differentiable, fused,
         grad_scale, found_inf, has_complex, True, amsgrad=amsgrad, beta1=beta1, beta2=beta2, lr=lr,
         weight_decay=weight_decay, eps=eps, maximize=maximize)


def adagrad(params, grads, state_sums, state_steps, fused=None, grad_scale=None, found_inf=None, has_sparse_grad=False,
            foreach=None, differentiable=False, has_complex=False, *, lr, weight_decay, lr_decay, eps, maximize):
    """One step of Adagrad."""
    _step("Adagrad", params, grads, {"sum": state_sums, "step": state_steps}, {
        "lr": lr, "weight_decay": weight_decay, "lr_decay": lr_decay, "eps": eps, "maximize": maximize},
        differentiable, grad_scale, found_inf)


def rmsprop(params, grads, square_avgs, grad_avgs, momentum_buffer_list, state_steps, foreach=None, maximize=False,
            differentiable=False, capturable=False, has_complex=False, *, lr, alpha, eps, weight_decay, momentum, centered):
    """One step of RMSprop."""
    state = {"square_avg": square_avgs, "step": state_steps}
    if centered:
        state["grad_avg"] = grad_avgs
    if momentum > 0:
        state["momentum_buffer"] = momentum_buffer_list
    _step("RMSprop", params, grads, state, {
        "lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay, "momentum": momentum, "centered": centered,
        "maximize": maximize}, differentiable)


def adadelta(params, grads, square_avgs, acc_deltas, state_steps, capturable=False, foreach=None, differentiable=False,
             has_complex=False, *, lr, rho, eps, weight_decay, maximize):
    """One step of Adadelta."""
    _step("Adadelta", params, grads, {"square_avg": square_avgs, "acc_delta": acc_deltas, "step": state_steps}, {
        "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}, differentiable)


def adamax(params, grads, exp_avgs, exp_infs, state_steps, foreach=None, maximize=False, differentiable=False,
           capturable=False, has_complex=False, *, eps, beta1, beta2, lr, weight_decay):
    """One step of Adamax."""
    _step("Adamax", params, grads, {"exp_avg": exp_avgs, "exp_inf": exp_infs, "step": state_steps}, {
        "eps": eps, "betas": (beta1, beta2), "lr": lr, "weight_decay": weight_decay, "maximize": maximize}, differentiable)


def asgd(params, grads, axs, mus, etas, state_steps, foreach=None, maximize=False, differentiable=False, capturable=False,
         has_complex=False, *, lambd, lr, t0, alpha, weight_decay):
    """One step of ASGD; `mus` and `etas` are tensors of one number."""
    _step("ASGD", params, grads, {"ax": axs, "mu": mus, "eta": etas, "step": state_steps}, {
        "lambd": lambd, "lr": lr, "t0": t0, "alpha": alpha, "weight_decay": weight_decay, "maximize": maximize}, differentiable)


def nadam(params, grads, exp_avgs, exp_avg_sqs, mu_products, state_steps, decoupled_weight_decay=False, foreach=None,
          capturable=False, differentiable=False, has_complex=False, maximize=False, *, beta1, beta2, lr, weight_decay,
          momentum_decay, eps):
    """One step of NAdam."""
    _step("NAdam", params, grads, {"exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs, "mu_product": mu_products,
                                 "step": state_steps}, {
        "betas": (beta1, beta2), "lr": lr, "weight_decay": weight_decay, "momentum_decay": momentum_decay, "eps": eps,
        "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize}, differentiable)


def radam(params, grads, exp_avgs, exp_avg_sqs, state_steps, decoupled_weight_decay=False, foreach=None,
          differentiable=False, capturable=False, has_complex=False, maximize=False, *, beta1, beta2, lr, weight_decay, eps):
    """One step of RAdam."""
    _step("RAdam", params, grads, {"exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs, "step": state_steps}, {
        "betas": (beta1, beta2), "lr": lr, "weight_decay": weight_decay, "eps": eps, "maximize": maximize,
        "decoupled_weight_decay": decoupled_weight_decay}, differentiable)


def rprop(params, grads, prevs, step_sizes, state_steps, foreach=None, capturable=False, maximize=False,
          differentiable=False, has_complex=False, *, step_size_min, step_size_max, etaminus, etaplus):
    """One step of Rprop."""
    _step("Rprop", params, grads, {"prev": prevs, "step_size": step_sizes, "step": state_steps}, {
        "step_sizes": (step_size_min, step_size_max), "etas": (etaminus, etaplus), "maximize": maximize}, differentiable)
