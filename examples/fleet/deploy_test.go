package fleet_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// need returns the path of a program, and skips the test without it; in CI it fails.
func need(t *testing.T, name, install string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		text := "no " + name + " on this machine; " + install
		if os.Getenv("CI") != "" {
			t.Fatal(text)
		}
		t.Skip(text)
	}
	return path
}

// strict decodes YAML, and fails for a field that the type does not have.
func strict[T any](t *testing.T, data []byte) (v T) {
	t.Helper()
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict(), yaml.DisallowUnknownField()).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// What the manifests use of the API of Kubernetes, and nothing else: a misspelt field is an error.
type (
	labels   map[string]string
	selector struct {
		MatchLabels labels `yaml:"matchLabels"`
	}
	meta struct {
		Name        string
		Labels      labels
		Annotations map[string]string
	}
	probe struct {
		HTTPGet          struct{ Path, Port string } `yaml:"httpGet"`
		PeriodSeconds    int                         `yaml:"periodSeconds"`
		TimeoutSeconds   int                         `yaml:"timeoutSeconds"`
		FailureThreshold int                         `yaml:"failureThreshold"`
	}
	variable struct {
		Name, Value string
		ValueFrom   struct {
			SecretKeyRef struct{ Name, Key string } `yaml:"secretKeyRef"`
		} `yaml:"valueFrom"`
	}
	container struct {
		Name, Image string
		Args        []string
		Env         []variable
		Ports       []struct {
			Name          string
			ContainerPort int `yaml:"containerPort"`
		}
		LivenessProbe  probe `yaml:"livenessProbe"`
		ReadinessProbe probe `yaml:"readinessProbe"`
		StartupProbe   probe `yaml:"startupProbe"`
		Lifecycle      struct {
			PreStop struct{ Sleep struct{ Seconds int } } `yaml:"preStop"`
		}
		Resources       struct{ Requests, Limits map[string]string }
		SecurityContext struct {
			AllowPrivilegeEscalation bool `yaml:"allowPrivilegeEscalation"`
			ReadOnlyRootFilesystem   bool `yaml:"readOnlyRootFilesystem"`
			Capabilities             struct{ Drop []string }
		} `yaml:"securityContext"`
		VolumeMounts []struct {
			Name      string
			MountPath string `yaml:"mountPath"`
		} `yaml:"volumeMounts"`
	}
	pod struct {
		AutomountServiceAccountToken  bool `yaml:"automountServiceAccountToken"`
		TerminationGracePeriodSeconds int  `yaml:"terminationGracePeriodSeconds"`
		TopologySpreadConstraints     []struct {
			MaxSkew           int      `yaml:"maxSkew"`
			TopologyKey       string   `yaml:"topologyKey"`
			WhenUnsatisfiable string   `yaml:"whenUnsatisfiable"`
			LabelSelector     selector `yaml:"labelSelector"`
		} `yaml:"topologySpreadConstraints"`
		SecurityContext struct {
			RunAsNonRoot        bool                  `yaml:"runAsNonRoot"`
			RunAsUser           int                   `yaml:"runAsUser"`
			RunAsGroup          int                   `yaml:"runAsGroup"`
			FSGroup             int                   `yaml:"fsGroup"`
			FSGroupChangePolicy string                `yaml:"fsGroupChangePolicy"`
			SeccompProfile      struct{ Type string } `yaml:"seccompProfile"`
		} `yaml:"securityContext"`
		Containers []container
		Volumes    []struct {
			Name                  string
			EmptyDir              map[string]string `yaml:"emptyDir"`
			PersistentVolumeClaim struct {
				ClaimName string `yaml:"claimName"`
			} `yaml:"persistentVolumeClaim"`
		}
	}
	deployment struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   meta
		Spec       struct {
			Replicas int
			Selector selector
			Strategy struct {
				Type          string
				RollingUpdate struct {
					MaxSurge       int `yaml:"maxSurge"`
					MaxUnavailable int `yaml:"maxUnavailable"`
				} `yaml:"rollingUpdate"`
			}
			Template struct {
				Metadata meta
				Spec     pod
			}
		}
	}
	service struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   meta
		Spec       struct {
			Selector labels
			Ports    []struct {
				Name       string
				Port       int
				TargetPort string `yaml:"targetPort"`
			}
		}
	}
	budget struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   meta
		Spec       struct {
			MinAvailable               int    `yaml:"minAvailable"`
			UnhealthyPodEvictionPolicy string `yaml:"unhealthyPodEvictionPolicy"`
			Selector                   selector
		}
	}
	claim struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   meta
		Spec       struct {
			AccessModes []string `yaml:"accessModes"`
			Resources   struct{ Requests map[string]string }
		}
	}
)

// The manifests fit each other, and have no field that Kubernetes would refuse or ignore.
func TestKubernetes(t *testing.T) {
	build := []string{"kubectl", "kustomize"}
	if _, err := exec.LookPath("kubectl"); err != nil && os.Getenv("CI") != "" {
		build = []string{"go", "run", "sigs.k8s.io/kustomize/kustomize/v5@v5.8.0", "build"}
	}
	kustomize := need(t, build[0], "see https://kubernetes.io/docs/tasks/tools")
	made, err := exec.CommandContext(t.Context(), kustomize, append(build[1:], "kubernetes")...).Output()
	if err != nil {
		t.Fatal(err)
	}

	docs := map[string][]byte{}
	for doc := range bytes.SplitSeq(made, []byte("\n---\n")) {
		kind := struct{ Kind string }{}
		if err := yaml.Unmarshal(doc, &kind); err != nil {
			t.Fatal(err)
		}
		docs[kind.Kind] = doc
	}
	if len(docs) != 4 {
		t.Fatalf("got %v", slices.Collect(maps.Keys(docs)))
	}
	d := strict[deployment](t, docs["Deployment"])
	s := strict[service](t, docs["Service"])
	b := strict[budget](t, docs["PodDisruptionBudget"])
	c := strict[claim](t, docs["PersistentVolumeClaim"])

	// An empty selector would take all pods of the namespace.
	of := d.Spec.Template.Metadata.Labels
	for name, got := range map[string]labels{
		"deployment": d.Spec.Selector.MatchLabels, "service": s.Spec.Selector, "budget": b.Spec.Selector.MatchLabels,
		"spread": d.Spec.Template.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels,
	} {
		if len(got) == 0 || !maps.Equal(got, of) {
			t.Errorf("%s: selects %v, the pods are %v", name, got, of)
		}
	}
	if d.Spec.Replicas <= b.Spec.MinAvailable {
		t.Errorf("%d nodes of which %d must stay: no machine can be drained", d.Spec.Replicas, b.Spec.MinAvailable)
	}

	node := d.Spec.Template.Spec.Containers[0]
	port := node.Ports[0].Name
	for path, p := range map[string]probe{"/healthz": node.LivenessProbe, "/readyz": node.ReadinessProbe} {
		if p.HTTPGet.Path != path || p.HTTPGet.Port != port {
			t.Errorf("probe %+v", p)
		}
	}
	if s.Spec.Ports[0].TargetPort != port {
		t.Errorf("the service asks the port %q", s.Spec.Ports[0].TargetPort)
	}
	if ref := node.Env[0].ValueFrom.SecretKeyRef; node.Env[0].Name != "ROBOTMEM_DB" || ref.Name != "robotmem-database" || ref.Key != "url" || node.Env[0].Value != "" {
		t.Errorf("the database is %+v", node.Env[0])
	}
	if !strings.Contains(string(read(t, "kubernetes/kustomization.yaml")), "create secret generic robotmem-database") {
		t.Error("nothing says how to make the secret")
	}
	if node.Resources.Limits["memory"] == "" || node.Resources.Requests["memory"] == "" || node.Resources.Requests["cpu"] == "" {
		t.Errorf("resources %+v", node.Resources)
	}
	if got := d.Spec.Template.Spec.Volumes[0].PersistentVolumeClaim.ClaimName; got != c.Metadata.Name || !slices.Equal(c.Spec.AccessModes, []string{"ReadWriteMany"}) {
		t.Errorf("the payloads are on %q, of %+v", got, c)
	}
}

type composed struct {
	Services map[string]struct {
		Image       string
		Profiles    []string
		Entrypoint  string
		DependsOn   any `yaml:"depends_on"`
		Healthcheck struct {
			Test []string
		}
	}
}

// Whatever stays up has a health check, and whatever waits for another service waits until it is healthy.
func TestCompose(t *testing.T) {
	c := composed{}
	if err := yaml.Unmarshal(read(t, "compose.yaml"), &c); err != nil {
		t.Fatal(err)
	}
	for name, s := range c.Services {
		others := slices.Contains(s.Profiles, "monitoring")
		if !others && len(s.Healthcheck.Test) == 0 {
			t.Errorf("%s has no health check", name)
		}
		for other, how := range asMap(s.DependsOn) {
			if len(c.Services[other].Healthcheck.Test) == 0 && !others {
				t.Errorf("%s waits for %s, which has no health check", name, other)
			}
			if condition := asMap(how)["condition"]; condition != "service_healthy" && !others {
				t.Errorf("%s waits for %s to be %v", name, other, condition)
			}
		}
	}
	if len(c.Services) < 6 {
		t.Errorf("%d services", len(c.Services))
	}
}

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// The program is not installed where the test runs, so another one stands for it.
func TestSystemdUnit(t *testing.T) {
	analyze := need(t, "systemd-analyze", "on Debian: apt-get install systemd")
	unit := filepath.Join(t.TempDir(), "robotmem-site.service")
	text := strings.Replace(string(read(t, "robotmem-site.service")), "ExecStart=/usr/bin/robotmem web", "ExecStart=/bin/true", 1)
	if err := os.WriteFile(unit, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), analyze, "verify", unit).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--threshold=20", unit).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestAlerts(t *testing.T) {
	promtool := need(t, "promtool", "on Debian: apt-get install prometheus")
	for _, args := range [][]string{{"check", "rules", "alerts.yaml"}, {"test", "rules", "alerts_test.yaml"}, {"check", "config", "--syntax-only", "prometheus.yaml"}} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = "monitoring"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v: %s", args, err, out)
		}
	}
}

// Each alert has a section that says what to do.
func TestAlertsHaveARunbook(t *testing.T) {
	rules := struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For string
				Labels           map[string]string
				Annotations      map[string]string
			}
		}
	}{}
	if err := yaml.Unmarshal(read(t, "monitoring/alerts.yaml"), &rules); err != nil {
		t.Fatal(err)
	}
	if got := len(rules.Groups[0].Rules); got != 3 {
		t.Errorf("%d rules", got)
	}
	for _, r := range rules.Groups[0].Rules {
		page, anchor, _ := strings.Cut(r.Annotations["runbook"], "#")
		heading := regexp.MustCompile(`(?mi)^#+ ` + strings.ReplaceAll(regexp.QuoteMeta(anchor), "-", "[ -]") + `$`)
		text := string(read(t, filepath.Join("../..", page)))
		if !heading.MatchString(text) || !strings.Contains(text, r.Alert) {
			t.Errorf("%s: %s has no section %q that names it", r.Alert, page, anchor)
		}
	}
}

func TestGrafanaBoard(t *testing.T) {
	board := struct {
		Title, UID string
		Panels     []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
	}{}
	if err := json.Unmarshal(read(t, "monitoring/grafana.json"), &board); err != nil {
		t.Fatal(err)
	}
	ids, places := map[int]bool{}, map[[2]int]string{}
	for _, p := range board.Panels {
		if ids[p.ID] || p.Title == "" || len(p.Targets) == 0 {
			t.Errorf("panel %+v", p)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := places[[2]int{x, y}]; other != "" || x > 23 {
					t.Errorf("%q covers %q", p.Title, other)
				}
				places[[2]int{x, y}] = p.Title
			}
		}
	}
	if len(board.Panels) < 10 || board.UID == "" {
		t.Errorf("%d panels of %q", len(board.Panels), board.UID)
	}
}
