// Package oauth makes a node its own authorization server, so that a remote MCP client can log in: the client
// registers itself, a person logs in to the node with a token of the token commands and allows or denies access, and
// the client gets short access tokens with a refresh token.
//
// The nouns:
//   - A [Login] is a token of the token commands, with which a person logs in and consents.
//   - A [Client] is a program that registered itself (RFC 7591). All clients are public: none has a secret.
//   - A [Grant] is what a login allowed a client. It has one access token and one refresh token at a time, of which only
//     hashes are stored. It never gives more rights than its login has now, and it ends with it.
//   - The [State] holds clients and grants. A [Store] keeps it.
//
// The library github.com/go-oauth2/oauth2 parses and checks the requests for codes and tokens and compares the
// code verifier. What it leaves open is decided here: redirect URIs (redirect.go), storage, random values and the
// owner of a refresh token (flow.go), parameters that are given twice (server.go). The protocol is OAuth 2.1 with PKCE
// S256 (RFC 7636), resource indicators (RFC 8707), the issuer in the response (RFC 9207), revocation (RFC 7009) and the
// metadata of RFC 8414.
//
// Caveats: codes and the times of the last use are kept in memory, so a restart ends logins that are under way. The
// number of registrations per minute is counted for each process.
package oauth
