package attach_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive/sensors"
	"github.com/robotmem/robotmem-go/robotmem/attach"
)

func TestAddressesOfVehicles(t *testing.T) {
	for _, address := range []string{"mavlink:udp:0.0.0.0:14550", "mavlink:udpout:10.0.0.1:14550", "mavlink:tcp:127.0.0.1:5760", "mavlink:udp:[::1]:14550"} {
		if m, err := attach.NewMAVLink(address); err != nil || m.Name() != address {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"", "udp:0.0.0.0:14550", "mavlink:udp", "mavlink:udp:14550", "mavlink:can:a:1", "mavlink:serial:/dev/ttyACM0:fast"} {
		if _, err := attach.NewMAVLink(address); err == nil || !strings.Contains(err.Error(), "mavlink:udp:0.0.0.0:14550") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// fly lets the vehicle of pymavlink fly once, and returns the texts that it was sent.
func fly(t *testing.T, m robotmem.Node) (*attach.Report, []attach.Warning, []string) {
	t.Helper()
	free, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.LocalAddr().(*net.UDPAddr).Port
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	source, err := attach.NewMAVLink(fmt.Sprint("mavlink:udp:127.0.0.1:", port))
	if err != nil {
		t.Fatal(err)
	}

	cmd := exec.CommandContext(t.Context(), python(t), "testdata/vehicle.py", fmt.Sprint(port))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var texts []string
	go func() {
		defer cancel()
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			var line struct{ Text string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Text != "" {
				texts = append(texts, line.Text)
			}
		}
	}()

	var warnings []attach.Warning
	report, err := attach.Run(ctx, source, attach.Options{
		Node: m, Sink: &sensors.Sink{Node: m}, Robot: "drone-7", OnWarning: func(w attach.Warning) { warnings = append(warnings, w) },
	})
	if err != nil || len(report.Problems)+len(report.Dropped) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	return report, warnings, texts
}

func TestAVehicleOfMAVLink(t *testing.T) {
	m := open(t)
	report, warnings, _ := fly(t, m)
	if report.Incidents != 1 || len(warnings) != 0 {
		t.Errorf("first flight: %+v; %+v", report, warnings)
	}

	res, err := m.List(t.Context(), &robotmem.ListRequest{Type: "fact"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range res.Memories {
		got = append(got, f.Outcome+": "+f.Content)
		if !strings.HasPrefix(f.Content, "autopilot") {
			continue
		}
		// 10 m north of 48° north, 11° east, in zone 32 by pyproj.
		at := f.Context["spatial"].(map[string]any)["pose"].(map[string]any)["position"].([]any)
		x, _ := at[0].(json.Number).Float64()
		y, _ := at[1].(json.Number).Float64()
		if math.Abs(x-649187.62) > 1 || math.Abs(y-5318245.61) > 1 {
			t.Errorf("the failure is at %v", at)
		}
	}
	want := []string{
		"unknown: battery is low: 9 % of its charge is left", "unknown: flight mode is RTL",
		"failure: autopilot: EKF variance: the compass and the position disagree by more than the limit",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}

	// The second flight is warned, and the ground station shows it.
	_, warnings, texts := fly(t, m)
	if len(warnings) != 1 || warnings[0].DistanceM < 1 || len(texts) != 1 || !strings.Contains(texts[0], "ahead something went wrong") {
		t.Errorf("second flight: %+v, texts %q", warnings, texts)
	}
}
