package main

import "github.com/robotmem/robotmem-go/web"

type openapiCmd struct{}

// Run prints what a node of this binary answers at /api/openapi.json.
func (*openapiCmd) Run(a *app) error { return a.PrintJSON(web.OpenAPI(a.Version)) }
