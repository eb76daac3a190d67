// Package process says whether the trainer's process lives.
package process
