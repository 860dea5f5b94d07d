package perception_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/pointcloud"
)

func cloudFile(t testing.TB, name string) perception.Item {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "spatial", name))
	if err != nil {
		t.Fatal(err)
	}
	return perception.Item{Data: data}
}

// reference is the cloud that testdata/spatial/make.py describes.
func reference(colored bool) *pointcloud.Cloud {
	c := &pointcloud.Cloud{Total: 40, Missing: 1, Min: [3]float32{0, -9.75, 0}, Max: [3]float32{4.875, 0, 2}}
	for i := range 40 {
		if i == 7 {
			continue
		}
		c.Positions = append(c.Positions, float32(i)/8, -float32(i)/4, float32(i%5)/2)
		c.Intensity = append(c.Intensity, float32(i)/2)
		if colored {
			c.Colors = append(c.Colors, uint32(i)<<16+uint32(2*i)<<8+uint32(255-i))
		}
	}
	return c
}

func TestDecodeCloudOfOtherWriters(t *testing.T) {
	for _, name := range []string{
		"ascii.pcd", "binary.pcd", "binary_compressed.pcd",
		"ascii.ply", "binary_little_endian.ply", "binary_big_endian.ply", "ascii_lists.ply", "binary_little_endian_lists.ply",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := pointcloud.Decode(cloudFile(t, name).Payload())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, reference(name != "ascii.pcd")); diff != "" {
				t.Errorf("-got +want:\n%s", diff)
			}
		})
	}
}

// pointCloud2 is n points of a PointCloud2 with a pad in each and between rows.
func pointCloud2(order binary.AppendByteOrder, width, height int) perception.Item {
	var data []byte
	for row := range height {
		for column := range width {
			for _, v := range []float32{float32(column), float32(row), 1} {
				data = order.AppendUint32(data, math.Float32bits(v))
			}
			data = order.AppendUint32(data, 0xdeadbeef)
			data = order.AppendUint32(data, 0xff102030)
			data = order.AppendUint16(data, uint16(column))
		}
		data = append(data, 1, 2, 3)
	}
	field := func(name string, offset, kind int) map[string]any {
		return map[string]any{"name": name, "offset": float64(offset), "datatype": float64(kind), "count": 1.0}
	}
	return perception.Item{MediaType: "application/x-pointcloud2", Data: data, Metadata: map[string]any{
		"fields": []any{field("x", 0, 7), field("y", 4, 7), field("z", 8, 7), field("rgb", 16, 7), field("intensity", 20, 4)},
		"width":  float64(width), "height": float64(height), "point_step": 22.0, "row_step": float64(22*width + 3),
		"is_bigendian": order == binary.AppendByteOrder(binary.BigEndian),
	}}
}

func TestDecodeCloud(t *testing.T) {
	colored := strings.NewReplacer("x y z", "x y z rgb", "4 4 4", "4 4 4 4", "F F F", "F F F U", "1 1 1\n", "1 1 1 1\n", "0 0 1\n1 0 1\n", "0 0 1 4210800\n1 0 1 4294901760\n").Replace(pcd)
	cloudKind := map[string]any{"kind": "cloud"}
	two := func(change func(*pointcloud.Cloud)) *pointcloud.Cloud {
		c := &pointcloud.Cloud{Positions: []float32{0, 0, 1, 1, 0, 1}, Total: 2, Min: [3]float32{0, 0, 1}, Max: [3]float32{1, 0, 1}}
		if change != nil {
			change(c)
		}
		return c
	}
	grid := &pointcloud.Cloud{Positions: []float32{0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1}, Intensity: []float32{0, 1, 0, 1}, Total: 4, Min: [3]float32{0, 0, 1}, Max: [3]float32{1, 1, 1}}
	for range 4 {
		grid.Colors = append(grid.Colors, 0x102030)
	}
	tests := []struct {
		name string
		item perception.Item
		want *pointcloud.Cloud
	}{
		{"pcd", perception.Item{Data: []byte(pcd)}, two(nil)},
		{"pcd, colours in whole numbers", perception.Item{Data: []byte(colored)}, two(func(c *pointcloud.Cloud) { c.Colors = []uint32{0x404070, 0xff0000} })},
		{"PointCloud2", pointCloud2(binary.LittleEndian, 2, 2), grid},
		{"PointCloud2, big endian", pointCloud2(binary.BigEndian, 2, 2), grid},
		{"npy", perception.Item{Data: npy(">f8", "(2, 3)", elements(binary.BigEndian, []float64{0, 0, 1, 1, 0, 1})), Metadata: cloudKind}, two(nil)},
		{"npy with intensity", perception.Item{Data: npy("<f4", "(2, 4)", elements(binary.LittleEndian, []float32{0, 0, 1, 5, 1, 0, 1, 6})), Metadata: cloudKind},
			two(func(c *pointcloud.Cloud) { c.Intensity = []float32{5, 6} })},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := pointcloud.Decode(test.item.Payload())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, test.want); diff != "" {
				t.Errorf("-got +want:\n%s", diff)
			}
		})
	}
}

func asciiPCD(n int, at func(i int) [3]float64) perception.Item {
	b := []byte("VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nPOINTS " + strconv.Itoa(n) + "\nDATA ascii\n")
	for i := range n {
		for _, v := range at(i) {
			b = append(strconv.AppendFloat(b, v, 'g', 7, 64), ' ')
		}
		b = append(b, '\n')
	}
	return perception.Item{Data: b}
}

func TestDecodeCloudRefuses(t *testing.T) {
	replace := func(data, old, new string) perception.Item {
		if !strings.Contains(data, old) {
			t.Fatalf("no %q in the seed", old)
		}
		return perception.Item{Data: []byte(strings.Replace(data, old, new, 1))}
	}
	ros := func(key string, v any) perception.Item {
		it := pointCloud2(binary.LittleEndian, 2, 2)
		it.Metadata[key] = v
		return it
	}
	head := perception.Item{Data: []byte(pcd), Size: 1 << 30}
	tests := []struct {
		name string
		item perception.Item
		want string
	}{
		{"text", perception.Item{MediaType: "text/plain", Data: []byte("x")}, "text/plain is not read as a point cloud"},
		{"head", head, "only the first"},
		{"pcd, too many points", replace(pcd, "POINTS 2", "POINTS 3"), "ends within point 3 of 3"},
		{"pcd, beyond 2^31 points", replace(pcd, "POINTS 2", "POINTS 2147483648"), "not from 0 to 2147483647"},
		{"pcd, no number of points", replace(pcd, "POINTS 2\n", ""), "not from 0"},
		{"pcd, binary", replace(strings.Replace(pcd, "ascii", "binary", 1), "POINTS 2", "POINTS 4000000"), "need 48000000 bytes; 12 are there"},
		{"pcd, too many to read", replace(pcd, "POINTS 2", "POINTS 2147483647"), "2147483647 points; at most 4194304"},
		{"pcd, no points", replace(pcd, "0 0 1\n1 0 1", "nan 0 1\ninf 0 1"), "no point with a position"},
		{"pcd, a word", replace(pcd, "1 0 1\n", "1 up 1\n"), `point 2: "up" is not a number`},
		{"pcd, short line", replace(pcd, "1 0 1\n", "1 0\n"), "point 2: the line has fewer values"},
		{"pcd, type", replace(pcd, "TYPE F", "TYPE Q"), `type "Q"`},
		{"pcd, size", replace(pcd, "SIZE 4", "SIZE 3"), `size "3"`},
		{"pcd, count", replace(pcd, "COUNT 1", "COUNT 9999999"), "not from 0 to 65536"},
		{"pcd, sizes", replace(pcd, "SIZE 4 4 4", "SIZE 4 4"), "3 fields with 2 sizes"},
		{"pcd, no y", replace(pcd, "x y z", "x q z"), "no fields x and y"},
		{"pcd, form", replace(pcd, "DATA ascii", "DATA zip"), `"zip" is not read`},
		{"PointCloud2, width", ros("width", 3.0), "row_step 47 is less"},
		{"PointCloud2, height", ros("height", 2e9), "not from 0"},
		{"PointCloud2, claims", ros("height", 1e6), "bytes; 94 are there"},
		{"PointCloud2, half a point", ros("width", 1.5), "needs width, a whole number"},
		{"PointCloud2, no fields", ros("fields", nil), "needs fields"},
		{"PointCloud2, field beyond", ros("point_step", 9.0), "ends beyond the point of 9 bytes"},
		{"npy, five columns", perception.Item{Data: npy("<f4", "(1, 5)", make([]byte, 20)), Metadata: map[string]any{"kind": "cloud"}}, "N by 3"},
		{"npy, claims", perception.Item{Data: npy("<f4", "(3999999, 3)", make([]byte, 20)), Metadata: map[string]any{"kind": "cloud"}}, "20 are there"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := pointcloud.Decode(test.item.Payload())
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
				t.Errorf("got %d bytes allocated for an error", got)
			}
		})
	}
}

func TestSummarizeClouds(t *testing.T) {
	head := cloudFile(t, "binary.pcd")
	head.Data, head.Size = head.Data[:300], 1214
	tests := []struct {
		name string
		item perception.Item
		want string
	}{
		{"pcd, compressed", cloudFile(t, "binary_compressed.pcd"), "point cloud, 40 points, fields x y z rgb intensity ring, binary_compressed, within 4.88 x 9.75 x 2 m, 1 missing"},
		{"mesh", cloudFile(t, "binary_big_endian.ply"), "mesh, 40 vertices, 2 faces, fields id x y z red green blue intensity, binary_big_endian, within 4.88 x 9.75 x 2 m, 1 missing"},
		{"pcd", cloudFile(t, "binary.pcd"), "point cloud, 40 points, fields x y z rgb intensity ring, binary, within 4.88 x 9.75 x 2 m, 1 missing"},
		{"head", head, "point cloud, 40 points, fields x y z rgb intensity ring, binary"},
		{"PointCloud2", pointCloud2(binary.LittleEndian, 3, 2), "point cloud, 6 points, fields x y z rgb intensity, PointCloud2, within 2 x 1 x 0 m"},
		{"unit", with(perception.Item{Data: []byte(pcd)}, map[string]any{"units": "mm"}), "point cloud, 2 points, fields x y z, ascii, within 1 x 0 x 0 mm"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := perception.Summarize(test.item); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func FuzzCloud(f *testing.F) {
	names, err := filepath.Glob("testdata/spatial/*.p[cl][dy]")
	if err != nil || len(names) == 0 {
		f.Fatal(names, err)
	}
	for _, name := range names {
		f.Add(cloudFile(f, filepath.Base(name)).Data, int64(0), "")
	}
	f.Add([]byte(pcd), int64(1<<40), "")
	f.Add(pointCloud2(binary.LittleEndian, 3, 2).Data, int64(3), "application/x-pointcloud2")
	f.Add(npy("<f4", "(2, 3)", make([]byte, 24)), int64(0), "")
	f.Fuzz(func(t *testing.T, data []byte, size int64, mediaType string) {
		item := pointCloud2(binary.LittleEndian, 1, 1)
		item.Data, item.Size, item.MediaType = data, size, mediaType
		item.Metadata["kind"] = "cloud"
		item.Metadata["width"] = float64(size)
		delete(item.Metadata, "row_step")
		got, err := pointcloud.Decode(item.Payload())
		if err == nil {
			n := len(got.Positions) / 3
			if n == 0 || got.Total < n+got.Missing || len(got.Positions) != 3*n ||
				got.Colors != nil && len(got.Colors) != n || got.Intensity != nil && len(got.Intensity) != n {
				t.Fatalf("got %d positions, %d colours, %d intensities of %d", len(got.Positions), len(got.Colors), len(got.Intensity), got.Total)
			}
			checkFace(t, item)
		}
	})
}
