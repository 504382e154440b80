// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink;

import dev.strid.peers.Options;
import dev.strid.peers.Run;
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

    /**
     * The same where results come by several ways: a sink is chained to each, which it is not to
     * their union.
     */
    default List<DataStream<R>> branches(DataStream<T> records, Options options) {
        return List.of(build(records, options));
    }

    /** A result as the row that `strid run` writes. */
    String row(R result);

    /** The record in a later round (from 1) of the replay: where records have times, with a new one. */
    default T again(T record, long round) {
        return record;
    }

    /** How many sources there are where records are replayed. */
    default int sources(int parallelism) {
        return parallelism;
    }

    /** The source, from 0, that replays the record of that number. */
    default int source(T record, long number, int sources) {
        return (int) (number % sources);
    }

    /** How the records are replayed by their own times; null: they have none. */
    default Run.Pace<T> pace(Options options) {
        return null;
    }

    /** When the cause of a result was due, where its timestamp does not say so. */
    default long dueNs(R result, long timestamp) {
        return timestamp;
    }

    /** Latencies can be measured, as no timestamps are assigned on the way. */
    default boolean keepsTimestamps() {
        return true;
    }
}
