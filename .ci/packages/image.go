package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is that of the container, as distroless images number theirs.
const user = 65532

// image writes the container image of every processor as one archive of an OCI layout.
func image(ctx context.Context, dir string, programs []program) error {
	work, err := os.MkdirTemp("", "robotmem-image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()

	var (
		index v1.ImageIndex = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
		list  []legacyImage
		first *program
	)

	for i := range programs {
		p := &programs[i]
		if p.goos != "linux" {
			continue
		}
		img, err := imageOf(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.arch, err)
		}
		system := platform(p)
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &system}})

		entry, err := legacy(p, img)
		if err != nil {
			return err
		}
		list = append(list, entry)
		if first == nil {
			first = p
		}
	}
	if first == nil {
		return nil
	}

	path, err := layout.Write(filepath.Join(work, "image"), empty.Index)
	if err != nil {
		return err
	}
	err = path.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": first.version,
		"io.containerd.image.name":          "docker.io/library/robotmem:" + first.version,
	}))
	if err != nil {
		return err
	}

	// docker load without its containerd store reads this list instead of the index.
	names, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if err := path.WriteFile("manifest.json", names, 0o644); err != nil {
		return err
	}

	data, err := tarOf(string(path), first.when)
	if err != nil {
		return err
	}

	return write(dir, "robotmem_"+first.version+".oci.tar", data)
}

func platform(p *program) v1.Platform {
	if p.arch == "armv7" {
		return v1.Platform{OS: "linux", Architecture: "arm", Variant: "v7"}
	}
	return v1.Platform{OS: "linux", Architecture: p.arch}
}

// legacyImage is an image in the list that docker save writes.
type legacyImage struct {
	Config   string
	RepoTags []string
	Layers   []string
}

func legacy(p *program, img v1.Image) (legacyImage, error) {
	m, err := img.Manifest()
	if err != nil {
		return legacyImage{}, err
	}

	out := legacyImage{Config: "blobs/sha256/" + m.Config.Digest.Hex, RepoTags: []string{"robotmem:" + p.version + "-" + p.arch}}
	for _, l := range m.Layers {
		out.Layers = append(out.Layers, "blobs/sha256/"+l.Digest.Hex)
	}

	return out, nil
}

// imageOf has nothing but the program, the check of its health, certificates, and a user.
func imageOf(ctx context.Context, p *program) (v1.Image, error) {
	health, err := healthcheck(ctx, p)
	if err != nil {
		return nil, err
	}

	system, err := layer(p.when, []entry{
		{name: "data/", mode: 0o700, owner: user},
		{name: "etc/group", mode: 0o644, data: fmt.Appendf(nil, "root:x:0:\nrobotmem:x:%d:\n", user)},
		{name: "etc/passwd", mode: 0o644, data: fmt.Appendf(nil, "root:x:0:0:root:/:/sbin/nologin\nrobotmem:x:%[1]d:%[1]d:robotmem:/data:/sbin/nologin\n", user)},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: certificates()},
		{name: "tmp/", mode: 0o1777},
		{name: "usr/bin/robotmem-health", mode: 0o755, data: health},
	})
	if err != nil {
		return nil, err
	}

	program, err := layer(p.when, []entry{
		{name: "usr/bin/robotmem", mode: 0o755, data: p.binary()},
		{name: "usr/share/doc/robotmem/LICENSE", mode: 0o644, data: p.files["LICENSE"]},
		{name: "usr/share/doc/robotmem/THIRD_PARTY_NOTICES", mode: 0o644, data: p.files["THIRD_PARTY_NOTICES"]},
	})
	if err != nil {
		return nil, err
	}

	created := v1.Time{Time: p.when}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err = mutate.Append(img,
		mutate.Addendum{Layer: system, History: v1.History{Created: created, CreatedBy: "certificates, a user, the check of health"}},
		mutate.Addendum{Layer: program, History: v1.History{Created: created, CreatedBy: "the program"}},
	)
	if err != nil {
		return nil, err
	}

	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	target := platform(p)
	config.OS, config.Architecture, config.Variant = target.OS, target.Architecture, target.Variant
	config.Created = created
	config.Config = v1.Config{
		User:       fmt.Sprintf("%d:%d", user, user),
		Entrypoint: []string{"/usr/bin/robotmem"},
		Cmd:        []string{"web"},
		// Within a container a loopback address reaches nobody. The program refuses to listen on this
		// one without a token.
		Env:          []string{"PATH=/usr/bin", "HOME=/data", "ROBOTMEM_HOME=/data", "ROBOTMEM_ADDR=0.0.0.0:7878"},
		WorkingDir:   "/data",
		Volumes:      map[string]struct{}{"/data": {}},
		ExposedPorts: map[string]struct{}{"7878/tcp": {}},
		StopSignal:   "SIGTERM",
		Healthcheck: &v1.HealthConfig{
			Test: []string{"CMD", "/usr/bin/robotmem-health"}, Interval: 30 * time.Second, Timeout: 5 * time.Second,
			StartPeriod: 30 * time.Second, Retries: 3,
		},
		Labels: map[string]string{
			"org.opencontainers.image.title": "robotmem", "org.opencontainers.image.description": summary,
			"org.opencontainers.image.version": p.version, "org.opencontainers.image.source": homepage,
			"org.opencontainers.image.licenses": license,
		},
	}

	return mutate.ConfigFile(img, config)
}

// healthcheck builds the program that the container's health is checked with.
func healthcheck(ctx context.Context, p *program) ([]byte, error) {
	work, err := os.MkdirTemp("", "robotmem-health-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(work) }()

	out := filepath.Join(work, "robotmem-health")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", out, "./healthcheck")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+platform(p).Architecture, "GOARM=7")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go build ./healthcheck: %w; run it in .ci/packages", err)
	}

	return os.ReadFile(out)
}

// certificates are Mozilla's roots, of the version in go.mod. Those that are trusted under a condition are
// left out: a file of PEM cannot say it.
func certificates() []byte {
	var b bytes.Buffer

	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes all
		}
	}

	return b.Bytes()
}

// entry is a file of a layer, or with a slash at its end a folder.
type entry struct {
	name  string
	mode  int64
	owner int
	data  []byte
}

// layer is a compressed layer. The folders that its files need come before them.
func layer(when time.Time, entries []entry) (v1.Layer, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b) // once: what is compressed already is taken as it is
	w := tar.NewWriter(z)
	made := map[string]bool{}

	for _, e := range entries {
		for i, c := range strings.TrimSuffix(e.name, "/") {
			if parent := e.name[:i]; c == '/' && !made[parent] {
				made[parent] = true
				if err := w.WriteHeader(&tar.Header{Name: parent + "/", Typeflag: tar.TypeDir, Mode: 0o755, ModTime: when, Format: tar.FormatPAX}); err != nil {
					return nil, err
				}
			}
		}

		h := &tar.Header{Name: e.name, Typeflag: tar.TypeReg, Mode: e.mode, Uid: e.owner, Gid: e.owner, Size: int64(len(e.data)), ModTime: when, Format: tar.FormatPAX}
		if strings.HasSuffix(e.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		return nil, err
	}

	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }

	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
}

// tarOf is a folder as an archive, in the order of names.
func tarOf(dir string, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o644, Size: int64(len(data)), ModTime: when, Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		_, err = w.Write(data)

		return err
	})
	if err != nil {
		return nil, err
	}

	err = w.Close() // which writes the end

	return b.Bytes(), err
}
