package mavlink_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem/attach/mavlink"
)

type packed struct {
	Name, Frame string
	Fields      map[string]any
}

func frames(t testing.TB) (all []packed) {
	t.Helper()
	text, err := os.ReadFile("testdata/frames.json")
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// plain is what JSON makes of a message, so that it can be compared.
func plain(t testing.TB, v any) (out map[string]any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Every message of the dialect is read as pymavlink packs it, whole and byte by byte, between bytes that are none.
func TestAllMessages(t *testing.T) {
	whole, single := &mavlink.Decoder{}, &mavlink.Decoder{}
	all := frames(t)
	if len(all) < 200 {
		t.Fatalf("%d messages", len(all))
	}
	for _, p := range all {
		frame, err := hex.DecodeString(p.Frame)
		if err != nil {
			t.Fatal(err)
		}
		got := whole.Write(append([]byte("noise"), frame...))
		if len(got) != 1 || got[0].Name != p.Name || got[0].System != 7 {
			t.Fatalf("%s: got %+v", p.Name, got)
		}
		if diff := cmp.Diff(p.Fields, plain(t, got[0].Fields)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p.Name, diff)
		}
		var parts []*mavlink.Message
		for _, b := range frame {
			parts = append(parts, single.Write([]byte{b})...)
		}
		if len(parts) != 1 || parts[0].Name != p.Name {
			t.Errorf("%s byte by byte: %+v", p.Name, parts)
		}
	}
	if whole.Damaged+whole.Unknown+single.Damaged > 0 {
		t.Errorf("%d damaged, %d unknown", whole.Damaged, whole.Unknown)
	}
}

// A damaged frame is counted, and the next one is read.
func TestDamagedFrames(t *testing.T) {
	all := frames(t)
	first, _ := hex.DecodeString(all[0].Frame)
	second, _ := hex.DecodeString(all[1].Frame)
	for at := 10; at < len(first); at++ {
		broken := append([]byte{}, first...)
		broken[at] ^= 0x10
		d := &mavlink.Decoder{}
		got := append(d.Write(append(broken, second...)), d.Write(second)...)
		if d.Damaged == 0 || len(got) == 0 || got[len(got)-1].Name != all[1].Name {
			t.Errorf("byte %d: %d damaged, read %v", at, d.Damaged, got)
		}
	}
}

func TestEncodeComesBack(t *testing.T) {
	frame, err := mavlink.Encode(245, 190, 3, "STATUSTEXT", map[string]any{"severity": 4, "text": "danger ahead"})
	if err != nil {
		t.Fatal(err)
	}
	got := (&mavlink.Decoder{}).Write(frame)
	if len(got) != 1 || got[0].System != 245 || got[0].Fields["text"] != "danger ahead" || got[0].Number("severity") != 4 {
		t.Errorf("%+v", got)
	}
	if _, err := mavlink.Encode(1, 1, 0, "NOTHING", nil); err == nil {
		t.Error("a message that is none is encoded")
	}
}

func FuzzDecoder(f *testing.F) {
	for _, p := range frames(f)[:20] {
		frame, _ := hex.DecodeString(p.Frame)
		f.Add(frame)
	}
	f.Add([]byte{0xfe, 0xff, 0xfd})
	f.Fuzz(func(t *testing.T, b []byte) {
		d := &mavlink.Decoder{}
		n := 0
		for len(b) > 0 {
			part := min(len(b), 7)
			for _, m := range d.Write(b[:part]) {
				n++
				if _, err := json.Marshal(m.Fields); err != nil {
					t.Fatal(err)
				}
			}
			b = b[part:]
		}
		_ = fmt.Sprint(n, d.Damaged, d.Unknown)
	})
}
