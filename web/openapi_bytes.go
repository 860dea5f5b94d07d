package web

import "github.com/robotmem/robotmem-go/robotmem"

// rawBytes is the schema of bytes. OpenAPI 3.1 goes by the media type alone;
// the format is for generators that know it from 3.0.
func rawBytes(mediaType, doc string) object {
	s := object{"type": "string", "format": "binary", "contentMediaType": mediaType}
	if doc != "" {
		s["description"] = doc
	}
	return s
}

// binary adds the answers of a route that answers bytes, unless application/json
// is asked for by name. They have ranges and a tag, as RFC 9110 has them.
func binary(out object, op *robotmem.Op, answer object, mediaTypes ...string) {
	content := object{"application/json": object{"schema": answer}}
	part := object{"multipart/byteranges": object{"schema": rawBytes("multipart/byteranges", "")}}
	for _, t := range mediaTypes {
		raw := rawBytes(t, "")
		if t == "*/*" {
			raw["contentMediaType"] = "application/octet-stream"
		}
		content[t], part[t] = object{"schema": raw}, object{"schema": raw}
	}
	text := func(doc string) object {
		return object{"description": doc, "schema": object{"type": "string"}}
	}
	tag := text("Changes with the bytes; send it back as If-None-Match or If-Range.")
	out["200"] = object{
		"description": op.Title + ". Bytes, or the JSON response if Accept names application/json.", "content": content,
		"headers": object{"ETag": tag, "Accept-Ranges": text("bytes"), "Content-Disposition": text("attachment, for types that a browser might run.")},
	}
	out["206"] = object{
		"description": "The bytes that Range asks for; several ranges come as parts.", "content": part,
		"headers": object{"ETag": tag, "Content-Range": text("Which bytes, and of how many.")},
	}
	out["304"] = object{"description": "If-None-Match names the present bytes.", "headers": object{"ETag": tag}}
	out["412"] = object{"description": "If-Match names other bytes."}
	out["416"] = object{"description": "No byte lies in the range.", "headers": object{"Content-Range": text("bytes */ and how many there are.")},
		"content": object{"application/problem+json": object{"schema": object{"$ref": "#/components/schemas/Problem"}}}}
}

// conditions are the headers that a route of bytes heeds.
func conditions() []any {
	header := func(name, doc string) object {
		return object{"in": "header", "name": name, "required": false, "description": doc, "schema": object{"type": "string"}}
	}
	return []any{
		header("Range", "Which bytes, such as bytes=0-1023 or bytes=-100."),
		header("If-None-Match", "A tag: answer 304 if it is still that of the bytes."),
		header("If-Range", "A tag: heed Range only if it is still that of the bytes."),
	}
}
