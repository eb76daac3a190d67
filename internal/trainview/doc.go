// Package trainview says how a training run goes: a pure function of what its records prove (trainrun), of when they came
// (Trail) and of what else is known at one moment (Evidence). It does no I/O, reads no clock and knows no framework. The
// document that it makes answers an agent: is the run alive, which epoch completed, do the metrics move the right way, which
// checkpoint is best, why did it stop.
package trainview
