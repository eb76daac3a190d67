// Package faults has the points at which a test lets the process die. Without the build tag faults they are nothing.
package faults
