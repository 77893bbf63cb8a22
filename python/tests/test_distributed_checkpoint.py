"""The state of a model by the names that it has without what wraps modules."""

import pytest

import ranks
import taeda as torch
import taeda.distributed as dist
from taeda.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict, set_model_state_dict
from test_distributed_groups import join

PLAIN = ["0.weight", "0.bias", "1.weight", "1.bias"]


def model():
    first = torch.nn.Linear(2, 2)
    first.bias.requires_grad_(False)
    return torch.nn.Sequential(first, torch.compile(torch.nn.Linear(2, 1)))


def test_names_are_those_without_compiled_modules():
    made = model()
    assert list(made.state_dict()) == ["0.weight", "0.bias", "1._orig_mod.weight", "1._orig_mod.bias"]
    state = get_model_state_dict(torch.compile(made))
    assert list(state) == PLAIN and state["1.weight"].data_ptr() == made[1].weight.data_ptr()
    trained = get_model_state_dict(made, options=StateDictOptions(ignore_frozen_params=True))
    assert list(trained) == [name for name in PLAIN if name != "0.bias"]
    assert list(get_model_state_dict(made, submodules={made[0]})) == PLAIN[:2]
    inner = StateDictOptions(keep_submodule_prefixes=False)
    assert list(get_model_state_dict(made, submodules={made[0]}, options=inner)) == ["weight", "bias"]


def test_what_was_got_is_set():
    made, other = model(), model()
    state = get_model_state_dict(other)
    assert str(set_model_state_dict(made, state)) == "<All keys matched successfully>"
    assert all(map(torch.equal, made.state_dict().values(), other.state_dict().values()))
    state["more"] = torch.ones(1)
    with pytest.raises(RuntimeError, match='Unexpected key.* "more"'):
        set_model_state_dict(made, state)
    assert set_model_state_dict(made, state, options=StateDictOptions(strict=False)).unexpected_keys == ["more"]
    assert set_model_state_dict(made, {}).missing_keys == list(made.state_dict())
    with pytest.raises(ValueError, match="full_state_dict must be True when broadcast_from_rank0 is True"):
        set_model_state_dict(made, state, options=StateDictOptions(broadcast_from_rank0=True))


def of_rank_0(rank, size, path):
    join(rank, size, path)
    torch.manual_seed(rank)
    made = model()
    wrapped = torch.nn.parallel.DistributedDataParallel(made)
    given = {name: torch.full_like(value, rank) for name, value in get_model_state_dict(wrapped).items()}
    assert list(given) == PLAIN
    set_model_state_dict(wrapped, given if rank == 0 else {},
                         options=StateDictOptions(full_state_dict=True, broadcast_from_rank0=True))
    assert all((value == 0).all() for value in made.state_dict().values())
    kept = get_model_state_dict(wrapped, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
    assert list(kept) == ([] if rank else PLAIN)
    dist.destroy_process_group()


@pytest.mark.skipif(not dist.is_available(), reason="the engine gloo is not built")
def test_all_set_what_rank_0_was_given():
    ranks.run(of_rank_0, 2)
