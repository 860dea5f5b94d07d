package robotmem

import "github.com/robotmem/robotmem-go/perception"

// SavePerceptionResponse says what was stored.
type SavePerceptionResponse struct {
	Status         string `json:"status" doc:"created, or duplicate when its origin was known."`
	MemoryID       int64  `json:"memory_id"`
	UID            string `json:"uid"`
	PerceptionType string `json:"perception_type"`
	Collection     string `json:"collection"`
	MediaType      string `json:"media_type"`
	Bytes          int64  `json:"bytes"`
	SHA256         string `json:"sha256"`
	Summary        string `json:"summary"`
	HasEmbedding   bool   `json:"has_embedding"`
}

// DataResponse holds the bytes of a perception.
type DataResponse struct {
	MemoryID   int64  `json:"memory_id"`
	MediaType  string `json:"media_type"`
	Bytes      int64  `json:"bytes"`
	SHA256     string `json:"sha256"`
	DataBase64 []byte `json:"data_base64"`
}

// PreviewResponse is a picture of a perception.
type PreviewResponse struct {
	MemoryID   int64  `json:"memory_id"`
	MediaType  string `json:"media_type" doc:"image/png, image/jpeg or image/svg+xml."`
	Width      int    `json:"width"`
	Height     int    `json:"height"`
	Summary    string `json:"summary"`
	SHA256     string `json:"sha256" doc:"Of the perception, not of the picture."`
	DataBase64 []byte `json:"data_base64"`
}

// SamplesResponse holds the numbers of a perception.
type SamplesResponse struct {
	MemoryID int64 `json:"memory_id"`
	perception.Samples
}
