// Package web serves a robotmem.Service over HTTP: one route for each operation of robotmem.Ops,
// which takes the JSON request of the operation and answers its JSON response.
//
// A request is the JSON body, overlaid by the query and then by the path, so that
// these three are the same:
//
//	POST /api/recall              {"query":"wet glass","n":3}
//	POST /api/recall?n=3          {"query":"wet glass"}
//	POST /api/recall?query=wet+glass&n=3
//
// GET and DELETE take the path and the query only. An error is a problem document
// (RFC 9457) with the kind, the field and the operation of the robotmem.Error.
//
// A payload may also come as multipart/form-data with the fields before the
// payload: then it streams to the disk, in any size that the memory accepts. It is
// served as bytes, whole or in ranges, with its SHA-256 as the ETag.
//
// Besides the operations there are / (the dashboard for a browser, otherwise an index of the
// routes), /api/events (a stream of changes), /login, /logout and /api/whoami, /healthz (the
// process answers), /readyz (the memory answers), /metrics (for Prometheus), /api/openapi.json
// and /api/reference (the description of the operations for programs and for readers),
// /api/tokens if Options.ManageTokens is set, and /mcp if Options.MCP is set.
//
// All routes have the same guards, also /mcp and the dashboard: the Host header of a
// request must name this node, a page must be of this origin, a body has a limit and a minimum
// speed, and once there is a token, every request needs one, except for the dashboard's
// files, /login, /healthz and /readyz.
//
// # Caveats
//
// Without a token, everybody who can reach the port may use the node: use that on a
// loopback address only.
package web
