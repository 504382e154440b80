// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.storm;

import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Values;

/**
 * The streams between the components. Storm's topologies do not end: the end of the input travels
 * on a stream of its own to every replica behind, after the records of the same sender.
 */
final class Streams {
    static final String RECORDS = "records";
    static final String END = "end";
    static final String KEY = "key";

    private Streams() {}

    static void declare(OutputFieldsDeclarer declarer) {
        declarer.declareStream(RECORDS, new Fields(KEY, "record", "due"));
        declarer.declareStream(END, new Fields("none"));
    }

    /** A record for the stage that comes next, or for the sink where there is none. */
    @SuppressWarnings("unchecked")
    static Values record(Stage<?, ?> next, Object record, Long dueNs) {
        Object key = next == null ? null : ((Stage<Object, Object>) next).key(record);
        return new Values(key, record, dueNs);
    }
}
