// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.storm;

import java.io.Serializable;
import java.util.function.Consumer;

/** What one bolt does; each replica has a copy. */
interface Stage<I, O> extends Serializable {
    /** What records are grouped by on the way here; null: by nothing. */
    default Object key(I record) {
        return null;
    }

    void process(I record, Consumer<O> output);

    /** Called once when the input is over. */
    default void end(Consumer<O> output) {}
}
