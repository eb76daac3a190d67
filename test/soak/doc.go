// Package soak runs the host's whole configuration under a load for as long as it is told, make soak: live runs, a DCGM exporter with eight
// GPUs, OTLP metrics, and a backend that fails every other minute. No result may lack anything, and memory must be flat.
package soak
