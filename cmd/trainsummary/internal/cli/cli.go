package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/pathologize/otelcol-train/internal/trainview"
)

const long = `trainsummary reads the JSON Lines of training runs, whatever the framework, and says how they go: alive or not and why, which epoch is
complete, whether the metrics move the right way, which checkpoint is best, why the run stopped. It needs no Collector and no network,
and writes nothing but its answer.

PATH is a stream, FOLDER is searched for *.jsonl, *.jsonl.gz and *.ndjson. One run gives a document, several give a list.`

const exits = `
Exit codes: 0 answered, or the condition was met; 1 cannot read; 2 usage; 10 failed, 11 aborted, 12 stalled, 13 unknown, 14 finished before the
condition was met (while waiting, or with --exit-state); 20 some inputs unreadable, the rest answered; 124 timeout, the run still lives or has not begun.`

const examples = `  trainsummary runs/run-7/train.jsonl
  trainsummary runs
  trainsummary --wait-for ended,warning --timeout 1h runs/run-7/train.jsonl
  trainsummary --format html runs/run-7 > run-7.html`

// Main runs the command and gives its exit code.
func Main(ctx context.Context, version string, args []string, out, errs io.Writer) int {
	io := newStreams(out, errs)
	code := exitOK
	root := newCommand(version, io, &code)
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	if err := root.ExecuteContext(ctx); err != nil {
		report(errs, err, wantsJSON(args, io.terminal))
		return asFault(err).exit
	}
	return code
}

// wantsJSON says how an error is written when the flags may not be readable.
func wantsJSON(args []string, terminal bool) bool {
	for i, a := range args {
		if a == "--json" || a == "--format=json" || a == "--format" && i+1 < len(args) && args[i+1] == formatJSON {
			return true
		}
		if strings.HasPrefix(a, "--format") {
			return false
		}
	}
	return !terminal
}

func newStreams(out, errs io.Writer) streams {
	s := streams{out: out, err: errs}
	_, _, s.terminal = s.size()
	plain := os.Getenv("TERM") == "dumb"
	_, grey := os.LookupEnv("NO_COLOR")
	s.colour, s.screen = s.terminal && !grey && !plain, s.terminal && !plain
	return s
}

// leastWidth is that of a terminal that is too narrow for anything.
const leastWidth = 20

// size is that of the terminal; what is none is 100 wide.
func (s *streams) size() (width, height int, terminal bool) {
	f, ok := s.out.(*os.File)
	if !ok {
		return 100, 0, false
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	switch {
	case err != nil:
		return 100, 0, false
	case size.Col == 0:
		return 100, int(size.Row), true
	default:
		return max(int(size.Col), leastWidth), int(size.Row), true
	}
}

func newCommand(version string, s streams, code *int) *cobra.Command {
	var f flags
	root := &cobra.Command{
		Use: "trainsummary [flags] PATH|FOLDER|GLOB...", Short: "One JSON document that says how a training run goes",
		Long: long + "\n" + exits, Example: examples, Version: version, SilenceErrors: true, SilenceUsage: true, DisableAutoGenTag: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("name a stream, such as runs/run-7/train.jsonl", "no stream is named")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) (err error) {
			r, err := f.read(s.terminal)
			if err != nil {
				return err
			}
			*code, err = r.answer(c.Context(), s, args)
			return err
		},
	}
	f.register(root)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage("see trainsummary --help", "%s", err) })
	root.CompletionOptions.HiddenDefaultCmd = false
	root.AddCommand(mcpCommand(version, s.err), schemaCommand(s), rulesCommand(s), manCommand(s))
	return root
}

func rulesCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use: "rules", Short: "Print the constants that verdicts rest on", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return write(s.out, trainview.Rules()) },
	}
}

func schemaCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use: "schema [list]", Short: "Print the JSON Schema of the output", ValidArgs: []string{"list"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && !slices.Contains([]string{"list"}, args[0]) {
				return usage("use trainsummary schema, or trainsummary schema list", "no schema is called %q", strings.Join(args, " "))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return write(s.out, trainview.ListSchema())
			}
			return write(s.out, trainview.DocumentSchema())
		},
	}
}

func write(w io.Writer, v any) error {
	b, err := trainview.Encode(v)
	if err != nil {
		return err
	}
	return put(w, b)
}

// put writes an answer. Nobody reads on: that is no fault of the answer.
func put(w io.Writer, b []byte) error {
	_, err := w.Write(b)
	if errors.Is(err, unix.EPIPE) {
		return nil
	}
	return err
}
