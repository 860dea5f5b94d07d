package main

import "time"

// parts are the rows of the table.
var parts = []part{
	{"kill", "SIGKILL while writing, opening, closing, importing", amount{times: 500}, amount{times: 15}, runKill},
	{"crowd", "six and more processes on one file", amount{time: 10 * time.Minute}, amount{time: 20 * time.Second}, runCrowd},
	{"stopped", "SIGSTOP of who holds a lock", amount{times: 10}, amount{times: 1}, runStopped},
}
