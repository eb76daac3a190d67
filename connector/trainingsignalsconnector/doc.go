// Package trainingsignalsconnector is the training_signals connector: it derives bounded metrics and the spans of a run from
// training records, so that any trainer's stream gives them without code in the trainer. What happens to runs, and what is
// counted once, internal/trainrun says (Live); here are the series and their times, the spans, flushing and storage.
package trainingsignalsconnector
