"""torch.utils.model_zoo: the former name of what fetches weights."""

from ..hub import load_state_dict_from_url

load_url = load_state_dict_from_url

__all__ = ["load_state_dict_from_url", "load_url"]
