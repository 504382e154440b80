// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.linearroad;

import org.apache.flink.api.java.tuple.Tuple6;

/**
 * A row of the output: kind, time, subject, detail, amount; and the timestamp of what it answers,
 * which Flink would not keep behind a timer.
 */
@SuppressWarnings("unchecked") // Tuple.copy
public class Answer extends Tuple6<Byte, Integer, Integer, Integer, Long, Long> {
    public static final byte TOLL = 0;
    public static final byte ACCIDENT = 1;
    public static final byte BALANCE = 2;
    public static final byte EXPENDITURE = 3;

    /** Seconds; the time of the record that is answered. */
    public int time() {
        return f1;
    }

    public long timestamp() {
        return f5;
    }

    /** The answer as a line, given at that second of the input's clock. */
    public String row(String emitted) {
        switch (f0) {
            case TOLL:
                return "0," + f2 + "," + f1 + "," + emitted + "," + f3 + "," + f4;
            case ACCIDENT:
                return "1," + f1 + "," + emitted + "," + f2 + "," + f3;
            case BALANCE:
                return "2," + f1 + "," + emitted + "," + f3 + "," + f2 + "," + f4;
            default:
                return "3," + f1 + "," + emitted + "," + f2 + "," + f4;
        }
    }

    /** The answer as a line where the input's time is the only clock. */
    public String row() {
        return row(Integer.toString(f1));
    }
}
