package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/answer"
	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/mcpserver"
	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/source"
)

func mcpCommand(version string, errs io.Writer) *cobra.Command {
	var roots, artifacts, profiles []string
	c := &cobra.Command{
		Use: "mcp --root DIR...", Short: "Answer agents over the Model Context Protocol, on stdin and stdout",
		Long: "mcp serves four tools that read: list_runs, summarize_run, get_metric and wait_for_run. It sees the runs below the roots, and nothing else.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if len(roots) == 0 {
				return usage("name the folder that holds the runs: --root runs", "no root is named")
			}
			asker := answer.Asker{Now: time.Now}
			for _, dir := range roots {
				if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
					return unreadable("name a folder that is there", "--root: %s is no folder", dir)
				}
			}
			for _, dir := range artifacts {
				abs, err := source.Abs(dir)
				if err != nil {
					return err
				}
				asker.ArtifactRoots = append(asker.ArtifactRoots, abs)
			}
			session, err := openSession(roots, profiles)
			if err != nil {
				return err
			}
			logger := slog.New(slog.NewTextHandler(errs, &slog.HandlerOptions{Level: slog.LevelWarn}))
			for _, fault := range unseen(asker.ArtifactRoots) {
				logger.Warn("Checkpoints cannot be looked at", "error", fault)
			}
			err = mcpserver.Run(c.Context(), mcpserver.New(mcpserver.NewLibrary(session, asker), version, logger), os.Stdin, os.Stdout)
			if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		},
	}
	c.Flags().StringSliceVar(&roots, "root", nil, "`DIR` below which streams are read")
	c.Flags().StringSliceVar(&artifacts, "artifact-root", nil, "`DIR` below which checkpoints may be looked at, beside the streams' own")
	registerProfiles(c.Flags(), &profiles)
	return c
}
