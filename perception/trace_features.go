package perception

import "strconv"

const (
	// maxRawReadings is up to where a trace is compared reading by reading.
	maxRawReadings = 1024
	// binSteps is the length of each channel of a longer one.
	binSteps = 64
	// maxBinnedChannels keeps a vector below 64 KiB.
	maxBinnedChannels = 256
)

var traceFormat = format{
	name:      "trace",
	accepts:   func(it Item) bool { return it.encoding() != opaque },
	summarize: summarizeTrace,
	kinds:     []string{"trace/"},
	features:  traceFeatures,
}

func summarizeTrace(it Item) string {
	s, err := decodeSeries(it)
	if err != nil {
		return ""
	}
	return summarizeSeries(s)
}

func traceFeatures(it Item) (kind string, vector []float32, ok bool) {
	s, err := decodeSeries(it)
	if err != nil {
		return "", nil, false
	}
	kind = "trace/" + strconv.Itoa(s.width) + "/"
	switch {
	case len(s.values) <= maxRawReadings:
		kind += strconv.Itoa(s.len())
		vector = make([]float32, len(s.values))
		for i, v := range s.values {
			vector[i] = float32(v)
		}
	case s.width <= maxBinnedChannels:
		kind += "r" + strconv.Itoa(binSteps)
		vector = s.bins()
	default:
		return "", nil, false
	}
	return kind, vector, true
}

// bins is each channel as binSteps means.
func (s *series) bins() []float32 {
	out := make([]float32, 0, s.width*binSteps)
	for c := range s.width {
		for b := range binSteps {
			from, to := part(b, binSteps, s.len())
			sum := 0.0
			for i := from; i < to; i++ {
				sum += s.at(i, c)
			}
			out = append(out, float32(sum/float64(to-from)))
		}
	}
	return out
}
