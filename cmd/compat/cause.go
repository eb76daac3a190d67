package main

import (
	"errors"
	"io/fs"
	"net/url"
	"os/exec"
)

// cause is what went wrong, without the call and the name that the caller tells in its own words.
func cause(err error) error {
	var path *fs.PathError
	var program *exec.Error
	var address *url.Error
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &program):
		return program.Err
	case errors.As(err, &address):
		return address.Err
	}
	return err
}
