package policy

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"time"

	"github.com/pathologize/otelcol-train/internal/componentkit"
)

// Result is what became of a look at a source.
type Result uint8

// Results.
const (
	Unchanged Result = iota
	Applied
	Invalid     // what was there is no policy; the one before stays
	Unreachable // nothing could be read; the one before stays
	Unsettled   // another content than at the look before: somebody may be writing it, the next look decides
)

// ResultNames are the results as an operator reads them.
var ResultNames = [...]string{"unchanged", "applied", "invalid", "unreachable", "unsettled"}

// Source is where a policy comes from while the guard runs: a file, or an address of http or https. It belongs to one goroutine.
type Source struct {
	name string
	read func(context.Context) (text []byte, unchanged bool, err error)
	hash [sha256.Size]byte
	seen bool
	lost string // the last error of reading that was told

	settles bool // a content counts when two looks see it
	looked  bool
	draft   [sha256.Size]byte // what the last look saw
}

// File is a policy in a file. What a look finds at the start counts at once; later, a new content counts when the next look sees the same, since a file
// that is written in place is a shorter policy before it is whole.
func File(name string) *Source { return fileBy(name, readFile) }

func fileBy(name string, read func(string) ([]byte, error)) *Source {
	var calls componentkit.Hangs[content]
	return &Source{name: name, settles: true, read: func(ctx context.Context) ([]byte, bool, error) {
		text, err := readBy(ctx, &calls, name, read)
		return text, false, err
	}}
}

// content is what reading a file gave.
type content struct {
	text []byte
	err  error
}

func readBy(ctx context.Context, calls *componentkit.Hangs[content], name string, read func(string) ([]byte, error)) ([]byte, error) {
	got, err := calls.Do(ctx, requestTimeout, func() content {
		text, err := read(name)
		return content{text, err}
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return got.text, got.err
}

// unfit is an error of what was there: it is no policy, and will be none until it is another thing.
type unfit struct{ error }

func readFile(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a pipe would wait for somebody who writes to it
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, unfit{fmt.Errorf("%s: want a regular file", name)}
	}
	return bounded(name, f)
}

func bounded(name string, r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err == nil && len(text) > maxSize {
		err = unfit{fmt.Errorf("%s: larger than %d bytes", name, maxSize)}
	}
	return text, err
}

// Bounds of a request, and of a file.
const (
	requestTimeout = 10 * time.Second
	maxRedirects   = 5
)

// URL is a policy that a server gives. A server that knows ETag is asked for changes only. An address may not lead from https to http.
func URL(address string) *Source {
	client := &http.Client{
		Timeout: requestTimeout,
		// A transport of its own, without idle connections: a look is seldom, and shut down leaves nothing behind.
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, MaxResponseHeaderBytes: 1 << 16},
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects || (via[0].URL.Scheme == "https" && next.URL.Scheme != "https") {
				return errors.New("redirected too often, or from https to http")
			}
			return nil
		},
	}
	etag := ""
	return &Source{name: redacted(address), read: func(ctx context.Context) ([]byte, bool, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, false, err
		}
		if etag != "" {
			req.Header.Set("If-None-Match", etag)
		}
		res, err := client.Do(req)
		if err != nil {
			return nil, false, err
		}
		defer func() { _ = res.Body.Close() }()
		switch res.StatusCode {
		case http.StatusNotModified:
			if etag == "" {
				return nil, false, fmt.Errorf("%s: got status 304 (not modified) without having asked for changes only; want 200 and the policy", redacted(address))
			}
			return nil, true, nil
		case http.StatusOK:
		default:
			return nil, false, fmt.Errorf("%s: want status 200 or 304, got %d", redacted(address), res.StatusCode)
		}
		text, err := bounded(redacted(address), res.Body)
		if err == nil {
			etag = res.Header.Get("ETag")
		}
		return text, false, err
	}}
}

// Look reads the source. It gives a policy only when the content changed and is valid. The error of an invalid content is given once, and that of
// an unreachable source once until it is reached or fails otherwise: later looks give the result alone.
func (s *Source) Look(ctx context.Context) (*Policy, Result, error) {
	text, unchanged, err := s.read(ctx)
	if err != nil {
		return s.failed(err)
	}
	s.lost = ""
	hash := sha256.Sum256(text)
	settled := !s.settles || !s.looked || hash == s.draft
	s.looked, s.draft = true, hash
	switch {
	case unchanged || (s.seen && hash == s.hash):
		return nil, Unchanged, nil
	case !settled:
		return nil, Unsettled, nil
	}
	s.seen, s.hash = true, hash
	p, err := Parse(s.name, text)
	if err != nil {
		return nil, Invalid, err
	}
	return p, Applied, nil
}

func (s *Source) failed(err error) (*Policy, Result, error) {
	told := s.lost == err.Error()
	s.lost, s.looked, s.draft = err.Error(), true, [sha256.Size]byte{}
	if !errors.As(err, &unfit{}) {
		if told {
			err = nil
		}
		return nil, Unreachable, err
	}
	if told {
		return nil, Unchanged, nil
	}
	s.seen = false // so that it is told when a policy is there again
	return nil, Invalid, err
}

// redacted is an address without its password.
func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "policy_url"
	}
	return u.Redacted()
}

// Check says what is wrong with the policy in a file.
func Check(file string) error {
	text, err := readBy(context.Background(), &componentkit.Hangs[content]{}, file, readFile)
	if err != nil {
		return err
	}
	_, err = Parse(file, text)
	return err
}
