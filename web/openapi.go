package web

import (
	_ "embed"
	"encoding/json"
)

// TestOpenAPIIsMadeFromTheOperations generates the description from the operations. After a
// change of an operation, go test ./web -run OpenAPIIsMade -update writes it.
//
//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the description of every operation in OpenAPI 3.1, which
// /api/openapi.json answers as JSON.
func OpenAPI(version string) any {
	var document map[string]any
	if err := json.Unmarshal(openAPI, &document); err != nil {
		// The file is a part of the program.
		panic(err)
	}
	if version != "" {
		document["info"].(map[string]any)["version"] = version
	}

	return document
}
