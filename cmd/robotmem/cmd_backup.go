package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/mounts"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/printed"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/shell"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/backup"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/spelling"
	"github.com/robotmem/robotmem-go/web"
)

// backupCmd makes a backup by default.
type backupCmd struct {
	Make    backupMakeCmd    `cmd:"" default:"withargs" help:"Make a backup while the memory works (default). A folder named list, verify or restore is written ./list."`
	List    backupListCmd    `cmd:"" help:"List the backups of a folder, oldest first."`
	Verify  backupVerifyCmd  `cmd:"" help:"Read a backup from end to end, or all of a folder."`
	Restore backupRestoreCmd `cmd:"" help:"Put a backup in the memory's place. What is there stays, under another name."`
}

// backupWords are the commands below backup, whose misspelling would be the name of a folder.
var backupWords = []string{"list", "verify", "restore"}

type backupMakeCmd struct {
	Dir  string `arg:"" optional:"" name:"dir" type:"path" help:"Where backups lie, such as a folder on another disk. Default the folder backups beside the memory."`
	Keep int    `name:"keep" default:"7" help:"How many of the newest backups stay (default ${default})."`

	CreateFolder bool `name:"create-folder" help:"Make the folder also below /mnt or /media, where a disk should be mounted and none is."`
	JSON         bool `name:"json" help:"Print the answer as JSON."`
}

func (c *backupMakeCmd) Run(ctx context.Context, a *app) error {
	path, err := a.backupSource()
	if err != nil {
		return err
	}
	if c.Keep < 1 {
		return invalid("keep", "must be 1 or more, not %d", c.Keep)
	}
	if !exists(path) {
		return notFound("db", "there is no memory at %s to make a backup of; pass --db", path)
	}

	if at := mounts.Unmounted(c.Dir, mounts.Folders); at != "" && !c.CreateFolder {
		return notFound("dir", "nothing is mounted at %s, so the backup would be on the disk of the system; "+
			"mount the disk, or pass --create-folder to write there nevertheless", at)
	}

	name := filepath.Base(c.Dir)
	if like := spelling.Nearest(name, backupWords); len(like) > 0 && like[0] != name && !exists(c.Dir) {
		return invalid("dir", "there is no folder %s; did you mean robotmem backup %s? If not, make the folder first", name, like[0])
	}

	// A backup computes no vectors, and an embedder that cannot be reached must not prevent it.
	a.Config.Embedder = "none"
	ctx = a.watched(ctx)
	m, err := a.Open(ctx, path)
	if err != nil {
		return err
	}

	res, err := backup.Make(ctx, m, backup.Options{Dir: c.Dir, Keep: c.Keep, Version: a.Version})

	return a.showResult(c.JSON, res, errors.Join(err, m.Close()))
}

// makeBackups makes the backups of the schedule, if there is one and m is a file.
func (a *app) makeBackups(ctx context.Context, m robotmem.Node) {
	if n, ok := m.(*local.Node); ok && a.Config.backups != nil && !a.Config.onServer() {
		schedule := *a.Config.backups // which requests read
		schedule.Version = a.Version
		schedule.Run(ctx, n)
	}
}

// backups lists the backups of the memory that robotmem web serves, newest first, with the settings
// of the schedule if there is one.
func (a *app) backups(ctx context.Context, m *local.Node, make bool) (_ *web.Backups, err error) {
	o := backup.Options{}
	if schedule := a.Config.backups; schedule != nil {
		o = schedule.Options
	}
	if o.Version = a.Version; o.Dir == "" {
		o.Dir, err = a.backupDir("")
	}
	if err == nil {
		o.Dir, err = filepath.Abs(o.Dir)
	}
	if err == nil && make {
		_, err = backup.Make(ctx, m, o)
	}
	if err != nil {
		return nil, err
	}

	all, err := backup.List(o.Dir)

	out := &web.Backups{Dir: o.Dir, Backups: []web.Backup{}}
	for _, x := range slices.Backward(all) {
		out.Backups = append(out.Backups, web.Backup{Name: x.Name, CreatedAt: x.CreatedAt, Bytes: x.Bytes, Problem: x.Problem,
			Restore: restoreCommand(x.Path, m.Files().Name())})
	}

	return out, err
}

// restoreCommand is the command that restores a backup, for a shell.
func restoreCommand(backup, to string) string {
	return "robotmem backup restore " + shell.Quote(backup) + " --to " + shell.Quote(to)
}

// backupSource is the memory's file. That of another node is on its machine.
func (a *app) backupSource() (string, error) {
	if a.Config.URL != "" {
		return "", invalid("url", "backups are made on the machine of the node; leave out --url and ROBOTMEM_URL, or run this there")
	}
	if a.Config.onServer() {
		return "", invalid("db", "is on a PostgreSQL server, whose own tools make its backups: pg_basebackup and an archive of the log; docs/how-to/run-a-site.md shows how")
	}

	return a.Config.dbPath()
}

// backupDir is the given folder, or the one beside the memory.
func (a *app) backupDir(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	path, err := a.backupSource()
	if err != nil {
		return "", err
	}
	place, err := local.FilesOf(path)

	return place.Backups(), err
}

type backupListCmd struct {
	Dir  string `arg:"" optional:"" name:"dir" type:"path" help:"Where backups lie. Default the folder backups beside the memory."`
	JSON bool   `name:"json" help:"Print it as JSON."`
}

func (c *backupListCmd) Run(a *app) error {
	dir, err := a.backupDir(c.Dir)
	if err != nil {
		return err
	}
	if c.Dir != "" && !exists(dir) {
		return noFolder(dir)
	}
	all, err := backup.List(dir)
	if err == nil && len(all) == 0 && !c.JSON {
		a.note("there is no backup in %s; robotmem backup makes one", dir)
	}

	return a.showResult(c.JSON, &struct {
		Dir     string          `json:"dir"`
		Backups []backup.Backup `json:"backups"`
	}{dir, all}, err)
}

// noFolder is the answer for a folder that is missing: a disk that is not mounted must not look
// like a folder without backups.
func noFolder(dir string) error {
	return notFound("dir", "there is no folder %s; is its disk mounted?", dir)
}

type backupVerifyCmd struct {
	Backup string `arg:"" optional:"" name:"backup" type:"path" help:"A backup, or a folder of them. Default the folder backups beside the memory."`
	JSON   bool   `name:"json" help:"Print it as JSON."`
}

// verdict is the result for one backup.
type verdict struct {
	Path    string `json:"path"`
	Healthy bool   `json:"healthy"`
	Problem string `json:"problem,omitempty"`
}

func (c *backupVerifyCmd) Run(ctx context.Context, a *app) error {
	dir, err := a.backupDir(c.Backup)
	if err != nil {
		return err
	}

	all, err := backup.List(dir)
	if err != nil {
		return err
	}

	// The path is of a backup itself.
	one := len(all) == 0
	if one && !exists(dir) {
		return noFolder(dir)
	} else if one {
		all = []backup.Backup{{Path: dir}}
	}

	ctx = a.watched(ctx)
	verdicts := []verdict{}

	var damaged error

	for _, b := range all {
		v := verdict{Path: b.Path, Healthy: true}
		_, err := backup.Verify(ctx, b.Path)
		told := (*robotmem.Error)(nil)
		// Only damage is a verdict. An interrupt, an error of the system or a wrong key ends the command.
		if err != nil && (ctx.Err() != nil || !errors.As(err, &told) || told.Field == "key" || one && told.Kind != robotmem.Corrupt) {
			return err
		}
		// The other backups are read nevertheless.
		if told != nil {
			v.Healthy, v.Problem, damaged = false, told.Detail(), exitUnhealthy
		}
		verdicts = append(verdicts, v)
	}

	err = a.showResult(c.JSON, &struct {
		Backups []verdict `json:"backups"`
	}{verdicts}, nil)

	return cmp.Or(err, damaged)
}

// newestNamed is how many backups of a folder an error names.
const newestNamed = 5

type backupRestoreCmd struct {
	Backup string `arg:"" name:"backup" type:"path" help:"The backup, as list names it, or a path; also a memory's file that nobody has open."`
	To     string `name:"to" placeholder:"FILE" type:"path" help:"Restore to this file instead of the memory's own."`
	JSON   bool   `name:"json" help:"Print the answer as JSON."`
}

func (c *backupRestoreCmd) Run(ctx context.Context, a *app) error {
	path, err := a.backupSource()
	if err != nil {
		return err
	}

	from := c.Backup
	folder, err := a.backupDir("")
	if err != nil {
		return err
	}
	// A path wins over a name of the list.
	if named := filepath.Join(folder, filepath.Base(from)); !exists(from) && exists(named) {
		from = named
	}
	if c.To != "" {
		path = c.To
	}
	if all, err := backup.List(from); err == nil && len(all) > 0 {
		newest := all[max(0, len(all)-newestNamed):]

		names := make([]string, len(newest))
		for i, one := range newest {
			names[i] = shell.Quote(one.Path)
		}

		return notFound("backup", "%s is a folder of backups; name one of them: %s", from, strings.Join(names, ", "))
	}

	ctx = a.watched(ctx)
	res, err := backup.Restore(ctx, from, path, local.Options{ClientType: clientCLI, Logger: a.Log})
	if err != nil {
		return err
	}

	err = a.show(c.JSON, res, func(w *printed.Lines) {
		printed.Answer(w, res)
		if res.Aside != "" && res.Before != nil {
			w.Detail("undo", restoreCommand(res.Aside, res.Path))
		}
	})
	if err == nil && !res.Doctor.Healthy {
		err = exitUnhealthy
	}

	return err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
