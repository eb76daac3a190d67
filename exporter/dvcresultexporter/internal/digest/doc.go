// Package digest computes digests of the files and folders that runs name, slowly and in the background, and touches nothing but regular
// files below the folders that an operator allowed.
package digest
