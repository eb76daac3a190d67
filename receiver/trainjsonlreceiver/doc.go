// Package trainjsonlreceiver tails append-only training streams in JSON Lines, decodes each whole line and hands it on at
// least once with an identity that stays the same over re-reads, restarts and renames. It maps no fields.
package trainjsonlreceiver
