// Package foxglove is a client and a server of the Foxglove WebSocket protocol.
package foxglove
