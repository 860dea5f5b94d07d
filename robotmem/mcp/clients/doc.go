// Package clients adds robotmem to the settings of MCP clients and removes it again.
//
// The settings are JSON, with comments and trailing commas, or TOML. An edit changes the entry of
// robotmem; the bytes of all other entries, comments and line ends stay.
//
// # Caveats
//
// A file that is written in a way that cannot be edited safely is refused and left as it is.
package clients
