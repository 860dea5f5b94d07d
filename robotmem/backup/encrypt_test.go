package backup

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/keys"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func newKey(t *testing.T) string {
	t.Helper()
	text, _, err := local.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// stocked makes a memory with a fact, an update, and payloads in the folder, and returns its path.
func stocked(t *testing.T, o local.Options) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	n, err := local.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	fact, err := n.Learn(ctx, &robotmem.LearnRequest{Insight: "the zanzibar cup slips at 9 N"})
	if err != nil {
		t.Fatal(err)
	}
	text := "the zanzibar cup slips at 9.5 N"
	if _, err := n.Update(ctx, &robotmem.UpdateRequest{MemoryID: fact.MemoryID, NewContent: text}); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"zanzibar ", "zanzibari "} {
		if _, err := n.SavePerception(ctx, &robotmem.SavePerceptionRequest{
			Description: "what " + word + "measured", PerceptionType: "tactile", DataBase64: bytes.Repeat([]byte(word), 100_000),
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// whole fails unless the memory has all that stocked has put there, under its id.
func whole(t *testing.T, what, path, id string, o local.Options) {
	t.Helper()
	n, err := local.Open(t.Context(), path, o)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	if got, err := n.FileID(t.Context()); err != nil || got != id {
		t.Errorf("%s: the file's id is %s, was %s, %v", what, got, id, err)
	}
	d, err := n.Doctor(t.Context(), &admin.DoctorRequest{Deep: true})
	if err != nil || !d.Healthy {
		t.Errorf("%s: doctor: %+v, %v", what, d, err)
	}
	if s, err := n.Stats(t.Context(), nil); err != nil || s.Total != 3 {
		t.Errorf("%s: %+v, %v", what, s, err)
	}
	res, err := n.Recall(t.Context(), &robotmem.RecallRequest{Query: "zanzibar cup"})
	if err != nil || len(res.Memories) == 0 || !strings.Contains(res.Memories[0].Content, "9.5 N") {
		t.Errorf("%s: recall: %+v, %v", what, res, err)
	}
}

func idOf(t *testing.T, path string, o local.Options) string {
	t.Helper()
	ctx, err := local.WithKey(t.Context(), o.Key)
	if err != nil {
		t.Fatal(err)
	}
	place, err := local.FilesOf(path)
	if err != nil {
		t.Fatal(err)
	}
	id := local.FileID(ctx, place)
	if id == "" {
		t.Fatal("the file has no id")
	}
	return id
}

// inClear counts the files beside path that hold the word of stocked.
func inClear(t *testing.T, path string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Dir(path), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		// The payloads are compressed, so that their names tell.
		if bytes.Contains(data, []byte("zanzibar")) || strings.Contains(name, ".payloads/") && !strings.HasSuffix(name, ".age") {
			found = append(found, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestEncryptAndDecrypt(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	plain, sealed := local.Options{}, local.Options{Key: newKey(t)}
	path := stocked(t, plain)
	id := idOf(t, path, plain)
	if len(inClear(t, path)) < 3 {
		t.Fatalf("in clear before: %q", inClear(t, path))
	}

	res, err := Encrypt(ctx, path, nil, sealed)
	if err != nil {
		t.Fatal(err)
	}
	if res.Memories != 3 || res.Payloads != 2 || len(res.Recipients) != 1 {
		t.Errorf("%+v", res)
	}
	if found := inClear(t, path); len(found) > 0 {
		t.Errorf("in clear after: %q", found)
	}
	whole(t, "encrypted", path, id, sealed)
	if _, err := local.Open(ctx, path, plain); !errors.Is(err, robotmem.Invalid) {
		t.Errorf("without the key: %v", err)
	}
	if _, err := Encrypt(ctx, path, nil, sealed); err != nil {
		t.Errorf("a second time: %v", err)
	}

	if res, err = Decrypt(ctx, path, sealed); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + ".keys"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file of keys after a decryption: %v", err)
	}
	if res.Payloads != 2 {
		t.Errorf("%+v", res)
	}
	whole(t, "decrypted", path, id, plain)
	if _, err := Decrypt(ctx, path, plain); !errors.Is(err, robotmem.Conflict) {
		t.Errorf("decrypting a memory in clear: %v", err)
	}
}

func TestEncryptRefuses(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := stocked(t, local.Options{})
	sealed := local.Options{Key: newKey(t)}
	if _, err := Encrypt(ctx, path, nil, local.Options{}); !errors.Is(err, robotmem.Invalid) {
		t.Errorf("without a key: %v", err)
	}
	if _, err := Encrypt(ctx, path, []string{"age1nonsense"}, sealed); !errors.Is(err, robotmem.Invalid) {
		t.Errorf("with a wrong public key: %v", err)
	}
	if _, err := Encrypt(ctx, path+".none", nil, sealed); !errors.Is(err, robotmem.NotFound) {
		t.Errorf("no file: %v", err)
	}

	n, err := local.Open(ctx, path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Encrypt(ctx, path, nil, sealed); !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("while a node has it open: %v", err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + ".keys"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refusal has left a file of keys: %v", err)
	}
	whole(t, "after the refusals", path, idOf(t, path, local.Options{}), local.Options{})
}

// After an interruption at any step the memory is whole, and either command continues.
func TestAnInterruptedEncryptionContinues(t *testing.T) {
	t.Parallel()
	plain := local.Options{}
	key := newKey(t)
	sealed := local.Options{Key: key}
	id, err := keys.Parse(key)
	if err != nil {
		t.Fatal(err)
	}

	// interrupt leaves a memory in a state, and says whether a node with or without the key opens it.
	states := map[string]struct {
		interrupt func(path string) error
		opens     bool
	}{
		"the file of keys is written": {func(path string) error {
			k, err := keys.Make(id, nil)
			if err != nil {
				return err
			}
			return k.Save(disk.System{}, files.At(path))
		}, false},
		"the payloads are not converted": {func(path string) error {
			folder := files.At(path).Payloads()
			if err := os.Rename(folder, folder+".away"); err != nil {
				return err
			}
			if _, err := Encrypt(t.Context(), path, nil, sealed); err != nil {
				return err
			}
			return errors.Join(os.RemoveAll(folder), os.Rename(folder+".away", folder))
		}, true},
		"a decryption has replaced the file": {func(path string) error {
			if _, err := Encrypt(t.Context(), path, nil, sealed); err != nil {
				return err
			}
			saved, err := os.ReadFile(path + ".keys")
			if err != nil {
				return err
			}
			if _, err := Decrypt(t.Context(), path, sealed); err != nil {
				return err
			}
			return os.WriteFile(path+".keys", saved, 0o600)
		}, false},
	}
	for name, s := range states {
		for _, command := range []string{"encrypt", "decrypt"} {
			t.Run(name+", then "+command, func(t *testing.T) {
				t.Parallel()
				path := stocked(t, plain)
				fileID := idOf(t, path, plain)
				if err := s.interrupt(path); err != nil {
					t.Fatal(err)
				}
				n, err := local.Open(t.Context(), path, sealed)
				if s.opens != (err == nil) {
					t.Errorf("a node opens it: %v", err)
				}
				if err == nil {
					d, derr := n.Doctor(t.Context(), nil)
					if derr != nil || !strings.Contains(findings(d), "payloads are not encrypted") {
						t.Errorf("doctor says %s, %v", findings(d), derr)
					}
					err = n.Close()
				} else if errors.Is(err, robotmem.Conflict) {
					err = nil
				}
				if err != nil {
					t.Fatal(err)
				}

				o := sealed
				if command == "encrypt" {
					_, err = Encrypt(t.Context(), path, nil, sealed)
				} else {
					_, err = Decrypt(t.Context(), path, sealed)
					o = plain
				}
				if err != nil {
					t.Fatal(err)
				}
				if found := inClear(t, path); command == "encrypt" && len(found) > 0 {
					t.Errorf("in clear: %q", found)
				}
				whole(t, command, path, fileID, o)
			})
		}
	}
}

func findings(d *admin.DoctorResponse) (all string) {
	for _, c := range d.Checks {
		all += c.Status + " " + c.Name + ": " + c.Detail + "\n"
	}
	return all
}

func TestRekey(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	first, second := local.Options{Key: newKey(t)}, local.Options{Key: newKey(t)}
	path := stocked(t, first)
	id := idOf(t, path, first)

	// A node that has it open goes on.
	n, err := local.Open(ctx, path, first)
	if err != nil {
		t.Fatal(err)
	}
	made, err := Make(ctx, n, Options{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := Rekey(ctx, path, second.Key, nil, first)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Others) != 1 || res.Others[0] != made.Path {
		t.Errorf("backups that it does not change: %q", res.Others)
	}
	if _, err := n.Learn(ctx, &robotmem.LearnRequest{Insight: "it goes on"}); err != nil {
		t.Error(err)
	}
	later, err := Make(ctx, n, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}

	if _, err := local.Open(ctx, path, first); !errors.Is(err, robotmem.Invalid) {
		t.Errorf("the former key: %v", err)
	}
	for _, c := range []struct {
		backup string
		o      local.Options
	}{{made.Path, first}, {later.Path, second}} {
		keyed, err := local.WithKey(ctx, c.o.Key)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Verify(keyed, c.backup); err != nil {
			t.Errorf("%s: %v", c.backup, err)
		}
	}
	// The backup before has the same keys, so that it can take the place of the memory.
	if _, err := Restore(ctx, made.Path, path, first); !errors.Is(err, robotmem.Invalid) {
		t.Errorf("a restore over a memory that the key does not open: %v", err)
	}
	if _, err := Restore(ctx, later.Path, path, second); err != nil {
		t.Error(err)
	}
	if _, err := Rekey(ctx, stocked(t, local.Options{}), second.Key, nil, local.Options{}); !errors.Is(err, robotmem.Conflict) {
		t.Errorf("a memory in clear: %v", err)
	}
	_ = id
}

func TestRestoreOfEncryptedBackups(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	plain, sealed := local.Options{}, local.Options{Key: newKey(t)}
	path := stocked(t, plain)
	id := idOf(t, path, plain)
	backUp := func(o local.Options) string {
		t.Helper()
		n, err := local.Open(ctx, path, o)
		if err != nil {
			t.Fatal(err)
		}
		made, err := Make(ctx, n, Options{})
		if err := errors.Join(err, n.Close()); err != nil {
			t.Fatal(err)
		}
		return made.Path
	}
	before := backUp(plain)
	if _, err := Encrypt(ctx, path, nil, sealed); err != nil {
		t.Fatal(err)
	}
	after := backUp(sealed)
	if found := inClear(t, filepath.Join(after, "x")); len(found) > 0 {
		t.Errorf("the backup of an encrypted memory has in clear: %q", found)
	}

	// On itself, on another place, and the one in clear on the encrypted memory and back.
	if _, err := Restore(ctx, after, path, sealed); err != nil {
		t.Fatal(err)
	}
	whole(t, "restored", path, id, sealed)
	elsewhere := filepath.Join(t.TempDir(), "memory.db")
	if _, err := Restore(ctx, after, elsewhere, sealed); err != nil {
		t.Fatal(err)
	}
	if found := inClear(t, elsewhere); len(found) > 0 {
		t.Errorf("restored elsewhere, in clear: %q", found)
	}
	if _, err := Restore(ctx, after, path, plain); !errors.Is(err, robotmem.Invalid) {
		t.Errorf("without the key: %v", err)
	}
	res, err := Restore(ctx, before, path, sealed)
	if err != nil {
		t.Fatal(err)
	}
	whole(t, "the backup in clear", path, id, plain)
	if _, err := os.Stat(path + ".keys"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file of keys: %v", err)
	}
	// What was replaced opens with its key.
	n, err := local.Open(ctx, res.Aside, sealed)
	if err != nil {
		t.Fatal(err)
	}
	d, err := n.Doctor(ctx, &admin.DoctorRequest{Deep: true})
	if err := errors.Join(err, n.Close()); err != nil || !d.Healthy {
		t.Errorf("%s, %v", findings(d), err)
	}
	if _, err := Restore(ctx, after, path, sealed); err != nil {
		t.Fatal(err)
	}
	whole(t, "encrypted again", path, id, sealed)
}
