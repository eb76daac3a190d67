// Package scripts runs the scripts that a verdict rests on, .ci/run among them, in folders of its own: what fails must be seen failing, and named.
package scripts
