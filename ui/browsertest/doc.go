// Package browsertest drives the dashboard in a real browser, against the real
// program on a file with every kind of memory. It holds tests only:
//
//	go test ./ui/browsertest          all of it
//	make browser-test                 with axe-core, as CI runs it
//
// It wants Chromium (apt-get install chromium) and, for the checks of
// accessibility, axe-core, which .ci/axe fetches into bin/. Screenshots and
// figures go to artifacts/browser, or to the folder that ROBOTMEM_ARTIFACTS
// names. With ROBOTMEM_PICTURES=FOLDER the two pictures of the README are
// written there.
package browsertest
