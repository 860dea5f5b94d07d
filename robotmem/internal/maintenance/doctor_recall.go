package maintenance

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

// ExaminePostings compares the postings index in memory with FTS5: the number of
// texts, and for the terms of a sample of memories in how many texts each occurs.
func (mt *Maintainer) ExaminePostings(c *store.Conn, d *admin.DoctorResponse) error {
	const name = "index of words in memory"
	index, err := mt.Index.Postings.At(c)
	if err != nil {
		return err
	}
	if index == nil {
		addCheck(d, name, CheckOK, "not read yet; the first recall by words reads it", "")
		return nil
	}
	waiting, err := c.FullTextWaits()
	terms, terr := mt.sampledTerms(c)
	rows, rerr := c.Number("SELECT count(*) FROM memories_fts_content")
	if err := errors.Join(err, terr, rerr); err != nil {
		return err
	}
	if waiting > 0 {
		addCheck(d, name, CheckOK, fmt.Sprintf("not compared: the full-text index still has to take in %d changes", waiting), "")
		return nil
	}
	wrong := 0
	for _, term := range terms {
		inFile, err := c.Number("SELECT count(*) FROM memories_fts WHERE memories_fts MATCH ?", `"`+strings.ReplaceAll(term, `"`, `""`)+`"`)
		if err != nil {
			return err
		}
		if int64(index.DocumentFrequency(lexical.All, text.Stem(term))) != inFile {
			wrong++
		}
	}
	have := index.Stats(lexical.All)
	switch moved, err := mt.Index.Postings.MovedOn(c); {
	case err != nil:
		return err
	case moved:
		addCheck(d, name, CheckOK, "memories were learnt while it was looked at; look again when fewer are", "")
	case int64(have.Rows) != rows:
		addCheck(d, name, CheckFail, fmt.Sprintf("it holds %d texts, the full-text index %d", have.Rows, rows), repairRemedy)
	case wrong > 0:
		addCheck(d, name, CheckFail, fmt.Sprintf("of %d terms looked at, %d are found in other texts than the full-text index finds", len(terms), wrong), repairRemedy)
	default:
		addCheck(d, name, CheckOK, fmt.Sprintf("%d terms looked at, all as in the full-text index", len(terms)), "")
	}
	return nil
}

// sampledTexts is how many memories have their terms compared.
const sampledTexts = 50

// sampledTerms returns the different terms of some memories spread over the file.
func (mt *Maintainer) sampledTerms(c *store.Conn) (terms []string, err error) {
	last, err := c.Number("SELECT coalesce(max(id), 0) FROM memories")
	if err != nil {
		return nil, err
	}
	contents, err := c.Texts("SELECT content FROM memories WHERE status = 'active' AND id % ? = 0 ORDER BY id LIMIT ?", max(1, last/sampledTexts), sampledTexts)
	for _, content := range contents {
		terms = append(terms, text.Terms(content)...)
	}
	return record.Distinct(terms), err
}

// examineEmbedder says whether the embedder answers and what waits for it.
func (mt *Maintainer) examineEmbedder(c *store.Conn, d *admin.DoctorResponse) error {
	const name = "embedder"
	m, err := c.PresentModel()
	if err != nil {
		return err
	}
	var state robotmem.EmbedderState
	if mt.Embedder != nil {
		state = mt.Embedder.State()
	}
	switch {
	case state.Reason != "":
		addCheck(d, name, CheckWarn, state.Reason, "recall works by words meanwhile; "+restartRemedy)
	case state.Model == "" && m.ID != 0:
		addCheck(d, name, CheckWarn, "none, but the stored vectors are of "+m.Name, "start the node with --embedder "+m.Name+" to recall by meaning")
	case state.Model == "":
		addCheck(d, name, CheckOK, "none: recall works by words, place, time and structure", "")
	case m.ID != 0 && m.Name != state.Model:
		addCheck(d, name, CheckWarn, "the stored vectors are of "+m.Name+", this node asks "+state.Model, "run: robotmem reembed")
	default:
		addCheck(d, name, CheckOK, state.Model, "")
	}
	if m.ID == 0 {
		return nil
	}
	refused, err := c.Number("SELECT count(*) FROM " + m.Table() + " WHERE vector IS NULL")
	damaged, derr := c.DamagedVectors(&m)
	backlog, berr := c.Backlog(&m)
	if err := errors.Join(err, derr, berr); err != nil {
		return err
	}
	switch {
	case len(damaged) > 0:
		addCheck(d, "vectors", CheckFail, fmt.Sprintf("%d are damaged", len(damaged)), repairRemedy)
	case backlog > 0:
		addCheck(d, "vectors", CheckWarn, fmt.Sprintf("%d memories wait for one", backlog), "they are embedded in the background while a node with an embedder runs")
	case refused > 0:
		addCheck(d, "vectors", CheckOK, fmt.Sprintf("every memory has one, but for %d whose text the model refused", refused), "")
	default:
		addCheck(d, "vectors", CheckOK, "every memory has one", "")
	}
	return nil
}

const restartRemedy = "see that its service runs"

// examineCodes measures how many of the nearest the codes find, and widens the search
// where it is too few.
func (mt *Maintainer) examineCodes(ctx context.Context, d *admin.DoctorResponse) error {
	const name = "index of vectors in memory"
	return mt.Store.Read(ctx, func(c *store.Conn) error {
		codes, m, err := mt.Index.Vectors.At(c)
		if err != nil {
			addCheck(d, name, CheckOK, err.Error(), "")
			return nil
		}
		if codes == nil || codes.Len() < 2 {
			return nil
		}
		stored, err := c.Number("SELECT count(*) FROM " + m.Table() + " WHERE vector IS NOT NULL")
		if err != nil {
			return err
		}
		if int64(codes.Len()) < stored {
			addCheck(d, name, CheckFail, fmt.Sprintf("it holds %d of %d vectors", codes.Len(), stored), repairRemedy)
			return nil
		}
		before := codes.Rescore()
		tuned, err := codes.Tune(index.TuneQuestions, mt.Index.Source(c, &m))
		if err != nil {
			return err
		}
		detail := fmt.Sprintf("finds %.3f of the nearest ten, reading %d vectors a question", tuned.Recall, tuned.Rescore)
		if tuned.Rescore != before {
			detail += fmt.Sprintf(" (before: %d)", before)
		}
		status := CheckOK
		if tuned.Recall < vector.TunedRecall {
			status = CheckWarn
		}
		addCheck(d, name, status, detail, "vectors without any structure are found by words better than by meaning; try another model with: robotmem reembed")
		return nil
	})
}
