// Package web serves a robotmem.Service over HTTP: one route per operation of
// robotmem.Ops, each taking the operation's JSON request and answering its
// JSON response.
//
// A request is the JSON body, overlaid by the query and then by the path, so
// that these three ask the same:
//
//	POST /api/recall              {"query":"wet glass","n":3}
//	POST /api/recall?n=3          {"query":"wet glass"}
//	POST /api/recall?query=wet+glass&n=3
//
// GET takes the path and the query alone. An error is a problem document
// (RFC 9457) with the kind, the field and the operation of the robotmem.Error.
//
// A payload also comes as multipart/form-data, its fields first: then it streams
// to the disk in any size that the memory takes. It goes back as bytes, whole or
// in ranges, with its SHA-256 as the tag.
//
// Beside the operations there are / (the dashboard for a browser, else an index
// of the routes), /api/events (a stream of changes), /login, /logout and
// /api/whoami, /healthz (the process answers), /readyz (the memory answers),
// /metrics (figures for Prometheus), /api/openapi.json and /api/reference (the
// operations, for programs and for readers), and /mcp when a handler for it is
// given.
//
//	srv := web.NewServer(svc, web.Options{Logger: logger, UI: ui.Files(), MCP: mcpServer.Handler()})
//	err := srv.Serve(listener)
//
// Every route is behind the same guards, /mcp and the dashboard too: a request
// must name this node, a page must be of this origin or one of
// Options.CORSOrigins, a body has a limit and must keep coming, and once there is
// a token, every request but those for the dashboard's own files, /login, /healthz
// and /readyz must show one.
//
// # Caveats
//
// Without a token whoever reaches the port may use the node: that is for a
// loopback address. What belongs to connections (how many, how long their headers
// take) is set by NewServer alone, and not by New.
package web
