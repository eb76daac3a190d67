package summary

import (
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// browser finds Chromium; CHROMIUM names it when it is somewhere else.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && name != "" {
			return path
		}
	}
	t.Skip("NOT TESTED: the page in a browser; install chromium, or set CHROMIUM")
	return ""
}

// TestThePageInABrowser opens it in both colour schemes, wide and narrow. SUMMARY_SCREENSHOTS names a folder that keeps the pictures.
func TestThePageInABrowser(t *testing.T) {
	t.Parallel()
	chromium := browser(t)
	dir := t.TempDir()
	stream := filepath.Join(dir, "train.jsonl")
	appendLine(t, stream, `{"ts":1790000000,"event":"run.start","run_id":"r<b>","body":{"planned_epochs":20}}`)
	for i := range 12 {
		v := fmt.Sprint(float64(20-i) / 20)
		if i == 5 {
			v = "NaN"
		}
		appendLine(t, stream, fmt.Sprintf(`{"ts":%d,"event":"epoch.end","run_id":"r<b>","body":{"epoch":%d,"measurements":{"val/loss":%s,"train/loss":%s,"val/acc":0.%d}}}`, 1790000001+i, i, v, v, 10+i))
	}
	page := run(t, "--format", "html", stream).out
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.Path)
		mu.Unlock()
		if r.URL.Path != "/page.html" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(page)) // the browser may be gone
	}))
	defer server.Close()
	keep := os.Getenv("SUMMARY_SCREENSHOTS")
	if keep == "" {
		keep = dir
	}
	for _, scheme := range []string{"1", "0"} { // light, dark
		for _, width := range []int{360, 1200} {
			shot := filepath.Join(keep, fmt.Sprintf("page-%s-%d.png", map[string]string{"1": "light", "0": "dark"}[scheme], width))
			img := pictureOf(t, chromium, server.URL+"/page.html", shot, scheme, width)
			r, _, _, _ := img.At(2, 2).RGBA()
			assert.Equal(t, scheme == "1", r > 0x8000, "the background follows the scheme")
			assert.Equal(t, width, img.Bounds().Dx())
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for _, path := range asked {
		assert.Contains(t, []string{"/page.html", "/favicon.ico"}, path)
	}
}

// pictureOf opens a page in a window and gives what is to be seen. Nothing may be said on its console.
func pictureOf(t *testing.T, chromium, url, shot, scheme string, width int) image.Image {
	t.Helper()
	c := exec.CommandContext(t.Context(), chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--disable-background-networking", "--enable-logging=stderr", "--user-data-dir="+t.TempDir(), "--blink-settings=preferredColorScheme="+scheme,
		fmt.Sprintf("--window-size=%d,1600", width), "--screenshot="+shot, "--timeout=20000", url)
	c.WaitDelay = 10 * time.Second
	text, err := c.CombinedOutput()
	require.NoError(t, err, string(text))
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "CONSOLE") && !strings.Contains(line, "favicon.ico") { // the browser's own wish
			t.Error(line)
		}
	}
	f, err := os.Open(shot)
	require.NoError(t, err)
	img, err := png.Decode(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return img
}
