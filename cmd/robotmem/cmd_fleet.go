package main

type fleetCmd struct {
	Join   fleetJoinCmd   `cmd:"" help:"Send what this memory stores to a site, and keep a copy of what other robots learn."`
	Leave  fleetLeaveCmd  `cmd:"" help:"Forget the site."`
	Sync   fleetSyncCmd   `cmd:"" help:"Send and fetch now."`
	Status fleetStatusCmd `cmd:"" help:"Show the site and what waits."`
}
