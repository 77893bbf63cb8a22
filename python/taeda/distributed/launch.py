"""python -m torch.distributed.launch: the old name of torchrun; programs read LOCAL_RANK instead of --local-rank."""

import sys

from .run import main

if __name__ == "__main__":
    main([a for a in sys.argv[1:] if a not in ("--use-env", "--use_env")])
