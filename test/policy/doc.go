// Package policy gives the built binary its policy from one place, a web server, and takes that away.
package policy
