// Package trainrecord is the vocabulary of training records: the registry of names and value sets, the strict decoder of
// JSON Lines, the identity of a record and its form as an OpenTelemetry log record. It contains no component code.
package trainrecord
