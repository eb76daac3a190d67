package kubernetes

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// laid makes the folders of a node that has none, as the kubelet does, and runs the init containers of the DaemonSet on them.
func laid(t *testing.T, pod corev1.PodSpec) map[string]string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: the folders of a node: changing their owner needs root")
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755)) //nolint:gosec // other users pass through
	folders := map[string]string{}
	for _, volume := range pod.Volumes {
		if host := volume.HostPath; host != nil && host.Type != nil && *host.Type == corev1.HostPathDirectoryOrCreate {
			folders[volume.Name] = filepath.Join(dir, volume.Name)
			require.NoError(t, os.Mkdir(folders[volume.Name], 0o755)) //nolint:gosec // as the kubelet does
			require.NoError(t, os.Chmod(folders[volume.Name], 0o755)) //nolint:gosec // whatever the umask
			require.NoError(t, os.Lchown(folders[volume.Name], 0, 0)) // the test's own group may be another
		}
	}
	own(t, pod, folders)
	return folders
}

// own runs the commands of the init containers with the folders in the place of their mounts.
func own(t *testing.T, pod corev1.PodSpec, folders map[string]string) {
	t.Helper()
	for _, c := range pod.InitContainers {
		var places []string
		for _, mount := range c.VolumeMounts {
			require.Contains(t, folders, mount.Name)
			places = append(places, mount.MountPath, folders[mount.Name])
		}
		var command []string
		for _, word := range append(slices.Clone(c.Command), c.Args...) {
			command = append(command, strings.NewReplacer(places...).Replace(word))
		}
		out, err := exec.Command(command[0], command[1:]...).CombinedOutput() //nolint:gosec // the manifest's
		require.NoError(t, err, string(out))
	}
}

// writes says whether a user may make a file in a folder.
func writes(user, group int64, folder string) bool {
	cmd := exec.Command("mkdir", filepath.Join(folder, "made"))                                                                        //nolint:gosec // the test's own
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(user), Gid: uint32(group), NoSetGroups: false}} //nolint:gosec // ids of the manifest
	return cmd.Run() == nil
}

// TestOnANodeWithoutFoldersCollectorAndTrainerWriteTheirs: the manifests as they are shipped.
func TestOnANodeWithoutFoldersCollectorAndTrainerWriteTheirs(t *testing.T) {
	t.Parallel()
	pod := only[*appsv1.DaemonSet](t, "daemonset.yaml").Spec.Template.Spec
	folders := laid(t, pod)
	user, group := *pod.SecurityContext.RunAsUser, *pod.SecurityContext.RunAsGroup
	assert.True(t, writes(user, group, folders["results"]))
	assert.True(t, writes(user, group, folders["state"]))
	assert.False(t, writes(user, group, folders["runs"]), "it only reads the runs")
	trainer := only[*batchv1.Job](t, "job.yaml").Spec.Template.Spec.SecurityContext
	assert.True(t, writes(*trainer.RunAsUser, *trainer.RunAsGroup, folders["runs"]), "the Job cannot write its stream")
}

// TestRunsThatBelongToSomebodyStayTheirs: a folder that was there is not given away.
func TestRunsThatBelongToSomebodyStayTheirs(t *testing.T) {
	t.Parallel()
	pod := only[*appsv1.DaemonSet](t, "daemonset.yaml").Spec.Template.Spec
	folders := laid(t, pod)
	require.NoError(t, os.Chown(folders["runs"], 4711, 4712))
	own(t, pod, folders)
	info, err := os.Stat(folders["runs"])
	require.NoError(t, err)
	stat, ok := info.Sys().(*syscall.Stat_t)
	require.True(t, ok)
	assert.Equal(t, []uint32{4711, 4712}, []uint32{stat.Uid, stat.Gid})
}
