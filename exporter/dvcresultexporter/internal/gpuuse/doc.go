// Package gpuuse joins what a DCGM exporter measures to training runs: a reading counts for the runs that worked in its pod, or on its
// host, at its time. It knows no clock and no disk; times are those of records and of scrapes, in Unix nanoseconds.
package gpuuse
