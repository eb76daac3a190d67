// Package e2e holds the tests on the built binary: every promise to a user has one here.
package e2e
