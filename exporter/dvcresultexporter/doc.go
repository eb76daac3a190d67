// Package dvcresultexporter is dvc_result: it folds the records of training runs and writes each run's result, with the
// metrics, parameters and plots that DVC reads, once the run is over. It never fails its pipeline for the results' sake:
// a record is acknowledged when the state holds it, and writing is asynchronous and repeated.
package dvcresultexporter
