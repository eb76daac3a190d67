package kubernetes

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/markdown"
)

// strict refuses fields that a type does not have.
var strict = serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()

// split gives the documents of a manifest.
func split(t *testing.T, manifest []byte) [][]byte {
	t.Helper()
	var out [][]byte
	decoder := yaml.NewDecoder(bytes.NewReader(manifest))
	for {
		var node yaml.Node
		err := decoder.Decode(&node)
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(t, err)
		text, err := yaml.Marshal(&node)
		require.NoError(t, err)
		out = append(out, text)
	}
}

func manifest(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(collector.Root(t), "packaging", "kubernetes", name)) //nolint:gosec // a file of this repository
	require.NoError(t, err)
	return text
}

func objects(t *testing.T, name string) []runtime.Object {
	t.Helper()
	var out []runtime.Object
	for _, text := range split(t, manifest(t, name)) {
		object, _, err := strict.Decode(text, nil, nil)
		require.NoError(t, err, string(text))
		out = append(out, object)
	}
	return out
}

func only[T runtime.Object](t *testing.T, name string) T {
	t.Helper()
	var found []T
	for _, object := range objects(t, name) {
		if o, ok := object.(T); ok {
			found = append(found, o)
		}
	}
	require.Len(t, found, 1)
	return found[0]
}

func TestManifestsAreOfTheApisTypes(t *testing.T) {
	t.Parallel()
	var kinds []string
	for _, name := range []string{"daemonset.yaml", "job.yaml"} {
		for _, object := range objects(t, name) {
			kinds = append(kinds, object.GetObjectKind().GroupVersionKind().Kind)
		}
	}
	assert.Equal(t, []string{"Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "ConfigMap", "DaemonSet", "Job"}, kinds)
}

func TestTheDecoderSeesMistakes(t *testing.T) {
	t.Parallel()
	for old, mistake := range map[string]string{"nodeSelector:": "nodeSelectr:", "terminationGracePeriodSeconds: 40": "terminationGracePeriodSeconds: soon"} {
		text := strings.Replace(string(manifest(t, "daemonset.yaml")), old, mistake, 1)
		failed := false
		for _, one := range split(t, []byte(text)) {
			_, _, err := strict.Decode(one, nil, nil)
			failed = failed || err != nil
		}
		assert.True(t, failed, mistake)
	}
}

// TestThePodMayNothingThatItDoesNotNeed: no root, no capability, a root file system that it cannot write.
func TestThePodMayNothingThatItDoesNotNeed(t *testing.T) {
	t.Parallel()
	pod := only[*appsv1.DaemonSet](t, "daemonset.yaml").Spec.Template.Spec
	assert.True(t, *pod.SecurityContext.RunAsNonRoot)
	assert.EqualValues(t, 10001, *pod.SecurityContext.RunAsUser)
	for _, c := range append(slices.Clone(pod.Containers), pod.InitContainers...) {
		assert.True(t, *c.SecurityContext.ReadOnlyRootFilesystem, c.Name)
		assert.False(t, *c.SecurityContext.AllowPrivilegeEscalation, c.Name)
		assert.Equal(t, []corev1.Capability{"ALL"}, c.SecurityContext.Capabilities.Drop, c.Name)
	}
	read := []string{"get", "list", "watch"}
	assert.Equal(t, []rbacv1.PolicyRule{ // ADR 086: no nodes/proxy, no nodes/stats
		{APIGroups: []string{""}, Resources: []string{"pods", "namespaces", "nodes"}, Verbs: read},
		{APIGroups: []string{"apps"}, Resources: []string{"replicasets"}, Verbs: read},
		{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, Verbs: read},
	}, only[*rbacv1.ClusterRole](t, "daemonset.yaml").Rules)
	for _, mount := range pod.Containers[0].VolumeMounts {
		if !slices.Contains([]string{"results", "state"}, mount.Name) {
			assert.True(t, mount.ReadOnly, mount.Name)
		}
	}
}

// TestTheNamespaceAdmitsThePod: folders and ports of the node are more than the level baseline of pod security admits, which clusters may have for
// namespaces that say nothing.
func TestTheNamespaceAdmitsThePod(t *testing.T) {
	t.Parallel()
	pod := only[*appsv1.DaemonSet](t, "daemonset.yaml").Spec.Template.Spec
	ofNode := slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.HostPath != nil })
	require.True(t, ofNode)
	assert.Equal(t, "privileged", only[*corev1.Namespace](t, "daemonset.yaml").Labels["pod-security.kubernetes.io/enforce"])
}

// TestWhatThePodIsToldIsRead: its variables by the configurations, and its ports answer on its address.
func TestWhatThePodIsToldIsRead(t *testing.T) {
	t.Parallel()
	c := only[*appsv1.DaemonSet](t, "daemonset.yaml").Spec.Template.Spec.Containers[0]
	read := ""
	for _, name := range []string{"host-training.yaml", filepath.Join("overlays", "kubernetes.yaml")} {
		text, err := os.ReadFile(collector.Shipped(t, name)) //nolint:gosec // a file of this repository
		require.NoError(t, err)
		read += string(text)
	}
	told := map[string]string{}
	for _, e := range c.Env {
		told[e.Name] = e.Value
		read += e.Value
	}
	for name := range told {
		used := strings.Contains(read, "${env:"+name) || strings.Contains(read, "$("+name+")") || name == "GOMEMLIMIT"
		assert.True(t, used, name)
	}
	listens := map[string]string{"otlp": told["OTLP_ENDPOINT"], "health": told["HEALTH_ENDPOINT"], "metrics": told["METRICS_HOST"] + ":8888"}
	assert.Len(t, c.Ports, len(listens))
	for _, port := range c.Ports {
		assert.Equal(t, fmt.Sprintf("0.0.0.0:%d", port.ContainerPort), listens[port.Name], port.Name)
	}
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe} {
		assert.Equal(t, "health", probe.HTTPGet.Port.StrVal)
	}
}

// TestThePodIsOfTheVersionOfTheManifest: builder-config.yaml is the only other place of it, and what make image gives the image for a tag.
func TestThePodIsOfTheVersionOfTheManifest(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(collector.Root(t), "builder-config.yaml"))
	require.NoError(t, err)
	var build struct {
		Dist struct{ Version string }
	}
	require.NoError(t, yaml.Unmarshal(text, &build))
	assert.Equal(t, "otelcol-train:"+build.Dist.Version, only[*appsv1.DaemonSet](t, "daemonset.yaml").Spec.Template.Spec.Containers[0].Image)
}

// TestNamesAgree: what the API server does not check, or only when it is too late.
func TestNamesAgree(t *testing.T) {
	t.Parallel()
	ds := only[*appsv1.DaemonSet](t, "daemonset.yaml")
	assert.Equal(t, ds.Spec.Selector.MatchLabels, ds.Spec.Template.Labels)
	assert.Equal(t, only[*corev1.ServiceAccount](t, "daemonset.yaml").Name, ds.Spec.Template.Spec.ServiceAccountName)
	binding := only[*rbacv1.ClusterRoleBinding](t, "daemonset.yaml")
	assert.Equal(t, only[*rbacv1.ClusterRole](t, "daemonset.yaml").Name, binding.RoleRef.Name)
	assert.Equal(t, ds.Spec.Template.Spec.ServiceAccountName, binding.Subjects[0].Name)
	job := only[*batchv1.Job](t, "job.yaml")
	for _, pod := range []corev1.PodSpec{ds.Spec.Template.Spec, job.Spec.Template.Spec} {
		volumes := map[string]bool{}
		for _, v := range pod.Volumes {
			volumes[v.Name] = true
		}
		for _, c := range append(slices.Clone(pod.Containers), pod.InitContainers...) {
			defined := map[string]bool{}
			for _, e := range c.Env {
				for _, used := range expansions(e.Value) {
					assert.True(t, defined[used], "%s of %s uses $(%s), which is not defined before it", e.Name, c.Name, used)
				}
				defined[e.Name] = true
			}
			for _, mount := range c.VolumeMounts {
				assert.True(t, volumes[mount.Name], mount.Name)
			}
		}
	}
	const label = "pathologize.io/run-id"
	assert.Equal(t, job.Labels[label], job.Spec.Template.Labels[label], "the pod has the run id too")
	assert.Empty(t, validation.IsValidLabelValue(job.Labels[label]))
}

// TestWhatIsAppliedFindsItsPlace: each namespace is made, by a manifest or by a command of the page before it, and the Job may run on the nodes that
// the Collector is on.
func TestWhatIsAppliedFindsItsPlace(t *testing.T) {
	t.Parallel()
	before := map[string]bool{}
	for line := range strings.Lines(markdown.Blocks(markdown.Page(t, "docs/kubernetes.md"), "sh")[0]) {
		words := strings.Fields(line)
		if name, ok := strings.CutPrefix(line, "kubectl create namespace "); ok {
			before[strings.TrimSpace(name)] = true
			continue
		}
		for _, object := range objects(t, filepath.Base(words[len(words)-1])) {
			o, ok := object.(metav1.Object)
			require.True(t, ok)
			if _, is := object.(*corev1.Namespace); is {
				before[o.GetName()] = true
			}
			assert.True(t, o.GetNamespace() == "" || before[o.GetNamespace()], "%s: there is no namespace %s", line, o.GetNamespace())
		}
	}
	assert.Len(t, before, 2)
	collects, trains := only[*appsv1.DaemonSet](t, "daemonset.yaml").Spec.Template.Spec, only[*batchv1.Job](t, "job.yaml").Spec.Template.Spec
	assert.Equal(t, collects.Tolerations, trains.Tolerations)
}

// TestNoShippedConfigurationAsksTheKubelet, for which the role has no rule.
func TestNoShippedConfigurationAsksTheKubelet(t *testing.T) {
	t.Parallel()
	config := filepath.Join(collector.Root(t), "config")
	files, err := filepath.Glob(filepath.Join(config, "*.yaml"))
	require.NoError(t, err)
	overlays, err := filepath.Glob(filepath.Join(config, "overlays", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, overlays)
	for _, file := range append(files, overlays...) {
		text, err := os.ReadFile(file) //nolint:gosec // a file of this repository
		require.NoError(t, err)
		assert.NotRegexp(t, `(?m)^ *kubelet_?stats`, string(text), file)
	}
}

// TestTheConfigMapHasTheOverlayOfTheRepository, and the binary takes it over the configuration of the image.
func TestTheConfigMapHasTheOverlayOfTheRepository(t *testing.T) {
	t.Parallel()
	config := filepath.Join(collector.Root(t), "config")
	overlay, err := os.ReadFile(filepath.Join(config, "overlays", "kubernetes.yaml")) //nolint:gosec // a file of this repository
	require.NoError(t, err)
	assert.Equal(t, string(overlay), only[*corev1.ConfigMap](t, "daemonset.yaml").Data["kubernetes.yaml"])
	out, err := collector.Validate(t, collector.Options{
		Configs: []string{filepath.Join(config, "host-training.yaml"), filepath.Join(config, "overlays", "kubernetes.yaml")},
		YAML:    "receivers: {host_metrics: {root_path: /}}", // the node is not mounted here
		Env:     map[string]string{"NODE_NAME": "gpu-node-1"},
	})
	require.NoError(t, err, out)
}

func expansions(value string) []string {
	var out []string
	for {
		_, rest, found := strings.Cut(value, "$(")
		if !found {
			return out
		}
		name, after, _ := strings.Cut(rest, ")")
		out, value = append(out, name), after
	}
}

// downward gives a container's environment as the kubelet would.
func downward(t *testing.T, template corev1.PodTemplateSpec, c corev1.Container, fields map[string]string) map[string]string {
	t.Helper()
	env := map[string]string{}
	for _, e := range c.Env {
		value := e.Value
		if e.ValueFrom != nil {
			path := e.ValueFrom.FieldRef.FieldPath
			value = fields[path]
			if label, ok := strings.CutPrefix(path, "metadata.labels['"); ok && value == "" {
				value = template.Labels[strings.TrimSuffix(label, "']")]
			}
			require.NotEmpty(t, value, path)
		}
		for _, name := range expansions(value) {
			value = strings.ReplaceAll(value, fmt.Sprintf("$(%s)", name), env[name])
		}
		env[e.Name] = value
	}
	return env
}
