package perception_test

import (
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/perception"
)

func TestSummarizeTraces(t *testing.T) {
	joints := map[string]any{"kind": "joint_state"}
	imu := map[string]any{"kind": "IMU", "rate_hz": 10.0}
	tests := []struct {
		name string
		item perception.Item
		want string
	}{
		{"joints", with(csvItem(strings.Repeat("0,0,0,0,0,0,0\n", 4)+"0,0,0,1.5,0,0,0\n"), joints), "7-channel joint state, 5 samples, channel 4 peak 1.5 at sample 5"},
		{"joints with velocities", with(csvItem("elbow.pos,elbow.vel,wrist_position,wrist_velocity\n0,0,0,0\n0.5,9,-1,8\n"), joints), "4-channel joint state, 2 samples, elbow.vel peak 9 at sample 2"},
		{"one joint", with(csvItem("q\n0\n2\n"), joints), "1-channel joint state, 2 samples, q peak 2 at sample 2"},
		{"imu", with(csvItem("ax,ay,az,gx,gy,gz\n0,0,9.8,0,0,0\n4,0,9.8,90,0,0\n"), imu), "6-channel IMU, 2 samples over 200 ms, gx peak 90 at 100 ms"},
		{"missing", csvItem("a,b\n1,\n,2\n3,4\n"), "2-channel trace, 3 samples, a peak 3 at sample 3, 2 readings missing"},
		{"samples", samplesItem(t, "application/x-samples", `{"dtype":"int16","shape":[2,1],"units":"N"}`, []byte{0, 0, 5, 0}), "1-channel trace, 2 samples, peak 5 N at sample 2"},
		{"samples of a wrong shape", samplesItem(t, "application/x-samples", `{"dtype":"int16","shape":[3,1]}`, []byte{0, 0, 5, 0}), "4 bytes of application/x-samples, not read: shape [3, 1] of int16 needs 6 bytes; the data has 4"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := perception.Summarize(test.item); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}
