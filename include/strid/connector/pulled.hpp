// SPDX-License-Identifier: Apache-2.0
//
// The common part of sources made of a program's own code: a coroutine (connector/generator.hpp) or
// a function that returns the next record (connector/callback.hpp).
//
// Each replica has a copy of the function. It may take a `const Context&`, a `std::stop_token`, or
// both in this order. A stop of the run requests a stop of the token, for functions that wait. With
// the option `blocks` such a source has a thread of its own.
//
// State. The engine knows of a program's own code what the contract of functions has it name
// (operator/contract.hpp). A function that returns records goes on in another source if its state
// is known: by `state()`, by being made of plain values that its call changes, or by the trait
// `.stateless` where its records come from elsewhere and the next call returns the next one. Any
// other, and each coroutine, has a place that cannot be named: a source of it throws an Error at
// Restored, and never emits from the first record on in place of going on.
//
// Threads: a replica's function is used by one thread at a time; a stop comes from any.
#pragma once

namespace strid {

/// Options of `from_generator` and `from_callback`.
struct PulledOptions {
    /// The function or the coroutine may wait: its source has a thread of its own, each record is
    /// passed on before the next is asked for (some microseconds: a source that has many at once is
    /// better a class with `poll`), and reports count its own time as waiting for input.
    bool blocks = false;
};

}  // namespace strid
