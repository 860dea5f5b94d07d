package main

import "time"

// parts are the rows of the table.
var parts = []part{
	{name: "power", what: "power cuts", full: amount{times: 2000}, short: amount{times: 150}, run: power},
	{name: "full", what: "full disk", full: amount{time: time.Minute}, short: amount{time: 8 * time.Second}, run: full},
	{name: "stall", what: "stalled disk and embedder, at 1 kHz", full: amount{time: 30 * time.Second}, short: amount{time: 6 * time.Second}, run: stall},
}
