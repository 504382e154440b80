// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.storm;

import dev.strid.peers.Options;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.List;

/** One of our applications as a chain of bolts between a spout and a sink. */
interface Application<T> extends Serializable {
    /** As `strid run` calls it. */
    String name();

    /** Reads and parses the whole input, before the clock starts. */
    List<T> read(Path input, Options options);

    /** The bolts in their order; the first takes records, the last gives results. */
    List<Stage<?, ?>> stages(Options options);

    /** The first bolt wants records grouped by its key. */
    default boolean keyedFirst() {
        return true;
    }

    /** A result as the row that `strid run` writes. */
    String row(Object result);
}
