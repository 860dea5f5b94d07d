package local_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"filippo.io/age"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/backup"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest"
)

func newKey(t *testing.T) (text, public string) {
	t.Helper()
	text, public, err := local.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return text, public
}

// An encrypted memory keeps the whole contract.
func TestContractOfAnEncryptedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("the node of a file has this test of its own: nothing for -race")
	}
	key, _ := newKey(t)
	robotmemtest.Run(t, func(t *testing.T) robotmem.Service {
		return openAt(t, filepath.Join(t.TempDir(), "memory.db"), local.Options{Key: key})
	})
}

// secretWords are in a text, a context, the name of a topic, of a collection, of an episode, a question, and the
// texts and pixels of payloads.
var secretWords = []string{"zanzibar", "quokka", "xylophon", "tapioca", "bergamot", "wolfram", "saffron", "nutmeg"}

// fillSecret stores every secret word.
func fillSecret(t *testing.T, n *local.Node) {
	t.Helper()
	ctx := t.Context()
	session, err := n.StartSession(ctx, &robotmem.StartSessionRequest{Collection: "tapioca", Context: robotmem.Object{"task": map[string]any{"name": "bergamot"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Learn(ctx, &robotmem.LearnRequest{
		Insight: "zanzibar holds the glass", Collection: "tapioca", SessionID: session.SessionID,
		Context: robotmem.Object{"quokka": "xylophon"},
	}); err != nil {
		t.Fatal(err)
	}
	table := []byte("wolfram,b\n" + strings.Repeat("1,2\n", 200))
	for _, data := range [][]byte{table, bytes.Repeat([]byte("saffron "), 100_000)} {
		if _, err := n.SavePerception(ctx, &robotmem.SavePerceptionRequest{
			Description: "nutmeg", PerceptionType: "tactile", Collection: "tapioca", DataBase64: data,
		}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := n.Recall(ctx, &robotmem.RecallRequest{Query: "zanzibar nutmeg", Collection: "tapioca"}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.EndSession(ctx, &robotmem.EndSessionRequest{SessionID: session.SessionID}); err != nil {
		t.Fatal(err)
	}
}

// noneInClear fails for every file below dir that has a secret word, in any of the spellings that files use.
func noneInClear(t *testing.T, when, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		lower := bytes.ToLower(data)
		for _, word := range secretWords {
			for _, spelled := range []string{word, hex.EncodeToString([]byte(word)), strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(word)), "=")[:8]} {
				if bytes.Contains(lower, []byte(strings.ToLower(spelled))) || strings.Contains(strings.ToLower(path[len(dir):]), spelled) {
					t.Errorf("%s: %s has %q in clear", when, path, spelled)
				}
			}
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%s: %d files, %v", when, files, err)
	}
}

func TestNothingOfAnEncryptedMemoryIsInClear(t *testing.T) {
	t.Parallel()
	key, _ := newKey(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "memory.db")

	// The words are found in a file in clear, or the test tests nothing.
	plain := t.TempDir()
	n := openAt(t, filepath.Join(plain, "memory.db"), local.Options{})
	fillSecret(t, n)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, name := range []string{"memory.db"} {
		data, err := os.ReadFile(filepath.Join(plain, name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, bytes.ToLower(data)...)
	}
	for _, word := range []string{"zanzibar", "quokka", "xylophon", "tapioca", "bergamot", "nutmeg"} {
		if !bytes.Contains(all, []byte(word)) {
			t.Errorf("a file in clear lacks %q", word)
		}
	}

	n = openAt(t, path, local.Options{Key: key})
	fillSecret(t, n)
	noneInClear(t, "while it is open", dir)
	if _, err := backup.Make(t.Context(), n, backup.Options{}); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(dir, "all.tar"))
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := n.Seal(out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Export(t.Context(), archive.NewWriter(sealed, false), archive.ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(sealed.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
	if d, err := n.Doctor(t.Context(), &admin.DoctorRequest{Deep: true}); err != nil || !d.Healthy {
		t.Errorf("%+v, %v", d, err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	noneInClear(t, "after a backup and an export", dir)

	// What is in the archive comes back, and any program of age opens it.
	in, err := os.Open(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	id, err := age.ParseX25519Identity(strings.TrimSpace(key))
	if err != nil {
		t.Fatal(err)
	}
	clear, err := age.Decrypt(in, id)
	if err != nil {
		t.Fatal(err)
	}
	src, err := archive.NewReader(clear)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	other := openAt(t, filepath.Join(t.TempDir(), "memory.db"), local.Options{})
	report, err := other.Import(t.Context(), src, archive.ImportOptions{})
	if err != nil || report.Memories.Created != 3 {
		t.Errorf("imported %+v, %v", report, err)
	}
}

func TestAnEncryptedMemoryNeedsItsKey(t *testing.T) {
	t.Parallel()
	key, _ := newKey(t)
	other, _ := newKey(t)
	path := filepath.Join(t.TempDir(), "memory.db")
	n := openAt(t, path, local.Options{Key: key})
	learn(t, n, "the glass slips at 9 N", nil)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		name, key, says string
		kind            robotmem.Kind
	}{
		{"none", "", "is required, because the memory is encrypted", robotmem.Invalid},
		{"another", other, "is not the key of this memory", robotmem.Invalid},
		{"no key", "open sesame", "is not a key", robotmem.Invalid},
	} {
		_, err := local.Open(t.Context(), path, local.Options{Key: c.key})
		if robotmem.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: the error repeats the secret: %v", c.name, err)
		}
	}

	n = openAt(t, path, local.Options{Key: key, ReadOnly: true})
	if res := recall(t, n, &robotmem.RecallRequest{Query: "glass"}); len(res.Memories) != 1 {
		t.Errorf("read-only it answers %d memories", len(res.Memories))
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}

	// Without its file of keys it is lost, and says so.
	if err := os.Rename(path+".keys", path+".kept"); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"", key} {
		if _, err := local.Open(t.Context(), path, local.Options{Key: k}); robotmem.KindOf(err) != robotmem.Corrupt || !strings.Contains(err.Error(), ".keys") {
			t.Errorf("without the file of keys: %v", err)
		}
	}
	if err := os.WriteFile(path+".keys", []byte("age-encryption.org/v1\nrubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := local.Open(t.Context(), path, local.Options{Key: key}); robotmem.KindOf(err) != robotmem.Corrupt {
		t.Errorf("with a damaged file of keys: %v", err)
	}
}

func TestAKeyForAMemoryInClearIsRefused(t *testing.T) {
	t.Parallel()
	key, _ := newKey(t)
	path := filepath.Join(t.TempDir(), "memory.db")
	if err := openAt(t, path, local.Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := local.Open(t.Context(), path, local.Options{Key: key}); !errors.Is(err, robotmem.Invalid) || !strings.Contains(err.Error(), "robotmem encrypt") {
		t.Errorf("it answers %v", err)
	}
}

// Processes that begin the same memory at the same time agree on one set of keys.
func TestAnEncryptedMemoryBegunTwiceAtOnce(t *testing.T) {
	t.Parallel()
	key, public := newKey(t)
	workshop, _ := newKey(t)
	_ = public
	path := filepath.Join(t.TempDir(), "memory.db")
	var all sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		all.Go(func() {
			n, err := local.Open(t.Context(), path, local.Options{Key: key})
			if err == nil {
				_, err = n.Learn(context.Background(), &robotmem.LearnRequest{Insight: "one of " + string(rune('a'+i))})
				err = errors.Join(err, n.Close())
			}
			errs[i] = err
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	n := openAt(t, path, local.Options{Key: key})
	if s, err := n.Stats(t.Context(), nil); err != nil || s.Total != int64(len(errs)) {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := local.Open(t.Context(), path, local.Options{Key: workshop}); !errors.Is(err, robotmem.Invalid) {
		t.Errorf("another key: %v", err)
	}
}

func TestTheEscrowOpensAnEncryptedMemory(t *testing.T) {
	t.Parallel()
	key, _ := newKey(t)
	workshop, public := newKey(t)
	path := filepath.Join(t.TempDir(), "memory.db")
	if _, err := local.Open(t.Context(), path, local.Options{Key: key, Escrow: []string{"age1nonsense"}}); !errors.Is(err, robotmem.Invalid) {
		t.Fatalf("a wrong public key: %v", err)
	}
	for _, k := range []string{key, workshop} {
		n := openAt(t, path, local.Options{Key: k, Escrow: []string{public}})
		learn(t, n, "the door opens to the left", nil)
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestADamagedEncryptedMemoryIsRecovered(t *testing.T) {
	t.Parallel()
	key, _ := newKey(t)
	path := filepath.Join(t.TempDir(), "memory.db")
	n := openAt(t, path, local.Options{Key: key})
	fillSecret(t, n)
	for i := range 200 {
		learn(t, n, strings.Repeat("a fact about bin ", 8)+string(rune('a'+i%26))+strings.Repeat("x", i), nil)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}

	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(make([]byte, 2048), info.Size()/2/2048*2048)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}

	report, err := local.RecoverInPlace(t.Context(), path, local.Options{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if report.Damaged == "" || !report.Doctor.Healthy && report.Doctor.Status == "" {
		t.Errorf("%+v", report)
	}
	noneInClear(t, "after a recovery", filepath.Dir(path))
	n = openAt(t, path, local.Options{Key: key})
	if res := recall(t, n, &robotmem.RecallRequest{Query: "fact about bin"}); len(res.Memories) == 0 {
		t.Error("nothing was recovered")
	}
	if err := openAt(t, report.Damaged, local.Options{Key: key, ReadOnly: true}).Close(); err != nil {
		t.Error(err)
	}
}
