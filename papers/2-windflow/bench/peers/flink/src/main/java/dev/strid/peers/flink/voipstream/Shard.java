// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.voipstream;

/** All that is kept of a shard: the state behind a key. */
public class Shard {
    private static final int PERIOD = 32; // decay times
    private static final long NONE = Long.MIN_VALUE;
    private static final double SCALE = Math.exp(-PERIOD);

    /** Where the sums of one decay time are, and what an event weighs there. */
    public static class Decay {
        public int seconds;
        public long period = NONE;
        public long now = NONE; // of the weight below
        public double weightNow;

        public Decay() {}

        Decay(int seconds) {
            this.seconds = seconds;
        }

        /** How many periods have passed since the last call. */
        long advance(long now) {
            if (now == this.now) return 0;
            long next = now / (PERIOD * (long) seconds);
            long passed = period == NONE ? 0 : next - period;
            period = next;
            this.now = now;
            weightNow = growth(now);
            return passed;
        }

        double weight(long when) {
            return when == now ? weightNow : growth(when);
        }

        private double growth(long when) {
            return Math.exp((double) (when - period * PERIOD * seconds) / seconds);
        }
    }

    public Decay shortDecay;
    public Decay longDecay;
    public Counts received;
    public Counts calls;
    public Counts fresh;
    public Counts talk;
    public Counts day;
    public Pairs pairs;

    public Shard() {}

    Shard(Settings settings) {
        int lines = (settings.numbers() + 31) / 32;
        shortDecay = new Decay(settings.shortSeconds());
        longDecay = new Decay(settings.longSeconds());
        received = new Counts(lines);
        calls = new Counts(lines);
        fresh = new Counts(lines);
        talk = new Counts(lines);
        day = new Counts(lines);
        pairs = new Pairs((settings.pairs() + 2559) / 2560);
    }

    /** Before anything of a call at `now` is looked at. */
    void advance(long now) {
        for (long i = shortDecay.advance(now); i > 0; --i) {
            received.scaleDown(SCALE);
            calls.scaleDown(SCALE);
            fresh.scaleDown(SCALE);
        }
        for (long i = longDecay.advance(now); i > 0; --i) {
            talk.scaleDown(SCALE);
            day.scaleDown(SCALE);
        }
    }
}
