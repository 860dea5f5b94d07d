// Package robotmem is the domain of a memory for robots: the operations, their requests
// and answers, and the rules that they keep. A memory stores facts that were learnt and
// perceptions that were sensed, each with place, time, parameters and outcome. It recalls
// what worked in this place before, by words, meaning, place, time and structure.
//
// Four nouns: a memory is one stored item, a fact or a perception. A collection is a
// namespace of memories: a robot, a site, a task. A session is one episode, from
// StartSession to EndSession. A context is the caller's JSON object beside a memory; its
// sections params, spatial, robot, task and env have a meaning, and other keys are kept as
// given.
//
//	m, err := local.Open(ctx, "memory.db", local.Options{})
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
// [Service] is the same set of operations wherever the memory is: local.Node is a file,
// client.Client is a node over HTTP. [Ops] lists every operation once. The MCP tools, the
// REST routes and the commands are made from that list. Package admin has the requests and
// answers of the operations for operators, package progress reports how far a long
// operation has come.
//
// # Caveats
//
// A local.Node holds one SQLite file open with its own connections; several processes may
// share the file, on a local disk only. A write is acknowledged after the commit that
// holds it has reached the disk. A write whose context is cancelled during its commit is
// committed all the same. Recall never writes before it answers; its counters are stored
// within seconds.
package robotmem
