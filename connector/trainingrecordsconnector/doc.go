// Package trainingrecordsconnector is the training_records connector: it makes training records of the gauges in which
// trainers export their learning curves. Which gauges those are and how they form rows, profiles say (internal/trainprofile,
// which has the engine too); the connector feeds it, hands its records on and takes them back when nobody took them.
package trainingrecordsconnector
