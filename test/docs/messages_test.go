package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// loggers are the calls that write a warning or an error into the log, the components' own among them.
var loggers = map[string]bool{"Warn": true, "Error": true, "warn": true, "say": true, "lose": true}

// warnings are what our components write into the log at warn and error: the literals with which a message begins, by the file.
func warnings(t *testing.T) map[string]string {
	t.Helper()
	top, found := collector.Root(t), map[string]string{}
	for _, folder := range []string{"receiver", "processor", "exporter", "connector", "internal/componentkit"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(top, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				name, ok := call.Fun.(*ast.SelectorExpr)
				if !ok || !loggers[name.Sel.Name] {
					return true
				}
				for _, arg := range call.Args {
					if text := sentence(arg); text != "" {
						found[text] = strings.TrimPrefix(path, top+"/")
					}
				}
				return true
			})
			return nil
		}))
	}
	return found
}

// sentence is the text with which an argument begins, if that is a message.
func sentence(arg ast.Expr) string {
	for {
		sum, ok := arg.(*ast.BinaryExpr)
		if !ok {
			break
		}
		arg = sum.X
	}
	literal, ok := arg.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(literal.Value)
	if err != nil || !strings.Contains(text, " ") || !unicode.IsUpper([]rune(text)[0]) {
		return ""
	}
	return strings.TrimRight(text, " :.")
}

// TestEachMessageOfTheLogSaysWhatToDo on its page, and the page has none that the log has not.
func TestEachMessageOfTheLogSaysWhatToDo(t *testing.T) {
	t.Parallel()
	logged := warnings(t)
	require.Greater(t, len(logged), 60)
	var rows []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \| ([^|]+) \| \[`).FindAllStringSubmatch(pages(t)["docs/log-messages.md"], -1) {
		rows = append(rows, row[1])
		assert.NotEmpty(t, logged[row[1]], "the log has no message %q", row[1])
	}
	for text, file := range logged {
		assert.Contains(t, rows, text, "docs/log-messages.md has no row for a message of %s", file)
	}
}
