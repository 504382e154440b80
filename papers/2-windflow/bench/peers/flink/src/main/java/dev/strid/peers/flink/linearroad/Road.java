// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.linearroad;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.TypeInfo;

/**
 * The state of one direction of an expressway: rules 1 to 10 of linear-road/README.md. A POJO
 * of maps, arrays and numbers, so that Flink can serialize it without Kryo.
 */
public class Road {
    static final int SEGMENTS = 100;
    static final int NO_ACCIDENT = -1;

    private static final long UNIT = 2520; // of speeds: a mile an hour
    private static final long VELOCITY_OF_TOLL = 40 * UNIT;
    private static final int MINUTES_OF_SILENCE = 2;
    private static final int MINUTES_OF_VELOCITY = 5;
    private static final int SEGMENTS_AHEAD = 5; // with that of the car
    private static final int CARS_WITHOUT_TOLL = 50;
    private static final int REPORTS_OF_STOP = 4;
    private static final int EXIT_LANE = 4;
    private static final long UNKNOWN = -1;
    private static final int SWEEP_LEAST = 1024;

    /** A car and its trip. */
    public static class Car {
        public int minute; // of the last report
        public int position;
        public byte lane;
        public byte segment;
        public byte repeats; // reports from here, up to those of a stop
        public int speeds; // of the visit: their sum
        public int reports; // of the visit
        public long pending; // the toll

        long mean() {
            return UNIT * speeds / reports;
        }
    }

    /** What a report sets off. */
    interface Teller {
        void charge(int car, int time, long toll);

        void toll(int car, int time, int velocity, long toll);

        void accident(int car, int time, int segment);
    }

    public int minute = -1; // the running one
    public int sweepAt = SWEEP_LEAST; // cars

    @TypeInfo(StateTypes.Cars.class)
    public Map<Integer, Car> cars = new HashMap<>();

    @TypeInfo(StateTypes.Flags.class)
    public Map<Integer, Boolean> stopped = new HashMap<>(); // the keys count

    @TypeInfo(StateTypes.Counts.class)
    public Map<Long, Integer> stoppedAt = new HashMap<>(); // how many, by place

    // Of the segments, in the running minute.
    public long[] speeds = new long[SEGMENTS];
    public int[] visits = new int[SEGMENTS];
    public boolean[] accidents = new boolean[SEGMENTS]; // at its start

    // Of the segments, in the minutes before: the averages in a ring.
    public int[] visitsBefore = new int[SEGMENTS];
    public long[][] averages = new long[MINUTES_OF_VELOCITY][SEGMENTS];

    // The notification of a car that enters the segment in the running minute.
    public int[] velocities = new int[SEGMENTS];
    public long[] tolls = new long[SEGMENTS];
    public int[] accidentsAhead = new int[SEGMENTS];

    /** Takes a report in. Times do not go back. */
    void report(Event event, Teller teller) {
        int now = event.time() / 60;
        if (now != minute) goTo(now, event.direction() == 0);
        int segment = event.segment();
        byte lane = event.lane();
        int position = event.position();
        Integer number = event.f1;
        Car car = cars.get(number);
        boolean goesOn = car != null && now - car.minute <= MINUTES_OF_SILENCE;
        boolean stays = goesOn && car.segment == segment;
        if (car == null) {
            car = new Car();
            cars.put(number, car);
        }
        if (stays && car.minute == now) {
            speeds[segment] -= car.mean();
            car.speeds += event.speed();
            ++car.reports;
        } else {
            car.speeds = event.speed();
            car.reports = 1;
            ++visits[segment];
        }
        speeds[segment] += car.mean();
        if (stays && car.position == position && car.lane == lane) {
            if (car.repeats < REPORTS_OF_STOP && ++car.repeats == REPORTS_OF_STOP) {
                stop(number, car);
            }
        } else {
            if (goesOn && car.repeats == REPORTS_OF_STOP) go(number, car);
            car.repeats = 1;
        }
        car.minute = now;
        car.position = position;
        car.lane = lane;
        if (stays) return;
        if (goesOn && car.pending > 0) {
            teller.charge(event.car(), event.time(), car.pending);
        }
        car.segment = (byte) segment;
        car.pending = 0;
        if (lane == EXIT_LANE) return;
        car.pending = tolls[segment];
        teller.toll(event.car(), event.time(), velocities[segment], car.pending);
        if (accidentsAhead[segment] != NO_ACCIDENT) {
            teller.accident(event.car(), event.time(), accidentsAhead[segment]);
        }
    }

    private static long placeOf(Car car) {
        return (long) car.lane << 40 | (long) car.segment << 32 | car.position;
    }

    private void stop(Integer number, Car car) {
        stopped.put(number, true);
        stoppedAt.merge(placeOf(car), 1, Integer::sum);
    }

    private void go(Integer number, Car car) {
        stopped.remove(number);
        leavePlace(car);
    }

    private void leavePlace(Car car) {
        stoppedAt.computeIfPresent(placeOf(car), (place, n) -> n == 1 ? null : n - 1);
    }

    private void goTo(int now, boolean segmentsGrow) {
        if (minute < 0 || now - minute > MINUTES_OF_VELOCITY + 1) {
            forgetTraffic();
            minute = now;
        }
        while (minute < now) {
            beginMinute(minute + 1);
        }
        tellSegments(segmentsGrow);
        if (cars.size() >= sweepAt) {
            cars.values().removeIf(car -> now - car.minute > MINUTES_OF_SILENCE);
            sweepAt = Math.max(SWEEP_LEAST, 2 * cars.size());
        }
    }

    private void forgetTraffic() {
        Arrays.fill(speeds, 0);
        Arrays.fill(visits, 0);
        Arrays.fill(accidents, false);
        Arrays.fill(visitsBefore, 0);
        for (long[] minutes : averages) {
            Arrays.fill(minutes, UNKNOWN);
        }
        stopped.clear();
        stoppedAt.clear();
    }

    private void beginMinute(int next) {
        long[] average = averages[minute % MINUTES_OF_VELOCITY];
        for (int i = 0; i < SEGMENTS; ++i) {
            average[i] = visits[i] == 0 ? UNKNOWN : speeds[i] / visits[i];
        }
        System.arraycopy(visits, 0, visitsBefore, 0, SEGMENTS);
        Arrays.fill(speeds, 0);
        Arrays.fill(visits, 0);
        Arrays.fill(accidents, false);
        minute = next;
        for (Iterator<Integer> at = stopped.keySet().iterator(); at.hasNext(); ) {
            Car car = cars.get(at.next());
            if (next - car.minute > MINUTES_OF_SILENCE) {
                at.remove();
                leavePlace(car);
            }
        }
        for (Map.Entry<Long, Integer> place : stoppedAt.entrySet()) {
            if (place.getValue() >= 2) {
                accidents[(int) (place.getKey() >> 32 & 0xff)] = true;
            }
        }
    }

    private void tellSegments(boolean segmentsGrow) {
        for (int segment = 0; segment < SEGMENTS; ++segment) {
            int accident = NO_ACCIDENT;
            for (int i = 0; i < SEGMENTS_AHEAD && accident == NO_ACCIDENT; ++i) {
                int ahead = segmentsGrow ? segment + i : segment - i;
                if (ahead >= 0 && ahead < SEGMENTS && accidents[ahead]) {
                    accident = ahead;
                }
            }
            accidentsAhead[segment] = accident;
            long sum = 0;
            long known = 0;
            for (long[] average : averages) {
                if (average[segment] != UNKNOWN) {
                    sum += average[segment];
                    ++known;
                }
            }
            long velocity = known == 0 ? 0 : sum / known;
            velocities[segment] = (int) (velocity / UNIT);
            long above = visitsBefore[segment] - CARS_WITHOUT_TOLL;
            boolean pays = velocity < VELOCITY_OF_TOLL && above > 0 && accident == NO_ACCIDENT;
            tolls[segment] = pays ? 2 * above * above : 0;
        }
    }
}
