package cli

import (
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/follow"
)

func registerProfiles(fs *pflag.FlagSet, to *[]string) {
	fs.StringArrayVar(to, "profile", nil, "`NAME` of the framework's profile, instead of recognising it, or a FILE.yaml with a further profile; both may be given")
}

// openSession follows the streams that arguments name.
func openSession(args, profiles []string) (*follow.Session, error) {
	p, err := profilesOf(profiles)
	if err != nil {
		return nil, err
	}
	s, err := follow.Open(args, p)
	if err != nil {
		return nil, profileFault(err)
	}
	return s, nil
}

// profilesOf tells files from names: a name has neither a folder nor an ending.
func profilesOf(given []string) (p follow.Profiles, err error) {
	for _, v := range given {
		switch ext := filepath.Ext(v); {
		case ext == ".yaml" || ext == ".yml" || strings.ContainsRune(v, filepath.Separator):
			p.Files = append(p.Files, v)
		case p.Framework != "" && p.Framework != v:
			return p, usage("name one, and give files with their folder or ending", "--profile: %q and %q cannot both be that of every row", p.Framework, v)
		default:
			p.Framework = v
		}
	}
	return p, nil
}

func profileFault(err error) error {
	return usage("see docs/frameworks for the names, internal/trainprofile/README.md for files", "--profile: %s", err)
}
