package main

// The entry of the MCP registry, as its schema of 2025-12-11 has it.

const registrySchema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

type registryServer struct {
	Schema      string             `json:"$schema"`
	Name        string             `json:"name"`
	Title       string             `json:"title"`
	Description string             `json:"description"`
	Repository  registryRepository `json:"repository"`
	Version     string             `json:"version"`
	WebsiteURL  string             `json:"websiteUrl"`
	Packages    []registryPackage  `json:"packages"`
}

type registryRepository struct {
	URL    string `json:"url"`
	Source string `json:"source"`
}

type registryPackage struct {
	Type       string             `json:"registryType"`
	Identifier string             `json:"identifier"` // where to load it from
	Version    string             `json:"version"`
	SHA256     string             `json:"fileSha256"`
	Transport  registryTransport  `json:"transport"`
	Variables  []registryVariable `json:"environmentVariables"`
}

type registryTransport struct {
	Type string `json:"type"`
}

type registryVariable struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Format      string `json:"format"`
}

// registryEntry writes server.json, with one package for each bundle.
func (r *release) registryEntry(bundles []bundleFile) error {
	s := registryServer{
		Schema: registrySchema, Name: "io.github.robotmem/robotmem-go", Title: "robotmem", Description: summary,
		Repository: registryRepository{repository, "github"}, Version: r.version, WebsiteURL: repository,
	}
	for _, b := range bundles {
		s.Packages = append(s.Packages, registryPackage{
			Type: "mcpb", Identifier: repository + "/releases/download/v" + r.version + "/" + b.name,
			Version: r.version, SHA256: b.sum, Transport: registryTransport{"stdio"},
			Variables: []registryVariable{
				{
					"ROBOTMEM_DB",
					"Full path of the memory's file. Default memory.db in the folder .robotmem of the home.",
					"filepath",
				},
				{"ROBOTMEM_COLLECTION", "Namespace to remember in and to recall from.", "string"},
			},
		})
	}

	data, err := encode(s)
	if err != nil {
		return err
	}

	return r.write("server.json", data)
}
