// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import org.HdrHistogram.Histogram;

/**
 * One pass of a job over records in memory: what its sources emit and what its sinks have seen. The
 * engines run in this process, so that sources and sinks find the run in {@link #current}.
 *
 * <p>The clock starts when every source stands ready, and stops when the last sink has taken the
 * last result: neither the deployment of a job nor what is left in its queues is forgotten or
 * counted. Methods may be called by any thread.
 */
public final class Run<T> {
    /** How the records are emitted. */
    public record Plan(boolean once, long durationNs, double ratePerSecond, boolean spins,
            double pace) {
        /** Each record once, in the order of the input. */
        public static Plan onePass() {
            return new Plan(true, 0, 0, false, 0);
        }

        /** Again and again for so long: as fast as they are taken, or with a rate, open loop. */
        public static Plan replay(long durationNs, double ratePerSecond, boolean spins) {
            return new Plan(false, durationNs, ratePerSecond, spins, 0);
        }

        /** Each record once, `pace` seconds of the input a second, open loop. */
        public static Plan paced(double pace, boolean spins) {
            return new Plan(false, 0, 0, spins, pace);
        }

        /** Records are due at a time: latencies are measured. */
        public boolean measures() {
            return ratePerSecond > 0 || pace > 0;
        }
    }

    /** Makes a record of a later round out of the one of the first, as where times go on. */
    public interface Again<T> {
        T of(T record, long round);
    }

    /** The source that replays a record, where it is not the next one. */
    public interface Spread<T> {
        int source(T record, long number, int sources);
    }

    /** What a pace needs: times, and how a record is multiplied. */
    public interface Pace<T> {
        double seconds(T record);

        int copies();

        /** Copies are numbered from 0. */
        T copy(T record, int copy);
    }

    private static volatile Run<?> current;

    private final Object[] records;
    private final Again<T> again;
    private final Spread<T> spread;
    private final Pace<T> pace;
    private final Plan plan;
    private final int sources;
    private final CountDownLatch ready;
    private final CountDownLatch started = new CountDownLatch(1);
    private volatile long startNs;
    private long endNs;
    private long startCpuNs;
    private long endCpuNs;
    private long emitted;
    private long results;
    private int sinksEnded;
    private final Histogram latencies = new Histogram(2);
    private final List<String> rows = new ArrayList<>();

    public Run(List<T> records, Again<T> again, Plan plan, int sources) {
        this(records, again, (record, number, count) -> (int) (number % count), null, plan,
                sources);
    }

    /** The pace may be null where the plan has none. */
    public Run(List<T> records, Again<T> again, Spread<T> spread, Pace<T> pace, Plan plan,
            int sources) {
        if (records.size() < sources) throw new PeerException("the input has too few records");
        this.records = records.toArray();
        this.again = again;
        this.spread = spread;
        this.pace = pace;
        this.plan = plan;
        this.sources = sources;
        ready = new CountDownLatch(sources);
        current = this;
    }

    /** The run that was made last. */
    @SuppressWarnings("unchecked")
    public static <T> Run<T> current() {
        return (Run<T>) current;
    }

    public Plan plan() {
        return plan;
    }

    /** What the source of this index, from 0, emits. */
    public Share<T> share(int source) {
        int[] numbers = new int[records.length];
        int own = 0;
        for (int i = 0; i < records.length; ++i) {
            @SuppressWarnings("unchecked")
            T record = (T) records[i];
            boolean all = plan.pace() > 0 || sources == 1;
            if (all || spread.source(record, i, sources) == source) numbers[own++] = i;
        }
        Object[] share = new Object[own];
        for (int i = 0; i < own; ++i) share[i] = records[numbers[i]];
        return new Share<>(this, share, Arrays.copyOf(numbers, own), source);
    }

    /** Records of a round. */
    int count() {
        return records.length;
    }

    int sources() {
        return sources;
    }

    Pace<T> pace() {
        return pace;
    }

    T again(T record, long round) {
        return again.of(record, round);
    }

    /** Waits until every source has called it; the time of the start. */
    long awaitStart() throws InterruptedException {
        ready.countDown();
        ready.await();
        synchronized (this) {
            if (started.getCount() > 0) {
                startCpuNs = cpuNs();
                startNs = System.nanoTime();
                started.countDown();
            }
        }
        return startNs;
    }

    /** Of all threads of the process, the collector's included. */
    private static long cpuNs() {
        var system = ManagementFactory.getOperatingSystemMXBean();
        return ((com.sun.management.OperatingSystemMXBean) system).getProcessCpuTime();
    }

    synchronized void sourceEnded(long records) {
        emitted += records;
    }

    /** Called once by each sink at its end. Either may be null where it is not wanted. */
    public synchronized void sinkEnded(long count, Histogram latenciesNs, List<String> newRows) {
        results += count;
        if (latenciesNs != null) latencies.add(latenciesNs);
        if (newRows != null) rows.addAll(newRows);
        endNs = System.nanoTime();
        endCpuNs = cpuNs();
        ++sinksEnded;
        notifyAll();
    }

    /** For engines whose jobs do not end by themselves. */
    public synchronized void awaitSinks(int sinks) throws InterruptedException {
        while (sinksEnded < sinks) wait();
    }

    public synchronized List<String> rows() {
        return rows;
    }

    /** What was measured, as one line of JSON; the members before `records` are the caller's. */
    public synchronized String json(String before) {
        double seconds = (endNs - startNs) * 1e-9;
        StringBuilder json = new StringBuilder("{").append(before);
        json.append(String.format(Locale.ROOT,
                ",\"records\":%d,\"results\":%d,\"seconds\":%.6f,\"cpu_seconds\":%.3f"
                        + ",\"records_per_second\":%.1f",
                emitted, results, seconds, (endCpuNs - startCpuNs) * 1e-9, emitted / seconds));
        if (plan.durationNs() > 0) {
            json.append(String.format(Locale.ROOT, ",\"source_records_per_second\":%.1f",
                    emitted / (plan.durationNs() * 1e-9)));
        }
        if (latencies.getTotalCount() > 0) {
            json.append(",\"latency_us\":{");
            for (double percentile : new double[] {5, 25, 50, 75, 95, 99, 99.9}) {
                json.append(String.format(Locale.ROOT, "\"%s\":%.1f,",
                        percentile % 1 == 0 ? (int) percentile + "" : percentile + "",
                        latencies.getValueAtPercentile(percentile) * 1e-3));
            }
            json.append(String.format(Locale.ROOT, "\"max\":%.1f}",
                    latencies.getMaxValue() * 1e-3));
        }
        return json.append('}').toString();
    }
}
