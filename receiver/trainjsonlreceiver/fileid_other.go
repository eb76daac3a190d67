//go:build !linux

package trainjsonlreceiver

import "os"

func born(*os.File) int64 { return 0 }

func bornAt(string) int64 { return 0 }
