package backup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/keys"
	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

var backupName = regexp.MustCompile(`^.+-\d{8}T\d{6}\.\d{3}Z$`)

func isBackupName(name string) bool {
	return backupName.MatchString(name) && !strings.HasPrefix(name, backupTemp)
}

// List returns the backups of a folder, oldest first. A backup whose backup.json cannot
// be read has a Problem. A folder that does not exist has no backups.
func List(dir string) ([]Backup, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return []Backup{}, nil
	}
	if err != nil {
		err := robotmem.Errorf(robotmem.Unavailable, "dir", "cannot be read (%s)", robotmem.Reason(err))
		return nil, robotmem.Wrap("backup", err)
	}

	all := []Backup{}

	for _, entry := range entries {
		if entry.IsDir() && isBackupName(entry.Name()) {
			all = append(all, readBackup(filepath.Join(dir, entry.Name())))
		}
	}
	slices.SortStableFunc(all, func(a, b Backup) int { return cmp.Compare(a.Number, b.Number) })

	return all, nil
}

// maxManifest limits the size of backup.json in bytes, far above its real size.
const maxManifest = 1 << 20

// readBackup reads backup.json.
func readBackup(path string) (b Backup) {
	f, err := os.Open(filepath.Join(path, backupManifest))
	if err == nil {
		var data []byte
		data, err = io.ReadAll(io.LimitReader(f, maxManifest))
		if err = errors.Join(err, f.Close()); err == nil {
			err = json.Unmarshal(data, &b)
		}
	}

	// A path in backup.json could lead out of the folder.
	if err == nil && (b.File == "" || b.File != filepath.Base(b.File)) {
		err = errors.New("it names no file")
	}
	if err != nil {
		b = Backup{Problem: fmt.Sprintf("its %s cannot be read (%s)", backupManifest, robotmem.Reason(err))}
	}
	b.Path, b.Name = path, filepath.Base(path)

	return b
}

// Verify reads a whole backup: it checks the checksum of the file, its pages and indexes, the
// checksum of every payload, and the counts in backup.json. It writes nothing. It fails with
// NotFound if there is no backup at path, and with Corrupt, which describes the damage.
func Verify(ctx context.Context, path string) (*Backup, error) {
	b, err := findBackup(path)
	if err == nil {
		err = b.verify(ctx)
	}
	return b, robotmem.Wrap("backup", err)
}

func findBackup(path string) (*Backup, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "", "is not a path")
	}
	if _, err := os.Stat(filepath.Join(path, backupManifest)); err != nil {
		return nil, robotmem.Errorf(robotmem.NotFound, "", "there is no backup at this path (%s); "+
			"robotmem backup list names them", robotmem.Reason(err))
	}

	b := readBackup(path)

	return &b, nil
}

func (b *Backup) verify(ctx context.Context) error {
	return advise(b.examine(ctx), b.Name+": ", "; take another backup")
}

func (b *Backup) examine(ctx context.Context) error {
	if b.Problem != "" {
		return robotmem.Errorf(robotmem.Corrupt, "", "%s", b.Problem)
	}
	file := filepath.Join(b.Path, b.File)

	size, sum, err := disk.SumFile(ctx, file)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return robotmem.Errorf(robotmem.Corrupt, "", "its file cannot be read (%s)", robotmem.Reason(err))
	case size != b.Bytes || sum != b.SHA256:
		return robotmem.Errorf(robotmem.Corrupt, "", "its file is not as it was made")
	}

	return verifyCopy(ctx, files.At(file), b.Held)
}

// advise adds the location and the next step to a description of damage.
func advise(err error, where, next string) error {
	if e := (*robotmem.Error)(nil); errors.As(err, &e) && e.Kind == robotmem.Corrupt {
		return robotmem.Errorf(robotmem.Corrupt, e.Field, "%s%w%s", where, e.Err, next)
	}
	return err
}

// verifyCopy checks a file that no program writes, and its payloads.
func verifyCopy(ctx context.Context, place files.Memory, held Figures) (err error) {
	k, err := keys.Find(ctx, place)
	if err != nil {
		return err
	}

	c, err := openCopy(ctx, place.DB(), k)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	c.SetInterrupt(ctx)
	if err := verifyFile(ctx, c, held); err != nil {
		return err
	}
	m := progress.Of(ctx)
	m.Stage("reading payloads", "bytes", held.PayloadBytes)
	folder := folderOf(place, k)

	return eachPayload(c, false, func(p payloadRow) error {
		return examinePayload(ctx, c, folder, p, func(n int) { m.Add(int64(n)) })
	})
}

// verifyFile checks the pages, indexes, rows and counts of a file, and the payloads in it.
func verifyFile(ctx context.Context, c *sqlite.Tables, held Figures) error {
	progress.Of(ctx).Stage("checking the copy", "", 0)
	if _, err := sqlite.RefuseForeign(c.File); err != nil {
		return err
	}

	// Files of an older schema have no checksums of rows, only those of pages and indexes.
	damage, err := c.Integrity(true)
	if err == nil && damage == "" && held.SchemaVersion >= store.ChecksumVersion {
		rows, rerr := c.Damaged()
		damage, err = rows.Text(), rerr
	}

	if err != nil {
		return err
	}
	if damage != "" {
		return robotmem.Errorf(robotmem.Corrupt, "", "the file is damaged (%s)", damage)
	}

	got, err := figures(c)
	if err != nil {
		return err
	}
	if got != held {
		return robotmem.Errorf(robotmem.Corrupt, "", "the copy holds %d memories and %d payloads as of change %d; "+
			"it should hold %d and %d as of change %d",
			got.Memories, got.Payloads, got.Changes, held.Memories, held.Payloads, held.Changes)
	}

	unnamed, err := unnamedPayloads(c, held.SchemaVersion)
	if err != nil {
		return err
	}
	if unnamed > 0 {
		return robotmem.Errorf(robotmem.Corrupt, "", "a payload is lost: %d memories refer to payloads without a row",
			unnamed)
	}

	// Payloads within the file need no folder.
	return eachPayload(c, true, func(p payloadRow) error {
		return examinePayload(ctx, c, payload.Folder{}, p, nil)
	})
}

// examinePayload fails if a payload that an active memory refers to is missing or damaged.
func examinePayload(
	ctx context.Context, c *sqlite.Tables, folder payload.Folder, p payloadRow, count func(int),
) error {
	what, err := maintenance.ExaminePayload(ctx, folder, &p.StoredPayload, true, count)
	if err != nil || what == "" || !p.wanted {
		return err
	}
	return lostPayload(c, p, what)
}
