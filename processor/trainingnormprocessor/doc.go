// Package trainingnormprocessor turns what training frameworks write into records of the vocabulary, by the profiles of
// internal/trainprofile, and keeps what identifies a run on log records and spans instead of on their resource. It never
// fails because of data: what no profile understands passes on unchanged, counted.
package trainingnormprocessor
