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
// Beside the operations there are / (an index of the routes), /healthz (the
// process answers), /readyz (the memory answers), /metrics (figures for
// Prometheus), /api/openapi.json and /api/reference (the operations, for programs
// and for readers), and /mcp when a handler for it is given.
//
//	h := web.New(svc, web.Options{Logger: logger, MCP: mcpServer.Handler()})
//	srv := &http.Server{Addr: "127.0.0.1:7878", Handler: h, ReadHeaderTimeout: 10 * time.Second}
//
// # Caveats
//
// A request must name a loopback host or one of Options.AllowedHosts, and a
// browser may change something only from a page of the same origin: a page of
// another site can otherwise reach a node on the visitor's own machine, by
// name rebinding or by a form. That is no authentication; whoever reaches the
// port may use it. Timeouts belong to the http.Server.
package web
