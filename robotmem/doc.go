// Package robotmem is an embedded memory for robots. It stores facts that were
// learnt and perceptions that were sensed, each with place, time, parameters
// and outcome, and recalls what worked here by words, place, time and
// structure.
//
// Four nouns carry the package. A memory is one stored item, a fact or a
// perception. A collection is a namespace of memories: a robot, a site, a
// task. A session is one episode, from StartSession to EndSession. A context
// is the caller's JSON object beside a memory; its sections params, spatial,
// robot, task and env have a meaning here, everything else is kept as given.
//
//	m, err := robotmem.Open(ctx, robotmem.Options{Path: "memory.db"})
//	if err != nil {
//		return err
//	}
//	defer m.Close()
//	_, err = m.Learn(ctx, &robotmem.LearnRequest{
//		Insight: "grip_force=12.5 N holds wet glass",
//		Context: robotmem.Object{"task": map[string]any{"success": true}},
//	})
//	res, err := m.Recall(ctx, &robotmem.RecallRequest{
//		Query:         "how to hold a wet glass",
//		ContextFilter: robotmem.Object{"task.success": true},
//	})
//
// Service is the same set of operations wherever the memory lives: *Engine is
// a local file, client.Client a node over HTTP. Ops lists every operation once;
// the MCP tools, the REST routes and the commands are made from that list.
//
// # Caveats
//
// An Engine holds one SQLite file open with its own connections; several
// processes may share the file, on a local disk only. A write is acknowledged
// after the commit that holds it has reached the disk. A write whose context
// is cancelled while its commit is under way is committed all the same.
// Recall never writes before it answers; its counters follow within seconds.
package robotmem
