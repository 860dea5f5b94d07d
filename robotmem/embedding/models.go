package embedding

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Models is a folder of models that were pulled from a hub: DIR/OWNER/NAME with the
// files of the model and a manifest. A model appears in it complete or not at all;
// what an interrupted pull has fetched is in DIR/.pull.
type Models struct {
	Dir      string
	Runtimes map[string]Runtime // as in Options
}

// Pulled describes a model of the folder.
type Pulled struct {
	Name     string    `json:"name"`               // OWNER/NAME
	Embedder string    `json:"embedder,omitempty"` // the spec for Open
	Identity string    `json:"identity,omitempty"` // the Model of EmbedderState
	Dims     int       `json:"dims,omitempty"`     // numbers of a vector
	Bytes    int64     `json:"bytes,omitempty"`
	Revision string    `json:"revision,omitempty"`
	PulledAt time.Time `json:"pulled_at,omitzero"`
}

const manifestFile = "robotmem.json"

// modelName is OWNER/NAME. Neither part can lead out of the folder.
var modelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*/[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// folder is where a model is installed.
func (m Models) folder(name string) string { return filepath.Join(m.Dir, filepath.FromSlash(name)) }

// staging is the folder in which a model is prepared.
func (m Models) staging(name string) string {
	return filepath.Join(m.Dir, ".pull", strings.Replace(name, "/", "--", 1))
}

// List returns the models, the last pulled first.
func (m Models) List() []Pulled {
	all, dir := []Pulled{}, os.DirFS(m.Dir)

	// Only a wrong pattern is an error.
	installed, _ := fs.Glob(dir, "*/*/"+manifestFile)
	for _, manifest := range installed {
		if p, err := m.Get(strings.TrimSuffix(manifest, "/"+manifestFile)); err == nil {
			all = append(all, *p)
		}
	}
	slices.SortStableFunc(all, func(a, b Pulled) int { return b.PulledAt.Compare(a.PulledAt) })

	return all
}

// Get returns an installed model. It fails with NotFound if there is none.
func (m Models) Get(name string) (*Pulled, error) {
	p := &Pulled{}
	data, err := os.ReadFile(filepath.Join(m.folder(name), manifestFile))
	if err != nil || m.Dir == "" || !modelName.MatchString(name) || json.Unmarshal(data, p) != nil {
		return nil, robotmem.Errorf(robotmem.NotFound, "name", "%q is not among the pulled models; "+
			"`robotmem model list` shows them, and `robotmem model pull` fetches one", name)
	}

	kind, _, _ := strings.Cut(p.Identity, ":")
	p.Name, p.Embedder = name, kind+":"+m.folder(name)

	return p, nil
}

// Remove removes a model and what an interrupted pull of it has fetched. It fails
// with NotFound if there is neither.
func (m Models) Remove(name string) error {
	_, err := m.Get(name)
	if _, missing := os.Stat(m.staging(name)); err != nil && (missing != nil || !modelName.MatchString(name)) {
		return err
	}
	// Without its manifest a model is not listed. It goes first, so that an interrupted call leaves no broken model.
	_ = os.Remove(filepath.Join(m.folder(name), manifestFile))
	err = errors.Join(os.RemoveAll(m.folder(name)), os.RemoveAll(m.staging(name)))
	_, _ = os.Remove(filepath.Dir(m.folder(name))), os.Remove(filepath.Dir(m.staging(name))) // if they are empty

	return err
}

// runtime returns the runtime of a kind of models.
func (m Models) runtime(kind string) (Runtime, bool) {
	if kind == "model2vec" {
		return Runtime{Files: []string{"model.safetensors", "tokenizer.json"}, Open: openModel2Vec}, true
	}
	r, ok := m.Runtimes[kind]
	return r, ok
}

// newest returns the embedder of the model that was pulled last, nil without one.
// The model is read when it is first used, because few commands use it.
func (m Models) newest(o Options) *embedder {
	for _, p := range m.List() {
		kind, dir, _ := strings.Cut(p.Embedder, ":")
		if r, ok := m.runtime(kind); ok {
			return (&localModel{runtime: r, kind: kind, dir: dir, identity: p.Identity}).embedder(o)
		}
	}

	return nil
}
