package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"text/tabwriter"
	"time"
)

// result is what the table needs of a result.json.
type result struct {
	RunID       string `json:"run_id"`
	Outcome     string `json:"outcome"`
	StopReason  string `json:"stop_reason"`
	Provisional bool   `json:"provisional"`
	Epochs      struct {
		Planned   *int `json:"planned"`
		Completed *int `json:"completed"`
	} `json:"epochs"`
	Best *struct {
		Metric string          `json:"metric"`
		Value  json.RawMessage `json:"value"`
		Step   *int            `json:"step"`
	} `json:"best"`
	Source struct {
		Framework struct {
			Name string `json:"name"`
		} `json:"framework"`
	} `json:"source"`
}

// row is one line of the table.
type row struct {
	result
	path string
}

// waitForResults waits until every run has the outcome that its stream proves.
func waitForResults(ctx context.Context, dir string, runs []demoRun) ([]row, error) {
	ctx, cancel := context.WithTimeout(ctx, resultWait)
	defer cancel()
	rows := make([]row, len(runs))
	for i, r := range runs {
		path := filepath.Join(dir, r.id, "result.json")
		for {
			got, err := readResult(path)
			if err == nil && got.Outcome == r.outcome && got.StopReason == r.reason {
				rows[i] = row{result: got, path: path}
				break
			}
			if waitErr := pause(ctx, 100*time.Millisecond); waitErr != nil {
				if err == nil {
					err = fmt.Errorf("outcome %q, stop reason %q", got.Outcome, got.StopReason)
				}
				return nil, fmt.Errorf("run %s: want outcome %q, stop reason %q within %s: %w", r.id, r.outcome, r.reason, resultWait, err)
			}
		}
		fmt.Printf("  %-18s %s\n", r.id, r.outcome)
	}
	return rows, nil
}

func readResult(path string) (result, error) {
	var r result
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return r, errors.New("no result yet")
	}
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(b, &r)
}

func printTable(out io.Writer, rows []row) {
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tFRAMEWORK\tEPOCHS\tBEST\tOUTCOME\tRESULT")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.RunID, dash(r.Source.Framework.Name), r.epochs(), r.best(), r.outcome(), rel(r.path))
	}
	_ = w.Flush()
}

func (r row) epochs() string {
	if r.Epochs.Completed == nil {
		return "-"
	}
	text := strconv.Itoa(*r.Epochs.Completed)
	if r.Epochs.Planned != nil {
		text += " of " + strconv.Itoa(*r.Epochs.Planned)
	}
	return text
}

func (r row) best() string {
	if r.Best == nil {
		return "-"
	}
	text := r.Best.Metric + " " + string(r.Best.Value)
	if r.Best.Step != nil {
		text += " at " + strconv.Itoa(*r.Best.Step)
	}
	return text
}

func (r row) outcome() string {
	switch {
	case r.Provisional:
		return r.Outcome + ", provisional"
	case r.StopReason != "":
		return r.Outcome + ", " + r.StopReason
	default:
		return r.Outcome
	}
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
