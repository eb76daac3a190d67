package resultfile

import (
	"strconv"
	"strings"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/digest"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// NamedFile is a file or folder that a run named.
type NamedFile struct {
	Role, Path string
	Key        string // tells it apart from what is at the path at another time
	SHA256     string // as reported
	Size       *int64
	checkpoint *trainrun.Checkpoint
}

// Files lists the best and the last checkpoint and the files that the run named, as many as a result holds.
func Files(st *trainrun.State) []NamedFile {
	out := listFiles(st)
	return out[:min(len(out), maxArtifacts)]
}

func listFiles(st *trainrun.State) []NamedFile {
	var out []NamedFile
	seen := map[[2]string]bool{}
	add := func(f NamedFile, key ...string) {
		if seen[[2]string{f.Role, f.Path}] {
			return
		}
		seen[[2]string{f.Role, f.Path}] = true
		f.Key = strings.Join(append(key, f.SHA256, f.Path), " ")
		out = append(out, f)
	}
	checkpoints := []*trainrun.Checkpoint{st.Checkpoints.Best, st.Checkpoints.Last}
	if st.Best != nil {
		checkpoints = append([]*trainrun.Checkpoint{st.Best.Checkpoint}, checkpoints...)
	}
	for _, c := range checkpoints {
		if c == nil || c.Path == "" {
			continue
		}
		add(NamedFile{Role: roleOf(c, st.Checkpoints), Path: c.Path, SHA256: c.SHA256, Size: c.Size, checkpoint: c},
			strconv.FormatInt(c.Attempt, 10), strconv.FormatInt(c.At, 10), number(c.Epoch), number(c.Step))
	}
	for _, a := range st.Artifacts {
		add(NamedFile{Role: a.Role, Path: a.Path, SHA256: a.SHA256, Size: a.Size}, number(a.Size))
	}
	return out
}

func number(v *int64) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatInt(*v, 10)
}

// artifactObjects lists the files with the digests that the run told, or that were computed.
func artifactObjects(st *trainrun.State, digests map[string]digest.Digest) []item {
	files := listFiles(st)
	out := make([]item, 0, len(files))
	for i := range files {
		f := &files[i]
		o := object{}
		put(o, "role", f.Role)
		put(o, "path", f.Path)
		put(o, "sha256", f.SHA256)
		put(o, "size", f.Size)
		if c := f.checkpoint; c != nil {
			put(o, "epoch", c.Epoch)
			put(o, "step", c.Step)
		}
		if f.SHA256 != "" {
			o["source"] = "reported"
		}
		if d, ok := digests[f.Key]; ok {
			f.digested(o, d)
		}
		out = append(out, item{f.Role + "\x00" + f.Path, o})
	}
	return out
}

// digested puts what was computed in the place of what was told; a digest that is another one than the run told stays beside it.
func (f *NamedFile) digested(o object, d digest.Digest) {
	o["status"] = string(d.Status)
	if d.Status != digest.OK {
		return
	}
	if f.SHA256 != "" && !strings.EqualFold(f.SHA256, d.SHA256) {
		put(o, "reported_sha256", f.SHA256)
	}
	o["source"], o["kind"], o["size"], o["sha256"], o["md5"] = "computed", d.Kind, d.Size, d.SHA256, d.MD5
	if d.Kind == digest.Folder {
		o["files"] = d.Files
	}
}
