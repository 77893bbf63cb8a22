// All of torch.distributed that there is, but for objects (group/objects.h, which needs
// nlohmann-json).
#pragma once

#include "taeda/distributed/cluster/progress.h"
#include "taeda/distributed/cluster/spawn.h"
#include "taeda/distributed/ddp/comm_hooks.h"
#include "taeda/distributed/ddp/distributed_data_parallel.h"
#include "taeda/distributed/ddp/power_sgd.h"
#include "taeda/distributed/group/collectives.h"
#include "taeda/distributed/group/device_mesh.h"
#include "taeda/distributed/group/flight_recorder.h"
#include "taeda/distributed/group/process_group.h"
#include "taeda/distributed/join.h"
#include "taeda/distributed/pipeline/schedules.h"
#include "taeda/distributed/rendezvous.h"
#include "taeda/distributed/sampler.h"
#include "taeda/distributed/store/file_store.h"
#include "taeda/distributed/store/hash_store.h"
#include "taeda/distributed/store/prefix_store.h"
#include "taeda/distributed/store/store.h"
#include "taeda/distributed/store/tcp_store.h"
#include "taeda/distributed/sync_batch_norm.h"
#include "taeda/distributed/zero/zero_redundancy_optimizer.h"
