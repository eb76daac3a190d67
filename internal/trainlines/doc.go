// Package trainlines turns a line of a stream into what is on it: launchers' prefixes are taken off, objects that writers glued
// together come apart, NUL bytes and UTF-16 are named. Whoever reads streams uses it, so that all see the same records.
package trainlines
