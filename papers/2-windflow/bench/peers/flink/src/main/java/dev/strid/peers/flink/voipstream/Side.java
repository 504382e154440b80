// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.voipstream;

import org.apache.flink.api.java.tuple.Tuple8;

/**
 * What a call is to the shard of one of its two numbers: shard, whether it is that of the caller,
 * calling, called, start, duration, now, mean duration of all calls. One type for both sides, as
 * the order between them decides the answer and two streams would lose it.
 */
@SuppressWarnings("unchecked") // Tuple.copy
public class Side extends Tuple8<Byte, Boolean, Long, Long, Long, Integer, Long, Double> {
    public int shard() {
        return f0;
    }

    public boolean isOfCaller() {
        return f1;
    }

    public long calling() {
        return f2;
    }

    public long called() {
        return f3;
    }

    public long start() {
        return f4;
    }

    public int duration() {
        return f5;
    }

    public long now() {
        return f6;
    }

    public double mean() {
        return f7;
    }
}
