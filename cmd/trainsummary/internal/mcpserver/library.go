package mcpserver

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/answer"
	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/follow"
	"github.com/pathologize/otelcol-train/internal/trainview"
)

// Library is the runs below the roots. It reads what is appended, when it is asked.
type Library struct {
	asker answer.Asker

	mu      sync.Mutex
	session *follow.Session
	grown   map[*follow.Run]time.Time
	looked  bool
}

// NewLibrary gives the runs of a session.
func NewLibrary(session *follow.Session, asker answer.Asker) *Library {
	return &Library{asker: asker, session: session, grown: map[*follow.Run]time.Time{}}
}

// look reads what came since. The caller holds the lock.
func (l *Library) look() {
	l.session.Look()
	for _, r := range l.session.Runs() {
		if r.Changed && l.looked {
			l.grown[r] = time.Now()
		}
		r.Changed = false
	}
	l.looked = true
}

// find gives the run that an id or a ref names. The caller holds the lock.
func (l *Library) find(name string) (*follow.Run, error) {
	for _, s := range l.session.Streams() {
		if s.Ref.Path != name && trainview.Safe(s.Ref.Path, maxRef) != name {
			continue
		}
		if r := s.Whose(); r != nil {
			return r, nil
		}
		return nil, errors.New("several runs are in this stream; use the id or ref of list_runs")
	}
	var byID []*follow.Run
	for _, r := range l.session.Runs() {
		if r.Is(name) {
			byID = append(byID, r)
		}
	}
	switch len(byID) {
	case 1:
		return byID[0], nil
	case 0:
		return nil, errors.New("no run has this id or ref; call list_runs for those there are, and use ref where a row has one")
	default:
		return nil, fmt.Errorf("%d runs have this id; use the ref of list_runs", len(byID))
	}
}

// maxRef is what a list shows of a path.
const maxRef = 200

func (l *Library) ask(r *follow.Run) *trainview.Summary {
	s := l.asker.Ask(r, l.grown[r])
	s.Document.Fit()
	return s
}

// summary makes the document of a run after a look.
func (l *Library) summary(name string) (*trainview.Summary, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.look()
	r, err := l.find(name)
	if err != nil && l.session.Find() { // it may have begun since
		l.look()
		r, err = l.find(name)
	}
	if err != nil {
		return nil, err
	}
	return l.ask(r), nil
}
