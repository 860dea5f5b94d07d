package timeseries

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/robotmem/robotmem-go/perception/internal/npy"
	"github.com/robotmem/robotmem-go/perception/media"
)

// A .npz file of NumPy is a zip of .npy files, one for each array, named as the array is. Its arrays of
// one length are the channels of a trace, such as t and force of savez(t=..., force=...).

const (
	// maxArrays bounds the arrays of a file, and maxUnpacked their bytes together.
	maxArrays   = 1024
	maxUnpacked = 8 * maxReadings
)

func readNPZ(data []byte) (*Series, error) {
	file, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("the .npz file is cut or damaged: %w", err)
	}
	if len(file.File) > maxArrays {
		return nil, fmt.Errorf("the .npz file has %d arrays; at most %d are read", len(file.File), maxArrays)
	}

	var (
		arrays []*Series
		names  []string
		first  error
	)
	left := int64(maxUnpacked)

	for _, f := range file.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		one, err := readEntry(f, &left)
		// The limit holds for all arrays together, so the next ones cannot be read either.
		if errors.Is(err, errTooLong) {
			return nil, err
		}
		// A text, a scalar, an image: the others may be a trace.
		if err != nil {
			if first == nil {
				first = fmt.Errorf("array %s: %w", media.Clean(name, media.MaxName), err)
			}
			continue
		}
		arrays, names = append(arrays, one), append(names, name)
	}

	switch {
	case len(arrays) == 0 && first != nil:
		return nil, first
	case len(arrays) == 0:
		return nil, errEmpty
	case len(arrays) == 1:
		return arrays[0], nil
	}

	return joinArrays(arrays, names)
}

func readEntry(f *zip.File, left *int64) (*Series, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}

	defer r.Close()
	// What the directory claims is not trusted.
	data, err := io.ReadAll(io.LimitReader(r, *left+1))
	if err != nil {
		return nil, fmt.Errorf("it is cut or damaged: %w", err)
	}
	if *left -= int64(len(data)); *left < 0 {
		return nil, errTooLong
	}
	if !bytes.HasPrefix(data, []byte(media.NPYMagic)) {
		return nil, errors.New("it is no .npy array")
	}
	// Settings such as rate=1000 are stored as arrays without dimensions.
	if h, err := npy.Parse(data); err == nil && len(h.Shape) == 0 {
		return nil, errors.New("it is one number")
	}

	return readNPY(data)
}

// joinArrays makes channels of the arrays that have as many rows as the longest one.
func joinArrays(arrays []*Series, names []string) (*Series, error) {
	rows, width := 0, 0
	for _, a := range arrays {
		rows = max(rows, a.Len())
	}

	out := &Series{}

	for i, a := range arrays {
		// Arrays of another length, such as a list of events, have no reading for each sample.
		if a.Len() != rows {
			continue
		}

		width += a.Width
		for c := range a.Width {
			name := names[i]
			if a.Width > 1 {
				name = fmt.Sprintf("%s.%d", name, c)
			}
			out.Channels = append(out.Channels, name)
		}
	}

	out.Width = width
	if err := out.MakeValues(rows); err != nil {
		return nil, err
	}

	for i := range rows {
		for _, a := range arrays {
			if a.Len() == rows {
				out.Values = append(out.Values, a.Row(i)...)
			}
		}
	}

	out.nameChannels()

	return out, nil
}
