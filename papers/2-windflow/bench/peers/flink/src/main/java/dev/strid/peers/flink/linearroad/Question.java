// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.linearroad;

import org.apache.flink.api.java.tuple.Tuple4;

/** A question for a balance: car, time in seconds, number of the question, timestamp. */
@SuppressWarnings("unchecked") // Tuple.copy
public class Question extends Tuple4<Integer, Integer, Integer, Long> {
    public int car() {
        return f0;
    }

    public int time() {
        return f1;
    }

    public int query() {
        return f2;
    }

    public long timestamp() {
        return f3;
    }
}
