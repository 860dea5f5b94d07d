package main

import "time"

// parts are the rows of the table.
var parts = []part{
	{name: "soak", what: "hostile requests over HTTP and stdio", full: amount{time: 10 * time.Minute}, short: amount{time: 15 * time.Second}, run: soak},
}
