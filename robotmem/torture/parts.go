package main

// parts are the rows of the table.
var parts = []part{
	{name: "power", what: "power cuts", full: amount{times: 2000}, short: amount{times: 150}, run: power},
}
