// Package browsertest drives the dashboard in a real browser, against the real
// program on a file with every kind of memory. It holds tests only, and is a
// module of its own, so that the program's go.mod does not list the browser's
// driver:
//
//	make browser-test      all tests, with axe-core, as CI runs them
//	make browser-short     the main pages only, in some 12 seconds
//
// It needs Chromium (apt-get install chromium) and, for the checks of
// accessibility, axe-core, which .ci/axe fetches into bin/. Screenshots and
// figures go to artifacts/browser, or to the folder that ROBOTMEM_ARTIFACTS
// names. With ROBOTMEM_PICTURES=FOLDER the two pictures of the README are
// written there.
package browsertest
