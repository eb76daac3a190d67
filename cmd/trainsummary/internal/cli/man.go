package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func manCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "Print the manual page", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			root := *c.Root()
			root.Long = strings.TrimSpace(root.Long)
			return doc.GenMan(&root, &doc.GenManHeader{Title: "TRAINSUMMARY", Section: "1", Source: "otelcol-train", Manual: "User commands"}, s.out)
		},
	}
}
