package maintenance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

const (
	postingsCheck = "index of words in memory"
	// compareTries is how often the comparison is tried while the index changes.
	compareTries = 10
)

// examinePostings compares the index of words in a snapshot of its own, and again if the index changed meanwhile.
func (mt *Maintainer) examinePostings(ctx context.Context, d *admin.DoctorResponse) error {
	for try := 1; ; try++ {
		found := &admin.DoctorResponse{}
		if err := mt.Store.Read(ctx, func(c *store.Conn) error { return mt.ExaminePostings(c, found) }); err != nil {
			return err
		}
		if found.Checks[0].Status != CheckSkipped || try == compareTries {
			d.Checks = append(d.Checks, found.Checks...)
			return nil
		}
		if err := mt.Index.Warm(ctx); err != nil {
			return err
		}
	}
}

// ExaminePostings compares the number of texts in the postings index in memory with that of the active
// memories. It skips the check if the index is not of the state that c reads.
func (mt *Maintainer) ExaminePostings(c *store.Conn, d *admin.DoctorResponse) error {
	index, err := mt.Index.Postings.At(c)
	if err != nil {
		return err
	}

	if index == nil {
		addFinding(d, postingsCheck, CheckSkipped, "still_loading", compareRemedy,
			"not compared: it is still being read")
		return nil
	}

	// Whether the index has moved on is asked after its texts were counted, because recalls may update it at any time.
	rows, err := c.Number(store.CountActive)
	have := index.Stats(lexical.All).Rows

	moved, merr := mt.Index.Postings.MovedOn(c)
	switch err := errors.Join(err, merr); {
	case err != nil:
		return err
	case moved:
		addFinding(d, postingsCheck, CheckSkipped, "being_learnt", compareRemedy,
			"not compared: memories are being learnt")
	case int64(have) != rows:
		addCheck(d, postingsCheck, CheckFail, fmt.Sprintf("it holds %d texts, the tables %d", have, rows), repairRemedy)
	default:
		addFinding(d, postingsCheck, CheckOK, "words_match", "", "it holds %d texts, as the tables", have)
	}

	return nil
}

const compareRemedy = "run robotmem doctor again when fewer memories are being learnt"

// examineEmbedder adds checks of the embedder and of the stored vectors.
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
		addCheck(d, name, CheckWarn, "none, but the stored vectors are of "+m.Name,
			"start the node with --embedder "+m.Name+" to recall by meaning")
	case state.Model == "":
		addFinding(d, name, CheckOK, "no_embedder", "", "none: recall works by words, place, time and structure")
	case m.ID != 0 && m.Name != state.Model:
		addCheck(d, name, CheckWarn, "the stored vectors are of "+m.Name+", this node asks "+state.Model,
			"run: robotmem reembed")
	default:
		addCheck(d, name, CheckOK, state.Model, "")
	}

	if m.ID == 0 {
		return nil
	}

	refused, err := c.Number(store.CountRefused.Of(&m))
	damaged, derr := c.DamagedVectors(&m)
	backlog, berr := c.Backlog(&m)
	if err := errors.Join(err, derr, berr); err != nil {
		return err
	}

	switch {
	case len(damaged) > 0:
		addCheck(d, "vectors", CheckFail, fmt.Sprintf("%d are damaged", len(damaged)), repairRemedy)
	case backlog > 0:
		addFinding(d, "vectors", CheckWarn, "vectors_behind",
			"they are embedded in the background while a node with an embedder runs", "%d memories wait for one", backlog)
	case refused > 0:
		addFinding(d, "vectors", CheckOK, "vectors_refused", "",
			"every memory has one, but for %d whose text the model refused", refused)
	default:
		addFinding(d, "vectors", CheckOK, "vectors_present", "", "every memory has one")
	}

	return nil
}

// rerankTime limits the trial of a reranker.
const rerankTime = 2 * time.Second

// examineReranker adds a check of the reranker, if there is one. No background work uses the reranker, so it is
// called once, unless an earlier failure has paused it.
func (mt *Maintainer) examineReranker(ctx context.Context, d *admin.DoctorResponse) {
	const name = "reranker"
	if mt.Reranker == nil {
		return
	}
	state := mt.Reranker.State()
	reason := state.Reason
	if reason == "" {
		limited, cancel := context.WithTimeout(ctx, rerankTime)
		defer cancel()
		if _, err := mt.Reranker.Rerank(limited, "robot", []string{"a robot", "a dock"}); err != nil {
			reason = robotmem.Explain(err).Detail()
		}
	}
	if reason != "" {
		addCheck(d, name, CheckWarn, reason, "recall keeps its own order meanwhile; "+restartRemedy)
		return
	}
	addFinding(d, name, CheckOK, "reranker_answers", "", "%s answers", state.Model)
}

const restartRemedy = "see that its service runs"

// examineCodes compares the number of vectors in memory with those in the file.
func (mt *Maintainer) examineCodes(c *store.Conn, d *admin.DoctorResponse) error {
	const name = "index of vectors in memory"
	codes, m, err := mt.Index.Vectors.At(c)
	if err != nil {
		addCheck(d, name, CheckSkipped, "not compared: "+robotmem.Explain(err).Detail(), compareRemedy)
		return nil
	}

	if codes == nil || codes.Len() < 2 {
		return nil
	}

	stored, err := c.Number(store.CountVectors.Of(&m))
	if err != nil {
		return err
	}

	if int64(codes.Len()) < stored {
		addCheck(d, name, CheckFail, fmt.Sprintf("it holds %d of %d vectors", codes.Len(), stored), repairRemedy)
		return nil
	}

	addFinding(d, name, CheckOK, "vectors_indexed", "", "it holds %d vectors, reading %d a question", codes.Len(),
		codes.Rescore())

	return nil
}
