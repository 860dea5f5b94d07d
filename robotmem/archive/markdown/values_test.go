package markdown

import (
	"bytes"
	"encoding/json"
	"testing"
)

// What an export writes is read again: numbers keep their spelling, texts their bytes.
func TestFrontMatterKeepsValues(t *testing.T) {
	record := map[string]any{"status": "active", "created_at": "2026-11-03T14:05:00.123Z", "on": true, "none": nil, "empty": map[string]any{}}
	for _, n := range []string{"1", "-0", "0.10", "1e-7", "1E5", "-1.5e+300", "123456789012345678901234567890", "-9223372036854775809", "1e400", "-0.0", "1.0"} {
		record["n"+n] = []any{json.Number(n), map[string]any{n: json.Number(n)}}
		record["m"+n] = json.Number(n)
	}
	for _, s := range []string{
		"0x1F", "1_000", "yes", "~", "null", "", " ", "a: b", "- x", "#", "'", "\"", "\\", "\t", "\r\n", "\x7f", "\u0085", "\u00a0", "\ufeff", "\u2029", "\u0000",
		"0o7", ".inf", "2026-01-01", "12:30", "!tag", "&a", "*a", "%", "@", "`", "---", "a\n---\nb", "\U0001F600", "</script>", "x\u001b[0m", "\u202e",
	} {
		record["t"+s] = s
		record["q"+s] = map[string]any{s: []string{s, s}}
	}
	for name, value := range record {
		var b bytes.Buffer
		if err := WriteFrontMatter(&b, map[string]any{"field": value}); err != nil {
			t.Fatal(err)
		}
		fields, _, err := CutFrontMatter(b.Bytes())
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		var got any
		dec := json.NewDecoder(bytes.NewReader(fields["field"]))
		dec.UseNumber()
		if err := dec.Decode(&got); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		have, _ := json.Marshal(got)
		if want, _ := json.Marshal(value); !bytes.Equal(have, want) {
			t.Errorf("%q: got %s, want %s", name, have, want)
		}
	}
}
