package perception_test

import (
	"encoding/binary"
	"image/color"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/perception"
)

func TestSniff(t *testing.T) {
	img := picture(8, 8, color.White, color.Black)
	tests := []struct {
		name     string
		data     string
		declared string
		want     string
	}{
		{"png", string(pngOf(t, img)), "", "image/png"},
		{"jpeg", string(jpegOf(t, img)), "", "image/jpeg"},
		{"webp", string(webp("VP8X", make([]byte, 10))), "", "image/webp"},
		{"wav", string(wav(1, 16000, 100, 200)), "", "audio/wav"},
		{"npy", string(npy("<f8", "(1,)", elements(binary.LittleEndian, []float64{1}))), "", "application/x-npy"},
		{"mcap", "\x89MCAP0\r\n\x01", "", "application/vnd.mcap"},
		{"pcd", pcd, "", "application/x-pcd"},
		{"pcd without a comment", strings.TrimPrefix(pcd, "# .PCD v0.7\n"), "", "application/x-pcd"},
		{"json list", "[[1,2],[3,4]]", "", "application/json"},
		{"json object", `{"samples":[1]}`, "", "application/json"},
		{"csv", "Fx,Fy\n1,2\n3,4\n", "", "text/csv"},
		{"tsv", "Fx\tFy\n1\t2\n3\t4\n", "", "text/tab-separated-values"},
		{"text", "open the gripper", "", "text/plain; charset=utf-8"},
		{"Chinese text", "打开夹爪", "", "text/plain; charset=utf-8"},
		{"text that turns binary", strings.Repeat("a", 10_000) + "\xff\x00", "", "application/octet-stream"},
		{"bytes", "\x00\x01\x02\xff", "", "application/octet-stream"},
		{"nothing", "", "", "application/octet-stream"},
		{"declared is believed", "[1]", "text/csv", "text/csv"},
		{"declared is put in order", "x", "Text/Plain;  Charset=UTF-8", "text/plain; charset=UTF-8"},
		{"octet-stream says nothing", "[1]", "application/octet-stream", "application/json"},
		{"a parameter does not help it", "[1]", "Application/Octet-Stream; x=1", "application/json"},
		{"own types", "x", "application/vnd.acme+json", "application/vnd.acme+json"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := perception.Sniff([]byte(test.data), test.declared)
			if err != nil {
				t.Fatal(err)
			}
			if base, _, _ := strings.Cut(got, ";"); got != test.want && base != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestSniffRefusesMalformedTypes(t *testing.T) {
	for _, declared := range []string{
		"png", "image/", "/png", "image/png; x", "image/*", "image png", "image/png\r\nX: y", "a/b/c", "图/片",
		"a/" + strings.Repeat("b", 300),
	} {
		if got, err := perception.Sniff([]byte("x"), declared); err == nil {
			t.Errorf("%q: got %q, want an error", declared, got)
		}
	}
}
