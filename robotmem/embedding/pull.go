package embedding

import (
	"cmp"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/outgoing"
)

// A hub answers like huggingface.co. GET /api/models/NAME/revision/REVISION?blobs=true
// states the commit and, for each file, the size and the hash: the SHA-256 of a large
// file, the SHA-1 of a git blob of a small one. GET /NAME/resolve/COMMIT/FILE answers
// with the file or redirects to it. https://huggingface.co/docs/hub/api

// Hub is a server to pull models from. The zero value is huggingface.co.
type Hub struct {
	URL      string                  // https://huggingface.co if empty
	Token    string                  // sent to the host of URL, and to no host that it redirects to
	Progress func(done, total int64) // called with the fetched and all bytes, unless it is nil
	Timeout  time.Duration           // without a byte of an answer, 1 min if zero
}

const (
	example = "minishlab/potion-multilingual-128M"
	trial   = "the robot holds a wet glass, der Roboter, el robot, 机器人, ロボット, 로봇, робот, الروبوت, 1 2"
)

// layouts lists the places in which models have their files. A layout applies if the
// first two files are there. Files in its folder are stored beside the others.
var layouts = []struct {
	kind, folder string
	files        []string
}{
	{"model2vec", "", []string{"model.safetensors", "tokenizer.json", "config.json"}},
	{"model2vec", "0_StaticEmbedding/", []string{
		"0_StaticEmbedding/model.safetensors", "0_StaticEmbedding/tokenizer.json",
	}},
	{"onnx", "onnx/", []string{
		"onnx/model.onnx", "tokenizer.json", "config.json", "tokenizer_config.json", "special_tokens_map.json",
		"1_Pooling/config.json",
	}},
}

// pull is one call of Models.Pull.
type pull struct {
	Hub
	base        *url.URL
	http        http.Client
	name        string
	commit      string
	dir         string // where the files are gathered; those of another commit have another folder
	done, total int64  // bytes of the model: there, and all
	stalled     *time.Timer
}

// hubFile is a file of a model.
type hubFile struct {
	Name   string `json:"rfilename"`
	Size   int64
	BlobID string
	LFS    struct{ SHA256 string }

	digest string // SHA-256, or SHA-1 of the git blob, in hexadecimal digits
	local  string // its name in the model's folder
}

var digests = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// Pull fetches a model, OWNER/NAME or OWNER/NAME@REVISION, verifies its files by their hashes,
// tries it, and installs it in place of an older one. What was fetched before an interruption is
// kept for the next call. Nothing is installed if Pull fails: with Invalid for a model that
// cannot be used, NotFound, Forbidden, or Unavailable, also for files with another hash.
func (m Models) Pull(ctx context.Context, hub Hub, spec string) (*Pulled, error) {
	name, revision, _ := strings.Cut(spec, "@")
	if !modelName.MatchString(name) || m.Dir == "" {
		return nil, pullError(robotmem.Invalid, "%q is not OWNER/NAME, such as "+example+
			", or ROBOTMEM_HOME and HOME are not set", name)
	}

	base, err := baseURL(cmp.Or(hub.URL, "https://huggingface.co"), "80")
	if err != nil {
		return nil, pullError(robotmem.Invalid, "the address of the hub, HF_ENDPOINT, "+
			"is not an http:// or https:// URL")
	}

	p := &pull{Hub: hub, base: base, name: name}
	p.Timeout = cmp.Or(hub.Timeout, time.Minute)
	p.http.CheckRedirect = p.redirect

	kind, files, err := p.choose(ctx, m, cmp.Or(revision, "main"))
	if err == nil && kind == "" { // it is installed
		return m.Get(name)
	}

	for i := 0; err == nil && i < len(files); i++ {
		err = p.fetch(ctx, &files[i])
	}

	out := &Pulled{
		Name:     name,
		Embedder: kind + ":" + m.folder(name),
		Bytes:    p.total,
		Revision: p.commit,
		PulledAt: time.Now().UTC(),
	}
	if err == nil {
		err = p.install(ctx, m, kind, out)
	}
	// Another process may have pulled the same revision meanwhile: then the files are installed, and not where they
	// were gathered.
	if now, absent := m.Get(name); err != nil && absent == nil && p.commit != "" && now.Revision == p.commit {
		return now, nil
	}
	if e := (*robotmem.Error)(nil); err != nil && !errors.As(err, &e) {
		err = pullError(robotmem.Unavailable, "%w; make room on the disk, or set ROBOTMEM_HOME to a folder on another",
			err)
	}

	// After other errors the fetched files stay, so that the next pull continues.
	if err == nil || robotmem.KindOf(err) == robotmem.Invalid {
		err = errors.Join(err, os.RemoveAll(m.staging(name)))

		// The folder can only be removed if it is empty, which it is unless another pull was interrupted.
		_ = os.Remove(filepath.Dir(m.staging(name)))
	}

	return out, err
}

func pullError(kind robotmem.Kind, format string, args ...any) *robotmem.Error {
	return &robotmem.Error{Op: "pull", Kind: kind, Err: fmt.Errorf(format, args...)}
}

// install tries the model that was gathered and moves it to its place.
func (p *pull) install(ctx context.Context, m Models, kind string, out *Pulled) error {
	r, _ := m.runtime(kind)
	if _, err := os.Stat(p.dir); err != nil {
		return pullError(robotmem.Unavailable, "another pull of %s has removed its files meanwhile; run it again", p.name)
	}

	// A model is tried before it replaces one that works. The trial has words of many scripts, of which any model knows
	// some.
	var vectors [][]float32
	e, err := openLocal(kind, p.dir, r, Options{}.withDefaults())
	if err == nil {
		vectors, err = e.Embed(context.WithoutCancel(ctx), robotmem.ForMemory, []string{trial})
		err = errors.Join(err, e.(io.Closer).Close())
	}

	if err != nil {
		reason := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "embedder: "), "the model in "+p.dir+": ")
		return pullError(robotmem.Invalid, "%s cannot be used: %s; choose another, such as "+example, p.name, reason)
	}

	out.Identity, out.Dims = e.State().Model, len(vectors[0])
	manifest, err := json.MarshalIndent(out, "", "  ")
	to := m.folder(p.name)
	err = errors.Join(err,
		os.WriteFile(filepath.Join(p.dir, manifestFile), manifest, 0o600),
		os.MkdirAll(filepath.Dir(to), 0o700))

	// A folder cannot be renamed over another one, so the old model is moved away first.
	old := filepath.Join(m.staging(p.name), "old")
	_, missing := os.Stat(to)
	if err == nil && missing == nil {
		err = os.Rename(to, old)
	}
	if err != nil {
		return err
	}

	err = os.Rename(p.dir, to)
	if err != nil && missing == nil {
		err = errors.Join(err, os.Rename(old, to))
	}

	return err
}

// redirect sends the token to no other host. The standard client does, to subdomains
// and other ports.
func (p *pull) redirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 || p.base.Scheme == "https" && req.URL.Scheme != "https" {
		return pullError(robotmem.Unavailable, "%s redirects to %s, which is not followed; "+
			"set HF_ENDPOINT to the hub itself", outgoing.Origin(p.base), outgoing.Origin(req.URL))
	}
	if req.URL.Host != p.base.Host {
		req.Header.Del("Authorization")
	}

	return nil
}

// choose asks for the commit and the files of a revision, and returns those of the
// first layout that applies.
func (p *pull) choose(ctx context.Context, m Models, revision string) (kind string, files []hubFile, err error) {
	var model struct {
		SHA      string
		Config   map[string]any
		Siblings []hubFile
	}
	address := "/api/models/" + p.name + "/revision/" + url.PathEscape(revision) + "?blobs=true"
	err = p.get(ctx, address, 0, func(res *http.Response) error {
		data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		if err == nil && (json.Unmarshal(data, &model) != nil || !digests.MatchString(model.SHA)) {
			err = pullError(robotmem.Unavailable, "%s answered %q and not what a hub tells of a model; "+
				"check HF_ENDPOINT, or log in to the network if it asks for it",
				outgoing.Origin(p.base), res.Header.Get("Content-Type"))
		}

		return err
	})
	if old, missing := m.Get(p.name); err != nil || missing == nil && old.Revision == model.SHA {
		return "", nil, err
	}

	// The commit is part of the folder, so that files of two revisions are never mixed.
	p.commit = model.SHA
	p.dir = filepath.Join(m.staging(p.name), model.SHA, filepath.Base(p.name))

	there := map[string]hubFile{}
	for _, f := range model.Siblings {
		there[f.Name] = f
	}

	// The weights of transformers have the same name as those of static models.
	static := model.Config["model_type"] == nil || model.Config["model_type"] == "model2vec"
	for _, l := range layouts {
		if there[l.files[0]].Name == "" || there[l.files[1]].Name == "" || l.kind == "model2vec" && !static {
			continue
		}
		if _, runs := m.runtime(l.kind); !runs {
			return "", nil, pullError(robotmem.Invalid, "%s is an ONNX model, which this robotmem cannot run; "+
				"build one that can with `make onnx` in the source code, or pull a static model such as "+example, p.name)
		}

		for _, name := range l.files {
			f := there[name]
			if f.digest = cmp.Or(f.LFS.SHA256, f.BlobID); f.Name == "" {
				continue
			}
			if f.Size <= 0 || !digests.MatchString(f.digest) {
				return "", nil, pullError(robotmem.Unavailable, "%s states no size and hash of %s, "+
					"so that it cannot be verified; use another HF_ENDPOINT", outgoing.Origin(p.base), name)
			}

			f.local = strings.TrimPrefix(name, l.folder)
			files = append(files, f)
			p.total += f.Size
		}

		return l.kind, files, nil
	}

	return "", nil, pullError(robotmem.Invalid, "%s is no model that robotmem runs: "+
		"neither a static one (model.safetensors and tokenizer.json of Model2Vec) "+
		"nor an ONNX one (onnx/model.onnx). Python pickles such as pytorch_model.bin are not read, "+
		"as they can run any program. Choose another, such as "+example, p.name)
}

// fetch downloads the rest of a file and verifies it.
func (p *pull) fetch(ctx context.Context, f *hubFile) error {
	// If MkdirAll fails, OpenFile does too.
	name := filepath.Join(p.dir, filepath.FromSlash(f.local))
	_ = os.MkdirAll(filepath.Dir(name), 0o700)
	part, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}

	defer part.Close()
	have, err := part.Seek(0, io.SeekEnd)
	p.done += have
	if err == nil && have < f.Size {
		err = p.get(ctx, "/"+p.name+"/resolve/"+p.commit+"/"+f.Name, have, func(res *http.Response) error {
			// A server that ignores the range sends the whole file.
			if res.StatusCode != http.StatusPartialContent {
				p.done -= have
				have = 0
			}

			rest := io.LimitReader(res.Body, f.Size-have)
			_, err := io.Copy(io.MultiWriter(io.NewOffsetWriter(part, have), p), rest)

			return err
		})
	}

	// A git blob is hashed with its size before its bytes.
	var sum hash.Hash = sha256.New()
	if len(f.digest) == 2*sha1.Size {
		sum = sha1.New()
		fmt.Fprintf(sum, "blob %d\x00", f.Size)
	}

	if err == nil {
		_, err = io.Copy(sum, io.NewSectionReader(part, 0, f.Size+1))
	}

	// The bytes are dropped, because the next pull would otherwise continue after them.
	if got := hex.EncodeToString(sum.Sum(nil)); err == nil && got != f.digest {
		err = cmp.Or[error](part.Truncate(0), pullError(robotmem.Unavailable, "%s of %s has the hash %s "+
			"where the hub states %s; pull again, log in to the network if it asks for it, "+
			"or use another HF_ENDPOINT", f.Name, p.name, got, f.digest))
	}

	return errors.Join(err, part.Sync())
}

// Write counts bytes that were fetched.
func (p *pull) Write(b []byte) (int, error) {
	p.stalled.Reset(p.Timeout)
	p.done += int64(len(b))
	if p.Progress != nil {
		p.Progress(p.done, p.total)
	}
	return len(b), nil
}

// get asks for the bytes of a path from an offset on and passes the answer to read.
func (p *pull) get(ctx context.Context, path string, from int64, read func(*http.Response) error) error {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	// A large model may take hours, so not the whole answer has a time limit but each pause in it. Write resets the
	// timer.
	p.stalled = time.AfterFunc(p.Timeout, func() { cancel(fmt.Errorf("no bytes for %v", p.Timeout)) })
	defer p.stalled.Stop()

	req, err := http.NewRequestWithContext(within, http.MethodGet, p.base.String()+path, nil)
	if err != nil {
		return err
	}

	// Sizes and ranges refer to the file, not to a compressed form of it.
	req.Header.Set("Accept-Encoding", "identity")
	if p.Token != "" {
		req.Header.Set("Authorization", "Bearer "+p.Token)
	}
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}

	res, err := p.http.Do(req)
	if err == nil {
		defer res.Body.Close()
		if err = statusOf(res); err == nil {
			err = read(res)
		}
	}

	if err != nil && ctx.Err() != nil {
		return pullError(robotmem.Unavailable, "interrupted; what was fetched is kept, pull again to go on")
	}
	if stalled := context.Cause(within); err != nil && stalled != nil {
		err = stalled
	}

	return p.explain(err)
}

// explain says what an error of a request means and what to do.
func (p *pull) explain(err error) error {
	final, disk, broken, status := (*robotmem.Error)(nil), (*fs.PathError)(nil), (*url.Error)(nil), (*statusError)(nil)
	kind, next := robotmem.Unavailable, "check the network and HF_ENDPOINT, then pull again: what was fetched is kept"

	switch {
	case err == nil, errors.As(err, &disk):
		return err
	case errors.As(err, &final):
		return final
	case !errors.As(err, &status):
	case status.code == http.StatusUnauthorized, status.code == http.StatusForbidden:
		kind = robotmem.Forbidden
		next = fmt.Sprintf("check the name, and if the model is gated or private, accept its terms at %s/%s "+
			"and set HF_TOKEN to a valid token of that account", outgoing.Origin(p.base), p.name)
	case status.code == http.StatusNotFound:
		kind, next = robotmem.NotFound, "check the name, and the revision behind @"
	}

	if errors.As(err, &broken) {
		// The outer error has the address, which can hold a signature.
		err = broken.Err
	}

	return pullError(kind, "%s from %s: %w; %s", p.name, outgoing.Origin(p.base), err, next)
}
