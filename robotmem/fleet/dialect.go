package fleet

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The statements of package store are in the SQL that SQLite and PostgreSQL share, but for these.
var (
	indexHint   = regexp.MustCompile(` (NOT INDEXED|INDEXED BY \w+)`)
	createModel = regexp.MustCompile(`^CREATE TABLE IF NOT EXISTS (vectors_(\d+))\(`)
	dropModel   = regexp.MustCompile(`^DROP TABLE IF EXISTS vectors_(\d+)`)
	ofModel     = regexp.MustCompile(`vectors_\d+`)
	byIDs       = regexp.MustCompile(`^SELECT (.+) FROM (\w+) WHERE (\w+) IN \(SELECT value FROM json_each\(\?\)\)$`)
)

var replacements = strings.NewReplacer(
	"ON CONFLICT(", "ON CONFLICT(tenant, ",
	" OR pinned)", " OR pinned <> 0)",
	"json_each(", "ids_of(",
	"WHEN m.pinned THEN", "WHEN m.pinned <> 0 THEN",
	"char(", "chr(",
	"json_extract(", "json_path(",
	"$.task.success') = 0", "$.task.success') = 'false'",
)

// onlyInFile are beginnings of statements about a file.
var onlyInFile = []string{"SELECT file_id FROM identity", "PRAGMA ", "VACUUM", "INSERT INTO memories_fts", "DELETE FROM memories_fts", "DROP TABLE IF EXISTS memories_fts", "CREATE VIRTUAL TABLE memories_fts"}

// ignored reports whether a statement has nothing to do here.
func ignored(sql string) bool {
	return sayings[sql] == "" && slices.ContainsFunc(onlyInFile, func(begin string) bool { return strings.HasPrefix(sql, begin) })
}

// sayings are statements that are put in another way here.
var sayings = map[string]string{
	"SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()": "SELECT pg_database_size(current_database())",
	"PRAGMA user_version": "SELECT max(version) FROM robotmem.schema_versions",
}

// translated returns a statement as PostgreSQL reads it.
func translated(sql string) string {
	if said := sayings[sql]; said != "" {
		return said
	}
	if m := createModel.FindStringSubmatch(sql); m != nil {
		return "SELECT robotmem.create_model(" + m[2] + ")"
	}
	if m := dropModel.FindStringSubmatch(sql); m != nil {
		return "DELETE FROM vectors WHERE model = " + m[1]
	}

	// One lookup for each id: a join or an = ANY of a table that was empty reads all of it.
	sql = byIDs.ReplaceAllString(sql, "SELECT found.* FROM unnest(translate(?, '[]', '{}')::bigint[]) AS wanted(id), LATERAL (SELECT $1 FROM $2 WHERE $3 = wanted.id OFFSET 0) AS found")
	sql = replacements.Replace(indexHint.ReplaceAllString(sql, ""))
	if ofModel.MatchString(sql) {
		sql = strings.Replace(sql, " WHERE seq > ", " WHERE seq > 0 AND seq > ", 1) // of the index
		sql = strings.Replace(sql, "ON CONFLICT(tenant, ", "ON CONFLICT(tenant, model, ", 1)
	}

	if rest, ok := strings.CutPrefix(sql, "INSERT OR IGNORE "); ok {
		sql = "INSERT " + rest + " ON CONFLICT DO NOTHING"
	}

	return numbered(sql)
}

// wholeTable reports whether a statement reads a table to its end.
func wholeTable(sql string) bool { return strings.Contains(sql, " WHERE +m.revision > ") }

// numbered writes ? as $1, $2, … and ?1 as $1. Texts in quotes hold no question mark.
func numbered(sql string) string {
	var b strings.Builder
	n := 0

	for i := 0; i < len(sql); i++ {
		if sql[i] != '?' {
			b.WriteByte(sql[i])
			continue
		}

		end := i + 1
		for end < len(sql) && sql[end] >= '0' && sql[end] <= '9' {
			end++
		}
		b.WriteByte('$')
		if end > i+1 {
			b.WriteString(sql[i+1 : end])
		} else {
			n++
			b.WriteString(strconv.Itoa(n))
		}
		i = end - 1
	}

	return b.String()
}
