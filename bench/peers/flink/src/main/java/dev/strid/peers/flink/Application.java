// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink;

import dev.strid.peers.Options;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;

/**
 * One of our applications as a Flink job. A new one is a class like {@link SpikeDetection}, a line
 * in {@link Applications} and an entry of applications.py.
 *
 * @param <T> the records that are kept in memory and replayed: a POJO, a tuple or a String. A
 *     record is emitted many times, so that a job must not change it
 * @param <R> the results; POJOs, too: serializers by reflection (Kryo) are switched off
 */
public interface Application<T, R> extends Serializable {
    /** As `strid run` calls it. */
    String name();

    TypeInformation<T> recordType();

    /** Reads and parses the whole input, before the clock starts. */
    List<T> read(Path input, Options options);

    /**
     * The job between source and sink, which are added by {@link Main}. For latencies, the
     * timestamp of a result must be the one of the record that caused it: Flink's functions pass it
     * on, only assigned times and timers change it.
     */
    DataStream<R> build(DataStream<T> records, Options options);

    /** A result as the row that `strid run` writes. */
    String row(R result);

    /** The record in a later round (from 1) of the replay: where records have times, with a new one. */
    default T again(T record, long round) {
        return record;
    }

    /** Latencies can be measured, as no timestamps are assigned on the way. */
    default boolean keepsTimestamps() {
        return true;
    }
}
