package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// Noise returns a payload that cannot be compressed.
func noise(seed uint64, n int) []byte {
	out := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), 1}).Read(out) // never fails
	return out
}

// letters returns a nearly incompressible payload of text.
func letters(seed uint64, n int) []byte {
	out := noise(seed, n)
	for i := range out {
		out[i] = ' ' + out[i]%95
	}
	return out
}

func savePayload(t *testing.T, e *Engine, data []byte, edit func(*robotmem.SavePerceptionRequest)) *robotmem.SavePerceptionResponse {
	t.Helper()
	r := &robotmem.SavePerceptionRequest{Description: "what the sensor gave", DataBase64: data}
	if edit != nil {
		edit(r)
	}
	res, err := e.SavePerception(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// payloadRows counts the rows of payloads and of perceptions.
func payloadRows(t *testing.T, e *Engine) (rows, perceptions int64) {
	t.Helper()
	err := e.Store.Read(t.Context(), func(c *store.Conn) (err error) {
		if rows, err = sqlite.FileOf(c).Number("SELECT count(*) FROM payloads"); err != nil {
			return err
		}
		perceptions, err = sqlite.FileOf(c).Number("SELECT count(*) FROM memories WHERE type = 'perception'")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows, perceptions
}

// folderFiles lists all files in the folder of payloads.
func folderFiles(t *testing.T, e *Engine) (files int, stray []string) {
	t.Helper()
	sums, stray, err := e.Store.Payloads().List()
	if err != nil {
		t.Fatal(err)
	}
	return len(sums), stray
}

func sameData(t *testing.T, e *Engine, id int64, want []byte) {
	t.Helper()
	res, err := e.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: id})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(res.DataBase64, want) {
		t.Errorf("memory %d: %d bytes come back that are not the %d that went in", id, len(res.DataBase64), len(want))
	}
}

func healthy(t *testing.T, e *Engine) {
	t.Helper()
	d, err := e.Doctor(t.Context(), &admin.DoctorRequest{Deep: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range d.Checks {
		if c.Status == maintenance.CheckFail || c.Name == "payloads" && c.Status != maintenance.CheckOK {
			t.Errorf("%s: %s", c.Name, c.Detail)
		}
	}
}

func TestTheSameBytesAreStoredOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		size  int
		files int
	}{{"of 0 bytes", 0, 0}, {"small", 1000, 0}, {"the largest in the file", record.InlinePayload, 0}, {"the smallest in the folder", record.InlinePayload + 1, 1}, {"large", 3 << 20, 1}} {
		t.Run(tt.name, func(t *testing.T) {
			e := openTest(t, Options{})
			data := noise(1, tt.size)
			first := savePayload(t, e, data, nil)
			// Another shape would select another codec.
			second := savePayload(t, e, data, func(r *robotmem.SavePerceptionRequest) {
				r.MediaType, r.Metadata = "application/x-samples", robotmem.Object{"dtype": "<f4", "shape": []any{10, 3}}
			})
			if first.SHA256 != second.SHA256 || first.MemoryID == second.MemoryID || first.Bytes != int64(tt.size) {
				t.Fatalf("got %+v and %+v", first, second)
			}
			rows, perceptions := payloadRows(t, e)
			files, stray := folderFiles(t, e)
			if rows != 1 || perceptions != 2 || files != tt.files || len(stray) > 0 {
				t.Errorf("%d rows, %d perceptions, %d files, %v; want 1, 2, %d", rows, perceptions, files, stray, tt.files)
			}
			sameData(t, e, first.MemoryID, data)
			sameData(t, e, second.MemoryID, data)
			s, err := e.Stats(t.Context(), nil)
			if err != nil || s.PayloadBytes != int64(tt.size) || s.StoredBytes != int64(tt.size) {
				t.Errorf("stats count %d bytes, %d stored, %v", s.PayloadBytes, s.StoredBytes, err)
			}
			healthy(t, e)
		})
	}
}

// The codec is stored with the payload, so that payloads with an earlier codec remain
// readable.
func TestPayloadsAreStoredByTheirCodec(t *testing.T) {
	t.Parallel()
	ramp := make([]byte, 0, 2<<20)
	for i := 0; len(ramp) < cap(ramp); i++ {
		ramp = append(ramp, byte(i), byte(i>>8), byte(i>>16), 0)
	}
	e := openTest(t, Options{})
	samples := func(r *robotmem.SavePerceptionRequest) {
		r.MediaType, r.Metadata = "application/x-samples", robotmem.Object{"dtype": "<i4", "channels": []any{"tick"}}
	}
	for _, tt := range []struct {
		name  string
		data  []byte
		edit  func(*robotmem.SavePerceptionRequest)
		codec string // its beginning
		saves bool
	}{
		{"noise in the file", noise(2, 4000), nil, "raw", false},
		{"noise in the folder", noise(3, 400_000), nil, "raw", false},
		{"text", []byte(strings.Repeat("Fx,Fy\n1,2\n", 1000)), nil, "zstd", true},
		{"samples in the file", ramp[:100_000], samples, "delta.", true},
		{"samples in the folder", ramp, samples, "delta.", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := savePayload(t, e, tt.data, tt.edit)
			p := &store.StoredPayload{}
			err := e.Store.Read(t.Context(), func(c *store.Conn) (err error) {
				if p, err = c.Payload(res.SHA256); err != nil || p == nil {
					t.Fatal(p, err)
				}
				n, err := sqlite.FileOf(c).Number("SELECT stored FROM payloads WHERE sha256 = ?", p.Sum[:])
				if less := n < int64(len(tt.data)); less != tt.saves {
					t.Errorf("%d bytes are stored in %d", len(tt.data), n)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(p.Codec), tt.codec) {
				t.Errorf("codec %s, want %s", p.Codec, tt.codec)
			}
			sameData(t, e, res.MemoryID, tt.data)
		})
	}
	healthy(t, e)
}

// generated is a payload that is computed while it is read. It records the maximal
// memory use.
type generated struct {
	left, at int64
	heap     uint64
}

func (g *generated) Read(p []byte) (int, error) {
	if g.left == 0 {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), g.left)]
	for i := range p {
		x := uint64(g.at+int64(i)) * 0x9E3779B97F4A7C15
		p[i] = byte(x >> 56)
	}
	if g.at>>24 != (g.at+int64(len(p)))>>24 {
		g.heap = max(g.heap, heapInUse())
	}
	g.at += int64(len(p))
	g.left -= int64(len(p))
	return len(p), nil
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

func TestAPayloadIsNeverHeldWhole(t *testing.T) { // alone, because it measures the heap
	rounds.OnlyInCI(t, "220 MB")
	if testing.Short() {
		t.Skip("220 MB")
	}
	const size, most = 220 << 20, 160 << 20
	e := openTest(t, Options{})
	before := heapInUse()
	in := &generated{left: size}
	res, err := e.SavePerceptionFrom(t.Context(), &robotmem.SavePerceptionRequest{Description: "a long recording"}, in)
	if err != nil {
		t.Fatal(err)
	}
	if res.Bytes != size {
		t.Fatalf("%d bytes are stored of %d", res.Bytes, size)
	}
	d, err := e.OpenData(t.Context(), &robotmem.MemoryRequest{MemoryID: res.MemoryID})
	if err != nil {
		t.Fatal(err)
	}
	sum, buffer, out := sha256.New(), make([]byte, 1<<20), uint64(0)
	for {
		n, err := d.Read(buffer)
		sum.Write(buffer[:n])
		out = max(out, heapInUse())
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != res.SHA256 {
		t.Errorf("the bytes that come back have the sum %s, want %s", got, res.SHA256)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("heap: %d MiB before, %d MiB saving, %d MiB reading", before>>20, in.heap>>20, out>>20)
	if in.heap > before+most || out > before+most {
		t.Errorf("220 MB take %d MiB to save and %d MiB to read, at most %d", in.heap>>20, out>>20, most>>20)
	}
	if _, err := e.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: res.MemoryID}); !errors.Is(err, robotmem.TooLarge) {
		t.Errorf("all of it in one answer: %v, want too_large", err)
	}
}

// flipped inverts a bit of a stored payload, in the file or in the folder.
func flipped(t *testing.T, e *Engine, hexSum string) {
	t.Helper()
	sum, err := hex.DecodeString(hexSum)
	if err != nil {
		t.Fatal(err)
	}
	err = e.Store.Write(t.Context(), func(tx *store.Tx) error {
		return sqlite.FileOf(tx.Conn).Exec("UPDATE payloads SET data = substr(data, 1, 20) || CAST(char((unicode(substr(CAST(substr(data, 21, 1) AS TEXT), 1)) + 1) % 128) AS BLOB) || substr(data, 22) WHERE sha256 = ? AND data IS NOT NULL", sum)
	})
	if err != nil {
		t.Fatal(err)
	}
	path := payloadFile(t, e, hexSum)
	if path == "" {
		return
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// payloadFile returns the path of a payload in the folder, "" if it is not there.
func payloadFile(t *testing.T, e *Engine, hexSum string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(e.Store.Payloads().Dir, hexSum[:2], hexSum+"*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

func TestDoctorFindsWhatIsLost(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	ascii := []byte(strings.Repeat("0123456789abcdef", 40)) // compressed
	raw := letters(4, 200)
	for _, tt := range []struct {
		name   string
		data   []byte
		damage func(t *testing.T, e *Engine, sum string)
		reason string
	}{
		{"a bit in the file", raw, flipped, "its bytes are not those that were saved"},
		{"a bit of what is compressed in the file", ascii, flipped, "its bytes are not those that were saved"},
		{"a bit in the folder", noise(5, 400_000), flipped, "its bytes are not those that were saved"},
		{"a bit of what is compressed in the folder", bytes.Repeat(ascii, 1000), flipped, "its bytes are not those that were saved"},
		{"the file of the folder", noise(6, 400_000), func(t *testing.T, e *Engine, sum string) {
			if err := os.Remove(payloadFile(t, e, sum)); err != nil {
				t.Fatal(err)
			}
		}, "its file is missing"},
		{"the end of a file", noise(7, 400_000), func(t *testing.T, e *Engine, sum string) {
			if err := os.Truncate(payloadFile(t, e, sum), 1000); err != nil {
				t.Fatal(err)
			}
		}, "its bytes are not those that were saved"},
		{"the row", noise(8, 4000), func(t *testing.T, e *Engine, _ string) {
			if err := e.Store.Write(t.Context(), func(tx *store.Tx) error {
				return sqlite.FileOf(tx.Conn).Exec("DELETE FROM payloads WHERE bytes = 4000")
			}); err != nil {
				t.Fatal(err)
			}
		}, "it is named nowhere"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := openTest(t, Options{})
			whole := savePayload(t, e, noise(9, 5000), nil)
			res := savePayload(t, e, tt.data, nil)
			tt.damage(t, e, res.SHA256)
			want := []admin.LostPayload{{MemoryID: res.MemoryID, SHA256: res.SHA256, Reason: tt.reason}}
			d, err := e.Doctor(t.Context(), &admin.DoctorRequest{Deep: true})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, d.Lost); diff != "" || d.Healthy {
				t.Errorf("healthy: %v, lost (-want +got):\n%s", d.Healthy, diff)
			}
			if _, err := e.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: res.MemoryID}); !errors.Is(err, robotmem.Corrupt) {
				t.Errorf("its bytes: %v, want corrupt", err)
			}
			r, err := e.Repair(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, r.Doctor.Lost); diff != "" {
				t.Errorf("lost after the repair (-want +got):\n%s", diff)
			}
			sameData(t, e, whole.MemoryID, noise(9, 5000))
			if m, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: res.MemoryID}); err != nil || m.Content != "what the sensor gave" {
				t.Errorf("its text: %+v, %v", m, err)
			}
			if _, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: res.MemoryID, Reason: "lost"}); err != nil {
				t.Fatal(err)
			}
			healthy(t, e)
		})
	}
}

// A lost payload is restored when the same bytes are saved again.
func TestWhatIsDamagedIsReplacedBySavingAgain(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	row := func(change string) func(*testing.T, *Engine, string) {
		return func(t *testing.T, e *Engine, _ string) {
			t.Helper()
			if err := e.Store.Write(t.Context(), func(tx *store.Tx) error { return sqlite.FileOf(tx.Conn).Exec("UPDATE payloads SET " + change) }); err != nil {
				t.Fatal(err)
			}
		}
	}
	for place, data := range map[string][]byte{
		"file": letters(10, 200), "file, compressed": bytes.Repeat(letters(11, 100), 50),
		"folder": noise(10, 400_000), "folder, compressed": bytes.Repeat(letters(12, 1000), 400),
	} {
		for what, damage := range map[string]func(*testing.T, *Engine, string){
			"bits": flipped, "size": row("bytes = bytes + 1"), "no size": row("bytes = -1"), "size beyond all": row("bytes = 1 << 40"), "codec": row("codec = 'lzma'"),
		} {
			t.Run(place+": "+what, func(t *testing.T) {
				e := openTest(t, Options{})
				res := savePayload(t, e, data, nil)
				damage(t, e, res.SHA256)
				if d, err := e.Doctor(t.Context(), &admin.DoctorRequest{}); err != nil || d.Healthy {
					t.Fatalf("the damage does not show: %+v, %v", d, err)
				}
				savePayload(t, e, data, nil)
				sameData(t, e, res.MemoryID, data)
				healthy(t, e)
			})
		}
	}
}

// An unreadable folder is reported, and prevents neither the other checks nor the repair
// of the indexes. Nothing is evicted if that frees no space.
func TestAFolderThatCannotBeReadIsReported(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	res := savePayload(t, e, noise(13, 400_000), nil)
	folder := e.Store.Payloads().Dir
	if err := errors.Join(e.Close(), os.Rename(folder, folder+".away"), os.WriteFile(folder, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	reopen := func() *Engine {
		t.Helper()
		again, err := openFile(t.Context(), e.Store.Path(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = again.Close() }) // after a failure
		return again
	}
	e = reopen()
	d, err := e.Doctor(t.Context(), &admin.DoctorRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Healthy || len(d.Lost) != 1 || d.Lost[0].MemoryID != res.MemoryID {
		t.Errorf("healthy %v, lost %+v; want memory %d", d.Healthy, d.Lost, res.MemoryID)
	}
	_, err = e.Retain(t.Context(), &admin.RetainRequest{Budgets: []admin.Budget{{MaxBytes: 1}}, Apply: true})
	if !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("evicting: %v, want unavailable", err)
	}
	fillFullText(t, e)
	if err := e.Store.Write(t.Context(), func(tx *store.Tx) error { return sqlite.FileOf(tx.Conn).Exec("DELETE FROM memories_fts_content") }); err != nil {
		t.Fatal(err)
	}
	r, err := e.Repair(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Doctor.Checks {
		if (c.Status == maintenance.CheckFail) != (c.Name == "payloads") {
			t.Errorf("after the repair %s: %s (%s)", c.Name, c.Status, c.Detail)
		}
	}
	if err := errors.Join(e.Close(), os.Remove(folder), os.Rename(folder+".away", folder)); err != nil {
		t.Fatal(err)
	}
	e = reopen()
	sameData(t, e, res.MemoryID, noise(13, 400_000))
	healthy(t, e)
}

func TestAnOrphanIsReportedAndSweptWhenItIsOld(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	res := savePayload(t, e, noise(11, 400_000), nil)
	path := payloadFile(t, e, res.SHA256)
	orphan := filepath.Join(filepath.Dir(filepath.Dir(path)), "00", strings.Repeat("0", 64))
	temp := filepath.Join(filepath.Dir(filepath.Dir(path)), "tmp-1234")
	if err := os.MkdirAll(filepath.Dir(orphan), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{orphan, temp} {
		if err := os.WriteFile(name, []byte("left by a crash"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	there := func() (n int) {
		for _, name := range []string{orphan, temp} {
			if _, err := os.Stat(name); err == nil {
				n++
			}
		}
		return n
	}
	d, err := e.Doctor(t.Context(), nil)
	if err != nil || !d.Healthy || d.Status != maintenance.CheckWarn {
		t.Errorf("two orphans are %+v, %v; want a warning", d, err)
	}
	if _, err := e.Repair(t.Context(), nil); err != nil || there() != 2 {
		t.Errorf("%d of two young files are left, %v", there(), err)
	}
	old := time.Now().Add(-2 * maintenance.OrphanAge)
	for _, name := range []string{orphan, temp, path} {
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	r, err := e.Repair(t.Context(), nil)
	if err != nil || there() != 0 || !slices.Contains(r.Repaired, "2 files of the payload folder that belonged to no memory") {
		t.Errorf("%d of two old files are left; %v, %v", there(), r.Repaired, err)
	}
	sameData(t, e, res.MemoryID, noise(11, 400_000))
	healthy(t, e)
}

// breaking returns some bytes and then fails.
type breaking struct{ left int }

var errCable = errors.New("the cable was pulled")

func (b *breaking) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errCable
	}
	n := min(len(p), b.left)
	copy(p[:n], noise(uint64(b.left), n))
	b.left -= n
	return n, nil
}

func TestARefusedPerceptionLeavesNothing(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{MaxStream: 2 << 20})
	large := func() io.Reader { return bytes.NewReader(noise(12, 1<<20)) }
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	ended, err := e.StartSession(t.Context(), &robotmem.StartSessionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: ended.SessionID}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		ctx   context.Context
		edit  func(*robotmem.SavePerceptionRequest)
		data  io.Reader
		kind  robotmem.Kind
		field string
	}{
		{"an unknown session", t.Context(), func(r *robotmem.SavePerceptionRequest) { r.SessionID = "019a0000-0000-7000-8000-000000000000" }, large(), robotmem.NotFound, "session_id"},
		{"an ended session", t.Context(), func(r *robotmem.SavePerceptionRequest) { r.SessionID = ended.SessionID }, large(), robotmem.Conflict, "session_id"},
		{"a small one, an ended session", t.Context(), func(r *robotmem.SavePerceptionRequest) { r.SessionID = ended.SessionID }, strings.NewReader("few"), robotmem.Conflict, "session_id"},
		{"a reader that fails at once", t.Context(), nil, &breaking{}, robotmem.Invalid, "data"},
		{"a reader that fails early", t.Context(), nil, &breaking{1000}, robotmem.Invalid, "data"},
		{"a reader that fails in the middle", t.Context(), nil, &breaking{1 << 20}, robotmem.Invalid, "data"},
		{"too large", t.Context(), nil, &generated{left: 2<<20 + 1}, robotmem.TooLarge, "data"},
		{"a media type that is none", t.Context(), func(r *robotmem.SavePerceptionRequest) { r.MediaType = "a b c" }, large(), robotmem.Invalid, "media_type"},
		{"a context that is none", t.Context(), func(r *robotmem.SavePerceptionRequest) {
			r.Context = robotmem.Object{"spatial": map[string]any{"pose": map[string]any{"frame_id": 1}}}
		}, large(), robotmem.Invalid, "context.spatial.pose.frame_id"},
		{"a caller who has gone", cancelled, nil, large(), robotmem.Unavailable, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &robotmem.SavePerceptionRequest{Description: "large and refused"}
			if tt.edit != nil {
				tt.edit(r)
			}
			_, err := e.SavePerceptionFrom(tt.ctx, r, tt.data)
			refused := (*robotmem.Error)(nil)
			if !errors.As(err, &refused) || refused.Kind != tt.kind || refused.Field != tt.field {
				t.Errorf("got %v, want %s of %s", err, tt.kind, tt.field)
			}
			rows, perceptions := payloadRows(t, e)
			if files, stray := folderFiles(t, e); rows+perceptions+int64(files) > 0 || len(stray) > 0 {
				t.Errorf("left: %d rows, %d perceptions, %d files, %v", rows, perceptions, files, stray)
			}
		})
	}
}

// A write that fails after the file was written removes the file.
func TestAFailedCommitLeavesNoFile(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	kept := savePayload(t, e, noise(13, 400_000), nil)
	if err := e.Store.Write(t.Context(), func(tx *store.Tx) error {
		return sqlite.FileOf(tx.Conn).Exec("CREATE TRIGGER refuse BEFORE INSERT ON payloads BEGIN SELECT RAISE(ABORT, 'no'); END")
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "another one", DataBase64: noise(14, 400_000)}); err == nil {
		t.Fatal("the trigger refuses nothing: the test tests nothing")
	}
	if err := e.Store.Write(t.Context(), func(tx *store.Tx) error { return sqlite.FileOf(tx.Conn).Exec("DROP TRIGGER refuse") }); err != nil {
		t.Fatal(err)
	}
	if files, stray := folderFiles(t, e); files != 1 || len(stray) > 0 {
		t.Errorf("%d files and %v, want that of the first perception", files, stray)
	}
	sameData(t, e, kept.MemoryID, noise(13, 400_000))
}

// Two nodes on one file save the same few payloads and evict them at the same time: each
// payload that was acknowledged and not evicted has its bytes.
func TestSavingBesideEviction(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "memory.db")
	nodes := make([]*Engine, 2)
	for i := range nodes {
		e, err := openFile(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		nodes[i] = e
	}
	payloads := [][]byte{noise(20, 300_000), noise(21, 300_000), noise(22, 2000)}
	rounds := rounds.Of(16, 40)
	if testing.Short() {
		rounds = 8
	}
	var savers, evictors sync.WaitGroup
	var stop atomic.Bool
	var saved, evictions, again atomic.Int64
	for k := range 8 {
		savers.Go(func() {
			for i := range rounds {
				data := payloads[(i+k)%len(payloads)]
				_, err := nodes[k%2].SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: fmt.Sprintf("frame %d of %d", i, k), DataBase64: data})
				switch {
				case errors.Is(err, robotmem.Unavailable) && strings.Contains(err.Error(), "save it again"):
					again.Add(1)
				case err != nil:
					t.Errorf("save: %v", err)
				default:
					saved.Add(1)
				}
			}
		})
	}
	for _, e := range nodes {
		evictors.Go(func() {
			for !stop.Load() {
				res, err := e.Retain(t.Context(), &admin.RetainRequest{Budgets: []admin.Budget{{MaxBytes: 1}}, Apply: true})
				if err != nil {
					t.Errorf("retain: %v", err)
					return
				}
				evictions.Add(int64(res.Count))
				time.Sleep(3 * time.Millisecond)
			}
		})
	}
	savers.Wait()
	stop.Store(true)
	evictors.Wait()
	for _, data := range payloads { // some stay
		savePayload(t, nodes[0], data, nil)
	}
	readable, evicted := 0, int64(0)
	for before := int64(0); ; {
		l, err := nodes[1].List(t.Context(), &robotmem.ListRequest{Limit: 1000, BeforeID: before, Status: "all"})
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Memories) == 0 {
			break
		}
		for _, m := range l.Memories {
			before = m.MemoryID
			d, err := nodes[1].Data(t.Context(), &robotmem.MemoryRequest{MemoryID: m.MemoryID})
			switch {
			case m.Status == "active" && err != nil:
				t.Errorf("memory %d is active and its bytes are gone: %v", m.MemoryID, err)
			case m.Status == "active" && d.SHA256 == m.SHA256:
				readable++
			default:
				evicted++
			}
		}
	}
	s, err := nodes[0].Stats(t.Context(), nil)
	if err != nil || s.Evicted != evicted || evictions.Load() != evicted {
		t.Errorf("stats account for %d evictions, the nodes for %d, %d memories were evicted: %v", s.Evicted, evictions.Load(), evicted, err)
	}
	t.Logf("%d saved, %d told to save again, %d evicted, %d readable", saved.Load(), again.Load(), evicted, readable)
	if evicted < 10 || readable < 3 {
		t.Errorf("%d evicted, %d readable: the test tests nothing", evicted, readable)
	}
	healthy(t, nodes[0])
}
