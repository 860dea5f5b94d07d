package perception

import (
	"encoding/json"
	"math"
	"strings"
)

// describe takes over what metadata says of the trace, where it fits.
func (s *series) describe(metadata map[string]any) {
	if kind, _ := metadata["kind"].(string); kind != "" {
		s.kind = strings.ToLower(kind)
	}
	if names, ok := texts(metadata["channels"]); ok && len(names) == s.width {
		s.channels = names
	}
	if s.channels == nil && s.isWrench() {
		s.channels = append([]string(nil), wrenchAxes[:]...)
	}
	s.describeUnits(metadata["units"])
	if hz, ok := positive(metadata["rate_hz"]); ok {
		s.setRate(hz)
	} else if interval, ok := positive(metadata["sample_interval_s"]); ok {
		s.setRate(1 / interval)
	} else if duration, ok := positive(metadata["duration_s"]); ok {
		s.setRate(float64(s.len()) / duration)
	} else {
		return
	}
	s.stamps = s.times // an even clock is the metadata's to say
}

func (s *series) describeUnits(given any) {
	units := make([]string, 0, 8)
	switch given := given.(type) {
	case string:
		for range s.width {
			units = append(units, given)
		}
	case map[string]any:
		if len(s.channels) != s.width {
			return
		}
		axes, isWrench := s.wrenchOrder()
		for c, name := range s.channels {
			unit, ok := given[name].(string)
			if !ok && isWrench {
				unit, _ = given[wrenchQuantity(axes[c])].(string)
			}
			units = append(units, unit)
		}
	default:
		units, _ = texts(given)
	}
	if len(units) == s.width && strings.Join(units, "") != "" {
		s.units = units
	}
}

func (s *series) unit(c int) string {
	if c < len(s.units) {
		return s.units[c]
	}
	return ""
}

// number reads a JSON number, however the caller decoded it.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	}
	return 0, false
}

func positive(v any) (float64, bool) {
	f, ok := number(v)
	return f, ok && f > 0 && !math.IsInf(f, 1)
}

func texts(v any) ([]string, bool) {
	switch v := v.(type) {
	case []string:
		return append([]string(nil), v...), true
	case []any:
		out := make([]string, len(v))
		for i, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, false
			}
			out[i] = s
		}
		return out, true
	}
	return nil, false
}
