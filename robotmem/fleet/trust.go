package fleet

import (
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
)

// ParseTrust reads rules such as other=0.8, see [Peer.Trust]. It fails with Invalid for another name, or a factor that
// is not 0 to 1.
func ParseTrust(rules []string) (map[string]float64, error) {
	out := map[string]float64{}

	for _, rule := range rules {
		name, text, ok := strings.Cut(rule, "=")
		factor, err := strconv.ParseFloat(text, 64)
		known := name == "same_model" || name == "other" || name == "simulation" || strings.HasPrefix(name, "robot:")
		if !ok || err != nil || !known || !(factor >= 0 && factor <= 1) {
			return nil, robotmem.Errorf(robotmem.Invalid, "trust", "must be same_model, other, simulation or robot:NAME with a factor of 0 to 1, such as other=0.8, not %q", rule)
		}
		out[name] = factor
	}

	return out, nil
}

// trusted is the factor of the confidence of another robot's fact: the product of those that apply.
// The keys are same_model (robot.model of its context is that of this robot) or else other,
// simulation (env.sim_or_real is sim), and robot:NAME.
func (p *Peer) trusted(m *archive.Memory) float64 {
	factor := 1.0
	apply := func(key string, applies bool) {
		if f, ok := p.Trust[key]; ok && applies {
			factor *= f
		}
	}
	context := robotmem.ParseObject(string(m.Context))
	model, _ := context.At("robot.model")
	kind, _ := context.At("env.sim_or_real")
	same := p.Model != "" && model == p.Model
	apply("same_model", same)
	apply("other", !same)
	apply("simulation", kind == "sim")
	apply("robot:"+m.Extra.Robot, true)

	return min(1, max(0, factor))
}
