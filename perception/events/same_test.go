package events

import "testing"

// A number is a part of what a message is about if it belongs to a name, and is left out if it was measured.
func TestSameness(t *testing.T) {
	for text, want := range map[string]string{
		"joint 3 limit exceeded":                         "joint 3 limit exceeded",
		"motor_driver_1 overcurrent":                     "motor_driver_1 overcurrent",
		"can-0x11 is silent":                             "can-0x11 is silent",
		"wheel 1: stalled":                               "wheel 1: stalled",
		"Sensor #4 timeout 35 ms":                        "sensor #4 timeout # ms",
		"motor 2 overcurrent 12 A":                       "motor 2 overcurrent # a",
		"motor[2] is at 61.5":                            "motor[2] is at #",
		"sensor no. 3 lost":                              "sensor no. 3 lost",
		"lidar/2 lost":                                   "lidar/2 lost",
		"/dev/ttyUSB0: error=5":                          "/dev/ttyusb0: error=#",
		"no path after 17 ms":                            "no path after # ms",
		"Received 57 messages":                           "received # messages",
		"dropped 5 of 12":                                "dropped # of #",
		"retrying 3":                                     "retrying #",
		"frame 123456 lost":                              "frame # lost",
		"frame_000123 lost":                              "frame_# lost",
		"latency 12, temperature 61":                     "latency #, temperature #",
		"goal 3fa85f64-5717-4562-b3fc-2c963f66afa6 lost": "goal # lost",
		"x=12 y: 3 (4)":                                  "x=# y: # (#)",
		"took12ms":                                       "took#ms",
		"192.168.1.11:54321 closed":                      "192.168.1.11# closed",
		"at 2025-11-24 16:00:01.25":                      "at ### #",
	} {
		if got, _ := sameness(text, nil); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
