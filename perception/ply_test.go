package perception_test

import (
	"encoding/binary"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/pointcloud"
)

const ply = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"

// bomb is a compressed PCD of that many points in so many bytes of zeros.
func bomb(points, packed int) perception.Item {
	header := "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nPOINTS " + strconv.Itoa(points) + "\nDATA binary_compressed\n"
	b := binary.LittleEndian.AppendUint32([]byte(header), uint32(packed))
	b = binary.LittleEndian.AppendUint32(b, uint32(12*points))
	return perception.Item{Data: append(b, make([]byte, packed)...)}
}

func TestCloudFilesAreSniffed(t *testing.T) {
	for name, want := range map[string]string{"ascii.ply": "application/x-ply", "binary_big_endian.ply": "application/x-ply", "binary_compressed.pcd": "application/x-pcd"} {
		item := cloudFile(t, name)
		got, err := perception.Sniff(item.Data, "")
		if err != nil || got != want || perception.SenseOf(got, perception.Summarize(item)) != "spatial" {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
		if kind, _, ok := perception.Features(item); !ok || !strings.HasPrefix(kind, "cloud/") {
			t.Errorf("%s: got features %q", name, kind)
		}
	}
}

// A list between the numbers of a point, and an element of lists before, in big endian.
func TestListsBesidePoints(t *testing.T) {
	b := []byte("ply\nformat binary_big_endian 1.0\ncomment x\nelement face 1\nproperty list uchar int vertex_indices\nelement vertex 2\n" +
		"property float x\nproperty list ushort double tags\nproperty short y\nproperty double z\nend_header\n")
	b = append(b, 1, 0, 0, 0, 1)
	for i := range 2 {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(float32(i)))
		b = binary.BigEndian.AppendUint16(b, uint16(i))
		b = append(b, make([]byte, 8*i+2)...)
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(1))
	}
	c, err := pointcloud.Decode(perception.Item{Data: b}.Payload())
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Positions; len(got) != 6 || got[3] != 1 || got[5] != 1 || got[0] != 0 {
		t.Errorf("got %v", got)
	}
}

func TestCloudFilesThatLie(t *testing.T) {
	replace := func(s, old, new string) perception.Item {
		return perception.Item{Data: []byte(strings.Replace(s, old, new, 1))}
	}
	compressed := string(cloudFile(t, "binary_compressed.pcd").Data)
	body := strings.Index(compressed, "binary_compressed\n") + len("binary_compressed\n")
	binaryPLY, listsPLY := string(cloudFile(t, "binary_little_endian.ply").Data), string(cloudFile(t, "binary_little_endian_lists.ply").Data)
	for name, test := range map[string]struct {
		item perception.Item
		want string
	}{
		"compressed, more than it holds":     {replace(compressed, "POINTS 40", "POINTS 4000000"), "need 104000000"},
		"compressed, cut":                    {perception.Item{Data: []byte(compressed[:len(compressed)-9])}, "are there"},
		"compressed, no sizes":               {perception.Item{Data: []byte(compressed[:body+5])}, "end before their size"},
		"compressed, beyond the ratio":       {bomb(1<<20, 100), "cannot hold that"},
		"compressed, not what it claims":     {bomb(100, 50), "damaged"},
		"ply, too many":                      {replace(ply, "vertex 3", "vertex 4000000"), "the data ends within element \"vertex\""},
		"ply, binary, too many":              {replace(binaryPLY, "vertex 40", "vertex 4000000"), "within element \"vertex\" 41 of"},
		"ply, lists, too many":               {replace(listsPLY, "vertex 40", "vertex 4000000"), "within element"},
		"ply, faces before vertices":         {replace(binaryPLY, "face 2", "face 2147483647"), "within element \"face\""},
		"ply, list counted by float":         {replace(ply, "list uchar", "list float"), `"float" cannot count`},
		"ply, type":                          {replace(ply, "property float x", "property half x"), `unknown type "half"`},
		"ply, no vertices":                   {replace(ply, "element vertex", "element vertices"), "no element vertex"},
		"ply, no end":                        {replace(ply, "end_header", "end"), "no end_header"},
		"ply, a word":                        {replace(ply, "1 0 0", "1 up 0"), `"up" is not a number`},
		"ply, faces are not read":            {replace(ply, "3 0 1 2\n", ""), ""},
		"ply, more points than are read":     {replace(ply, "vertex 3", "vertex 40000000"), "at most"},
		"pcd, compressed, more than is read": {bomb(30<<20, 8<<20), "at most"},
	} {
		_, err := pointcloud.Decode(test.item.Payload())
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}

// What unfolds to less than it claims is refused before any of it is unpacked.
func TestCloudBombTakesNoMemory(t *testing.T) {
	const pieces, points = 1 << 17, 2_800_000
	header := "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nPOINTS " + strconv.Itoa(points) + "\nDATA binary_compressed\n"
	body := "\x00\x00" + strings.Repeat("\xe0\xff\x00", pieces) // 264 bytes a piece
	data := binary.LittleEndian.AppendUint32([]byte(header), uint32(len(body)))
	data = append(binary.LittleEndian.AppendUint32(data, 12*points), body...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := pointcloud.Decode(perception.Item{Data: data}.Payload())
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v", err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("allocated %d bytes for %d", got, len(data))
	}
}
