// Package robotmem defines the operations of a memory for robots, with their requests,
// responses and validation rules. The memory stores facts and perceptions (sensor data),
// each with place, time, parameters and outcome. A robot recalls them by words, meaning,
// place, time and structure, for example to find what worked in this place before.
//
// The package uses four nouns. A memory is one stored item, a fact or a perception. A
// collection is a namespace of memories, such as a robot, a site or a task. A session is
// one episode, from StartSession to EndSession. A context is a JSON object that the caller
// stores with a memory. Its sections params, spatial, robot, task and env have a defined
// meaning; other keys are stored as given.
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
// [Service] is the interface to a memory. local.Node implements it on a file, client.Client
// over HTTP. [Ops] lists all operations; the MCP tools, the REST routes and the commands are
// generated from that list. Package admin has the requests and responses of the operations
// for operators. Package progress reports the progress of long operations.
//
// # Caveats
//
// A local.Node opens one SQLite file. Several processes may share the file, but only on a
// local disk. A write returns after its commit has reached the disk. A write whose context
// is cancelled during the commit is still committed. Recall does not write before it
// returns; its access counters are stored within seconds.
package robotmem
