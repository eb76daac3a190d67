// Package source finds streams and opens them: regular files below the folders that were named, and nothing else.
package source
