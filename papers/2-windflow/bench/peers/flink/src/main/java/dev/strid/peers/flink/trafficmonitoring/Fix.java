// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.trafficmonitoring;

/** Where a vehicle was. */
public class Fix {
    public double latitude; // degrees, WGS 84
    public double longitude;
    public double speed; // km/h
    public double bearing; // degrees, clockwise from north; without a meaning at speed 0

    public Fix() {}

    Fix(double latitude, double longitude, double speed, double bearing) {
        this.latitude = within("latitude", latitude, -90, 90);
        this.longitude = within("longitude", longitude, -180, 180);
        this.speed = within("speed", speed, 0, 1000);
        this.bearing = within("bearing", bearing, 0, 360);
    }

    private static double within(String name, double value, double least, double most) {
        if (value >= least && value <= most) return value;
        throw new IllegalArgumentException(
                name + " " + value + " is not between " + least + " and " + most);
    }
}
