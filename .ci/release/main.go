// Command release builds what is published: archives of the program for every
// system, MCP bundles, their sums, and the entry of the MCP registry. .ci/wheels and
// .ci/packages make the rest of its archives. From the same commit and Go it makes the
// same bytes. Run it at the module's root:
//
//	go run ./.ci/release -version 1.2.3
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// target is a system that is built for. The processor is named as in the names of files.
type target struct{ goos, goarch string }

var targets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"linux", "armv7"}, {"darwin", "arm64"}, {"darwin", "amd64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

// environment tells Go what to build for.
func (t target) environment() []string {
	if t.goarch == "armv7" {
		return []string{"GOOS=" + t.goos, "GOARCH=arm", "GOARM=7"}
	}
	return []string{"GOOS=" + t.goos, "GOARCH=" + t.goarch}
}

func (t target) String() string { return t.goos + "/" + t.goarch }

// program is the executable's name.
func (t target) program() string {
	if t.goos == "windows" {
		return "robotmem.exe"
	}
	return "robotmem"
}

// release is one run.
type release struct {
	root    string // of the module
	out     string // folder of what is made
	version string // semantic, without v
	when    time.Time
	targets []target
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r := &release{root: ".", targets: targets}
	flag.StringVar(&r.out, "out", filepath.Join("artifacts", "release"), "folder to write to; what is in it goes")
	flag.StringVar(&r.version, "version", "", "version such as 1.2.3; default what git describe says")
	only := flag.String("only", "", "targets such as linux/amd64,linux/armv7 instead of all")
	flag.Parse()
	if *only != "" {
		r.targets = nil
		for name := range strings.SplitSeq(*only, ",") {
			goos, goarch, _ := strings.Cut(name, "/")
			r.targets = append(r.targets, target{goos, goarch})
		}
	}
	if err := r.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// semantic is a version as semver.org has it, without build metadata.
var semantic = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`)

func (r *release) run(ctx context.Context) error {
	var err error
	given := r.version != ""
	if !given {
		if r.version, err = r.describe(ctx); err != nil {
			return err
		}
	}

	r.version = strings.TrimPrefix(r.version, "v")
	if !semantic.MatchString(r.version) {
		return fmt.Errorf("version must be like 1.2.3 or 1.2.3-rc.1, not %q", r.version)
	}
	if given {
		if err := r.checkChangelog(); err != nil {
			return err
		}
		if err := r.writeReadme(); err != nil {
			return err
		}
	}
	if r.when, err = r.commitTime(ctx); err != nil {
		return err
	}
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}

	var bundles []bundleFile
	for _, t := range r.targets {
		binary, err := r.build(ctx, t)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		if err := r.archive(t, binary); err != nil {
			return fmt.Errorf("archive of %s: %w", t, err)
		}
		b, err := r.bundle(t, binary)
		if err != nil {
			return fmt.Errorf("bundle of %s: %w", t, err)
		}
		bundles = append(bundles, b)
	}

	if err := r.registryEntry(bundles); err != nil {
		return err
	}

	return r.sums()
}

// checkChangelog fails if the changelog has no section of a version that users get. A preview needs none.
func (r *release) checkChangelog() error {
	if strings.Contains(r.version, "-") {
		return nil
	}

	data, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	if !strings.Contains(string(data), "\n## v"+r.version+"\n") {
		return fmt.Errorf("CHANGELOG.md has no section of v%[1]s; run make changelog VERSION=%[1]s and commit it",
			r.version)
	}

	return nil
}

// build compiles the program without cgo and without paths of this machine.
func (r *release) build(ctx context.Context, t target) ([]byte, error) {
	dir, err := os.MkdirTemp("", "robotmem-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)

	path := filepath.Join(dir, t.program())
	// The version is the one that is given, and a checkout with and without git makes the same bytes.
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.released=v"+r.version, "-o",
		path, "./cmd/robotmem")
	cmd.Dir = r.root
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="), t.environment()...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// describe is git's name of this commit as a semantic version.
func (r *release) describe(ctx context.Context) (string, error) {
	name, err := r.git(ctx, "describe", "--tags", "--always", "--dirty", "--match", "v[0-9]*")
	if err != nil {
		return "", err
	}
	if v, ok := strings.CutPrefix(name, "v"); ok {
		return v, nil
	}
	return "0.0.0-g" + name, nil // no tag yet
}

// commitTime dates all files in archives. SOURCE_DATE_EPOCH, in seconds since
// 1970, overrides it where there is no git.
func (r *release) commitTime(ctx context.Context) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		var err error
		if text, err = r.git(ctx, "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, err
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("the commit's time: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

func (r *release) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.root
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w; give -version and SOURCE_DATE_EPOCH instead", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// write puts a file into the output folder and says so.
func (r *release) write(name string, data []byte) error {
	fmt.Printf("%9d  %s\n", len(data), name)
	return os.WriteFile(filepath.Join(r.out, name), data, 0o644)
}

// sums writes SHA256SUMS as sha256sum --check reads it.
func (r *release) sums() error {
	entries, err := os.ReadDir(r.out) // in order
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s  %s\n", sumOf(data), e.Name())
	}
	return r.write("SHA256SUMS", []byte(b.String()))
}

// papers are the files that every copy of the program comes with: its licence and those of its parts.
func (r *release) papers() ([]packed, error) {
	var out []packed
	for _, path := range []string{"LICENSE", "robotmem/notices/THIRD_PARTY_NOTICES"} {
		data, err := os.ReadFile(filepath.Join(r.root, path))
		if err != nil {
			return nil, err
		}
		out = append(out, packed{filepath.Base(path), data, false})
	}

	return out, nil
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
