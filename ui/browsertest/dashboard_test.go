package browsertest

import "testing"

// TestDashboard starts the program and a browser once for all tests. With -short
// it only opens the main pages.
func TestDashboard(t *testing.T) {
	w := newWorld(t)
	if testing.Short() {
		w.mainPages(t)
		t.Run("the API reference", w.reference)
		t.Run("pages of other sites", w.foreignOrigins)
		t.Run("tokens made and revoked", w.manageTokens)
		t.Run("a program that logs in", w.remoteLogin)
		return
	}
	w.newMonthNode(t)
	t.Run("figures", w.figures) // alone, before the machine is busy
	t.Run("figures of an incident", w.incidentFigures)
	t.Run("all", func(t *testing.T) {
		t.Run("views", w.views)
		for name, f := range map[string]func(*testing.T){
			"search as one types":             w.searchAsOneTypes,
			"filters by clicking":             w.filtersByClicking,
			"copies that work":                w.copiesThatWork,
			"forget and undo":                 w.forgetAndUndo,
			"edit and undo":                   w.editAndUndo,
			"hidden characters":               w.hiddenCharacters,
			"pin":                             w.pin,
			"restore":                         w.restore,
			"conflicts both ways":             w.conflictsBothWays,
			"by keyboard alone":               w.byKeyboardAlone,
			"an episode by its keys":          w.episodeByKeys,
			"two episodes":                    w.twoEpisodes,
			"from a slip to what holds":       w.slip,
			"odd episodes":                    w.oddEpisodes,
			"a recording as it was":           w.recording,
			"a dropped recording":             w.importDropped,
			"an import that is cancelled":     w.importCancelled,
			"imports for readers":             w.importForReaders,
			"incidents":                       w.incidents,
			"one advice":                      w.oneAdvice,
			"weak advice":                     w.weakAdvice,
			"a plan and its result":           w.apart,
			"repeats of objects":              w.repeatsOfObjects,
			"behind a proxy":                  w.behindProxy,
			"the narrowest window":            w.narrowest,
			"on paper":                        w.onPaper,
			"foreign text":                    w.foreignText,
			"in Chinese":                      w.inChinese,
			"small previews":                  w.smallPreviews,
			"few lines":                       w.fewLines,
			"long lists":                      w.longLists,
			"keys in lists":                   w.keysInLists,
			"episodes by their facts":         w.episodesByFacts,
			"what covers a fact":              w.covered,
			"a map of two kinds":              w.mapOfKinds,
			"a map beneath its points":        w.mapBeneath,
			"the nearest success":             w.nearestSuccess,
			"two fingers on a plot":           w.twoFingers,
			"deep check and repair":           w.deepCheckAndRepair,
			"backups and cleanup":             w.backupsAndCleanup,
			"language and theme stay":         w.languageAndThemeStay,
			"another process is seen":         w.anotherProcessIsSeen,
			"tokens":                          w.tokens,
			"tokens made and revoked":         w.manageTokens,
			"a program that logs in":          w.remoteLogin,
			"a node that goes and comes back": w.nodeGone,
			"a new user":                      w.newUser,
			"plots":                           w.plots,
			"points in space":                 w.space,
			"sound":                           w.sound,
			"bytes, text and pictures":        w.bytesAndText,
			"the gallery":                     w.gallery,
			"memories by place":               w.memoriesByPlace,
			"a place for a search":            w.placeForASearch,
			"the API reference":               w.reference,
			"pages of other sites":            w.foreignOrigins,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				f(t)
			})
		}
	})
}
