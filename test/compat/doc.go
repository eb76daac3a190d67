// Package compat holds the configurations of existing GPU hosts and clusters, composed anew, and the verdict of this binary on each.
package compat
