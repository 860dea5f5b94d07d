package main

import "time"

// parts are the rows of the table.
var parts = []part{
	{name: "power", what: "power cuts", full: amount{times: 2000}, short: amount{times: 150}, run: power},
	{name: "full", what: "full disk", full: amount{time: time.Minute}, short: amount{time: 8 * time.Second}, run: full},
	{name: "stall", what: "stalled disk and embedder, at 1 kHz", full: amount{time: 30 * time.Second}, short: amount{time: 6 * time.Second}, run: stall},
	{name: "kill", what: "SIGKILL while writing, opening, closing, importing", full: amount{times: 500}, short: amount{times: 15}, run: runKill},
	{name: "crowd", what: "six and more processes on one file", full: amount{time: 10 * time.Minute}, short: amount{time: 15 * time.Second}, run: runCrowd},
	{name: "soak", what: "hostile requests over HTTP and stdio", full: amount{time: 10 * time.Minute}, short: amount{time: 15 * time.Second}, run: soak},
	{name: "backup", what: "backups and restores under load", full: amount{times: 50}, short: amount{times: 2}, run: runBackup},
	{name: "stopped", what: "SIGSTOP of who holds a lock", full: amount{times: 10}, short: amount{times: 1}, run: runStopped},
	{name: "flips", what: "bits flipped in the files", full: amount{times: 10_000}, short: amount{times: 200}, run: runFlips},
}
