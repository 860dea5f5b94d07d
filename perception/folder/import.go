package folder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/perception/importing"
)

const (
	// DefaultMaxBytes is the default of Options.MaxBytes.
	DefaultMaxBytes = 4 << 30
	maxDepth        = 64 // of nested folders
	sessionFile     = "session.json"
)

// Options chooses what of a folder is imported. The zero value works.
type Options struct {
	// Name is part of every origin: the same name means the same folder. "" is the name
	// of the folder.
	Name string
	// Include and Exclude are patterns of [path.Match] for the path below the folder, or
	// for the name of the file if the pattern has no slash. No Include means every file.
	Include, Exclude []string
	// Other is the type of files whose type is unknown. "" leaves them out.
	Other string
	// MaxBytes is the largest size of a file; 0 is [DefaultMaxBytes].
	MaxBytes int64
	// Progress is called after each file.
	Progress func(importing.Progress)
}

func (o *Options) check() error {
	for _, pattern := range slices.Concat(o.Include, o.Exclude) {
		if _, err := path.Match(pattern, "x"); err != nil {
			return fmt.Errorf("the pattern %q: %w", pattern, err)
		}
	}
	if o.Other != "" && !slices.Contains(perceptionTypes, o.Other) {
		return fmt.Errorf("the type %q is not one of %s", o.Other, strings.Join(perceptionTypes, ", "))
	}
	if o.MaxBytes < 0 {
		return fmt.Errorf("the limit of %d bytes is less than 0", o.MaxBytes)
	}
	o.MaxBytes = cmp.Or(o.MaxBytes, DefaultMaxBytes)
	return nil
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		at := name
		if !strings.Contains(pattern, "/") {
			at = path.Base(name)
		}
		ok, _ := path.Match(pattern, at) // checked before
		return ok
	})
}

type importer struct {
	ctx    context.Context // of the call of Import
	root   *os.Root
	sink   importing.Sink
	o      Options
	report *importing.Report
	files  int64
}

// episode is the session of a folder.
type episode struct {
	id      string
	closed  string // why no more files are added to it, "" if it is open
	missing bool   // a file could not be read, so that it stays open for another run
	context map[string]any
}

// Import stores the files of the folder. It fails if the folder cannot be read, the options
// are wrong or the sink fails. The report lists the files that were left out.
func Import(ctx context.Context, folder string, sink importing.Sink, o Options) (*importing.Report, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	root, err := importing.OpenFolder(folder, &o.Name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	im := &importer{ctx: ctx, root: root, sink: sink, o: o, report: new(importing.Report)}
	return im.report, im.walk(".", 0, new(episode))
}

// walk imports a folder and those below it. An error ends the import.
func (im *importer) walk(dir string, depth int, in *episode) error {
	if depth > maxDepth {
		im.report.Skip(dir, fmt.Sprintf("more than %d folders deep", maxDepth), 1)
		return nil
	}
	entries, err := fs.ReadDir(im.root.FS(), dir)
	if err != nil {
		im.report.Break(dir, err, 1)
		in.missing = true
		return nil
	}
	names, stems := map[string]bool{}, map[string]bool{}
	for _, e := range entries {
		if name := e.Name(); e.Type().IsRegular() {
			names[name] = true
			if ext := path.Ext(name); ext != ".json" {
				stems[strings.TrimSuffix(name, ext)] = true
			}
		}
	}
	here, end := in, func() error { return nil }
	if names[sessionFile] {
		if here, end, err = im.start(dir, in); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if err := im.ctx.Err(); err != nil {
			return err
		}
		name := path.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
			im.report.Skip(name, "hidden", 1)
		case e.IsDir():
			err = im.walk(name, depth+1, here)
		case e.Name() == sessionFile || isSidecar(e.Name(), names, stems):
		case e.Type()&fs.ModeSymlink != 0:
			im.report.Skip(name, "a link, which is not followed", 1)
		case !e.Type().IsRegular():
			im.report.Skip(name, "not a regular file", 1)
		case len(im.o.Include) > 0 && !matches(im.o.Include, name):
			im.report.Skip(name, "not included", 1)
		case matches(im.o.Exclude, name):
			im.report.Skip(name, "excluded", 1)
		case here.closed != "":
			im.report.Skip(name, here.closed, 1)
		default:
			err = im.importFile(name, names, here)
		}
		if err != nil {
			return err
		}
	}
	return end()
}

// start begins the episode of a folder with a session.json. The returned function ends it.
func (im *importer) start(dir string, in *episode) (*episode, func() error, error) {
	nothing := func() error { return nil }
	name := path.Join(dir, sessionFile)
	s, err := im.readSession(name)
	if err != nil {
		// Its files would be stored in the wrong session permanently.
		im.report.Break(name, err, 1)
		in.missing = true
		return &episode{closed: "its session.json is wrong"}, nothing, nil
	}
	here := &episode{context: s.Context}
	here.id, err = im.sink.Start(im.ctx, importing.Session{Origin: im.origin("session", dir), Context: s.Context, StartedAt: s.StartedAt})
	if errors.Is(err, importing.ErrEnded) {
		here.closed = "its session was imported before"
		im.report.Ended++
		return here, nothing, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return here, func() error {
		if here.missing {
			return nil
		}
		im.report.Sessions++
		return im.sink.End(im.ctx, here.id, s.Outcome)
	}, nil
}

func (im *importer) origin(parts ...string) string {
	return importing.Origin("folder/" + im.o.Name + "/" + strings.Join(parts, "/"))
}
