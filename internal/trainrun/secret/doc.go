// Package secret finds what a training record or a signal should not tell: passwords, tokens, keys, signed addresses. It is
// the only room for that: results and the copy for a backend are masked by the same rules, by the name of a value (Walker),
// and by what a text looks like (Text). What it takes away is replaced by Mask and counted.
package secret
