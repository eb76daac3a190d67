package resultfile

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

const (
	maxSlug       = 40
	maxDirHexSize = 12

	maxSideHexSize = 8
)

var (
	plainRunID  = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]{0,78}[a-z0-9])?$`)
	derivedName = regexp.MustCompile(`-[0-9a-f]{12}$`)
	// devices of Windows, and files of DVC, which refuses a folder of such a name as an output
	takenName = regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)|^dvc\.yaml$|\.dvc$`)
)

// RunDirectory gives the directory name of a run: the id itself when it is harmless on every file system and to DVC, else a readable
// slug and 12 hex digits of the id's sha256. Distinct ids have distinct names, all lower-case ASCII. An empty id has none.
func RunDirectory(id string) string {
	if id == "" {
		return ""
	}
	if plainRunID.MatchString(id) && !strings.Contains(id, "..") && !derivedName.MatchString(id) && !takenName.MatchString(id) {
		return id
	}
	return slug(id) + "-" + hash(id, maxDirHexSize)
}

// SideDirectory gives the directory name of a host that wrote a run at the same time as the host which owns it and has the run's
// directory.
func SideDirectory(dir, host string) string { return dir + "-" + hash(host, maxSideHexSize) }

// IsPlain says whether a text is a directory name as those of runs are.
func IsPlain(name string) bool { return name != "" && RunDirectory(name) == name }

// slug keeps the letters and digits of an id and puts one hyphen for any run of others.
func slug(id string) string {
	b := make([]byte, 0, maxSlug)
	for i := 0; i < len(id) && len(b) < maxSlug; i++ {
		c := id[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' {
			b = append(b, c)
		} else if len(b) > 0 && b[len(b)-1] != '-' {
			b = append(b, '-')
		}
	}
	s := strings.Trim(string(b), "-_")
	if s == "" {
		return "run"
	}
	return s
}

// hash gives the first digits of the sha256 of a text.
func hash(s string, digits int) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:digits]
}
