// SPDX-License-Identifier: Apache-2.0
//
// Functions by key with timers (window/timers.hpp) whose state may be larger than memory
// (operator/stored_keys.hpp). `key_by(key, keep_in_memory(...)).process<U>(f)` needs this header;
// <strid/rocksdb/rocksdb.hpp> includes it.
//
// The functions of the keys that were not used for long are in the store. The timers that are
// pending stay in memory, each with its key: 40 bytes for a timer, and about 100 for its key.
//
// Threads: only the task of the node.
#pragma once

#include <strid/engine/window/operators/stored_process.hpp>
#include <strid/operator/stored_keys.hpp>
