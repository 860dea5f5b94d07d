// Package storetest holds the tests that both databases of package store pass: each query is prepared and run on a
// file and on a PostgreSQL server, and the columns of both schemas are compared.
package storetest
