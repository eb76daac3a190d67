package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/answer"
	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/condition"
	"github.com/pathologize/otelcol-train/internal/trainrun"
	"github.com/pathologize/otelcol-train/internal/trainview"
)

type listInput struct {
	State string `json:"state,omitempty"`
	Limit int    `json:"limit,omitempty"`
}

func (l *Library) list(_ context.Context, _ *mcp.CallToolRequest, in listInput) (any, error) {
	if in.State != "" && !slices.Contains(trainview.States(), in.State) {
		return nil, fmt.Errorf("state: want one of %s", strings.Join(trainview.States(), ", "))
	}
	if in.Limit < 0 || in.Limit > trainview.MaxListed {
		return nil, fmt.Errorf("limit: want 1 to %d", trainview.MaxListed)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.look()
	var entries []trainview.Entry
	for _, r := range l.session.Runs() {
		if s := l.asker.Ask(r, l.grown[r]); in.State == "" || s.Document.State == in.State {
			entries = append(entries, answer.Entry(r, s))
		}
	}
	return trainview.NewList(l.asker.Now(), entries, in.Limit), nil
}

type runInput struct {
	Run string `json:"run"`
}

func (l *Library) summarize(_ context.Context, _ *mcp.CallToolRequest, in runInput) (any, error) {
	s, err := l.summary(in.Run)
	if err != nil {
		return nil, err
	}
	return s.Document, nil
}

const (
	defaultPoints = 50
	maxPoints     = 200
)

type metricInput struct {
	Run       string `json:"run"`
	Metric    string `json:"metric"`
	Axis      string `json:"axis,omitempty"`
	MaxPoints int    `json:"max_points,omitempty"`
	From      *int64 `json:"from,omitempty"`
	To        *int64 `json:"to,omitempty"`
}

// curve is the answer of get_metric.
type curve struct {
	Metric  string   `json:"metric"`
	Part    string   `json:"part,omitempty"`
	Axis    string   `json:"axis"`
	Others  []string `json:"other_axes,omitempty"` // on which the part has a curve of the same name
	Total   int      `json:"total"`
	Omitted int      `json:"omitted"`
	Points  [][2]any `json:"points"`
}

func metricSchema() map[string]any {
	integer, text := map[string]any{"type": "integer"}, map[string]any{"type": "string"}
	told := map[string]any{"type": "string", "x-untrusted": true}
	point := map[string]any{"type": "array", "items": map[string]any{"type": []string{"number", "string"}}}
	return map[string]any{
		"type": "object", "required": []string{"metric", "axis", "total", "omitted", "points"},
		"properties": map[string]any{
			"metric": told, "part": told, "axis": text, "other_axes": map[string]any{"type": "array", "items": text}, "total": integer, "omitted": integer,
			"points": map[string]any{"type": "array", "items": point},
		},
	}
}

func (l *Library) metric(_ context.Context, _ *mcp.CallToolRequest, in metricInput) (any, error) {
	most := in.MaxPoints
	if most == 0 {
		most = defaultPoints
	}
	if most < 4 || most > maxPoints {
		return nil, fmt.Errorf("max_points: want 4 to %d", maxPoints)
	}
	sum, err := l.summary(in.Run)
	if err != nil {
		return nil, err
	}
	s, err := named(sum.State, in.Metric, in.Axis)
	if err != nil {
		return nil, err
	}
	out := curve{Metric: trainview.Safe(s.Name, maxMetric), Part: trainview.Safe(s.Part, maxMetric), Axis: s.Axis.String(), Points: [][2]any{}}
	for i := range sum.State.Series {
		if o := &sum.State.Series[i]; o != s && o.Part == s.Part && o.Name == s.Name {
			out.Others = append(out.Others, o.Axis.String())
		}
	}
	var within []trainrun.Point
	for _, p := range s.Points {
		if (in.From == nil || p.X >= *in.From) && (in.To == nil || p.X <= *in.To) {
			within = append(within, p)
		}
	}
	for _, p := range trainview.Sample(within, most) {
		out.Points = append(out.Points, [2]any{p.X, trainview.Number(p.V)})
	}
	out.Total, out.Omitted = len(within), len(within)-len(out.Points)
	return out, nil
}

const (
	defaultWait = 50
	maxWait     = 600
	waitLook    = time.Second
)

type waitInput struct {
	Run      string `json:"run"`
	Until    string `json:"until"`
	TimeoutS int    `json:"timeout_s,omitempty"`
}

func (l *Library) wait(ctx context.Context, req *mcp.CallToolRequest, in waitInput) (any, error) {
	conditions, err := condition.Parse(in.Until)
	if err != nil {
		return nil, fmt.Errorf("until: %w", err)
	}
	limit := in.TimeoutS
	if limit == 0 {
		limit = defaultWait
	}
	if limit < 0 || limit > maxWait {
		return nil, fmt.Errorf("timeout_s: want 1 to %d", maxWait)
	}
	began := time.Now()
	end := began.Add(time.Duration(limit) * time.Second)
	var start *condition.Start
	for {
		sum, err := l.summary(in.Run)
		if err != nil {
			return nil, err
		}
		d := sum.Document
		if start == nil {
			first := condition.Of(d)
			start = &first
		}
		d.Wait = &trainview.Wait{WaitedS: int64(time.Since(began) / time.Second)}
		if text, met := condition.First(conditions, d, *start); met {
			d.Wait.Condition, d.Wait.Met = &text, true
			return fitted(d), nil
		}
		left := time.Until(end)
		if left <= 0 || condition.Ended(d) || condition.Lost(d) || d.State == trainview.Stalled {
			return fitted(d), nil
		}
		notify(ctx, req, d)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(min(left, waitLook)):
		}
	}
}

func fitted(d *trainview.Document) *trainview.Document {
	d.Fit()
	return d
}

// notify tells how far the run is, when the client wants to hear of it.
func notify(ctx context.Context, req *mcp.CallToolRequest, d *trainview.Document) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return
	}
	n := &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(d.Wait.WaitedS), Message: d.State}
	_ = req.Session.NotifyProgress(ctx, n) // a client that is gone cancels the wait
}
