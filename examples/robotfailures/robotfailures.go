package robotfailures

import (
	"bufio"
	"bytes"
	"embed"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
)

const (
	// SampleCount is the number of samples of each recording.
	SampleCount = 15
	// Window is the duration of a recording. The samples are evenly spaced.
	Window = 315 * time.Millisecond
)

// Channels are the names of the columns: three forces and three torques.
var Channels = [6]string{"Fx", "Fy", "Fz", "Tx", "Ty", "Tz"}

//go:embed data/*.data
var data embed.FS

// sets are the five learning problems, with the task of the robot.
var sets = []struct{ name, file, task string }{
	{"LP1", "data/lp1.data", "approach to grasp position"},
	{"LP2", "data/lp2.data", "transfer of a part"},
	{"LP3", "data/lp3.data", "position of part after a transfer failure"},
	{"LP4", "data/lp4.data", "approach to ungrasp position"},
	{"LP5", "data/lp5.data", "motion with part"},
}

// Failure is one recording.
type Failure struct {
	Set   string // LP1 to LP5
	Task  string // the task of the robot: "approach to grasp position", ...
	Index int    // position in the set, from 0
	Class string // as in the file: "fr_collision", ...
	// Samples[i][c] is channel c (see Channels) at sample i, a whole number in the source.
	Samples [SampleCount][len(Channels)]float64
}

// labels are the full names of abbreviated classes.
var labels = map[string]string{
	"fr_collision": "front collision",
	"front_col":    "front collision",
	"back_col":     "back collision",
	"left_col":     "collision to the left",
	"right_col":    "collision to the right",
}

// Label returns the class in words: "front collision".
func (f Failure) Label() string {
	if label, ok := labels[f.Class]; ok {
		return label
	}
	return strings.ReplaceAll(f.Class, "_", " ")
}

// CSV returns the recording as text/csv, with the names of the channels in the first line.
func (f Failure) CSV() []byte {
	b := []byte(strings.Join(Channels[:], ",") + "\n")

	for _, sample := range f.Samples {
		for c, v := range sample {
			if c > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendFloat(b, v, 'f', -1, 64)
		}
		b = append(b, '\n')
	}

	return b
}

// Load returns the recordings of all sets, in the order of the files. It fails only
// if a file was changed.
func Load() ([]Failure, error) {
	var all []Failure

	for _, set := range sets {
		text, err := data.ReadFile(set.file)
		if err != nil {
			return nil, err
		}
		failures, err := parse(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", set.file, err)
		}

		for i := range failures {
			failures[i].Set, failures[i].Task, failures[i].Index = set.name, set.task, i
		}
		all = append(all, failures...)
	}

	return all, nil
}

// parse reads the recordings of a file: each has a line with the class and a line
// for each sample. Blank lines separate them.
func parse(r io.Reader) ([]Failure, error) {
	var out []Failure
	samples := SampleCount // of the current recording
	lines := bufio.NewScanner(r)

	number := 0
	for lines.Scan() {
		number++

		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 0:
			continue
		case unicode.IsLetter(rune(fields[0][0])):
			if samples != SampleCount || len(fields) != 1 {
				return nil, fmt.Errorf("line %d: a class after %d of %d samples", number, samples, SampleCount)
			}
			out = append(out, Failure{Class: fields[0]})
			samples = 0
			continue
		case len(fields) != len(Channels) || samples == SampleCount:
			return nil, fmt.Errorf("line %d: %d readings are no sample of %d", number, len(fields), len(Channels))
		}

		for c, field := range fields {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			out[len(out)-1].Samples[samples][c] = v
		}
		samples++
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if samples != SampleCount {
		return nil, fmt.Errorf("the last recording ends after %d of %d samples", samples, SampleCount)
	}

	return out, nil
}
