package trainrun

// farthest keeps, of numbers of completed epochs, the two greatest that differ and the least. 0 is none.
type farthest struct{ least, before, most int64 }

func (f *farthest) add(n int64) {
	switch {
	case n <= 0 || n == f.most:
		return
	case n > f.most:
		f.before, f.most = f.most, n
	default:
		f.before = max(f.before, n)
	}
	if f.least == 0 || n < f.least {
		f.least = n
	}
}

// isStray says that the last of three or more epochs is much farther from the one before than all others span: that one is wrong, or others
// are missing. Rows of each tenth epoch are no such case.
func (f *farthest) isStray() bool {
	const times = 5
	return f.before > f.least && (f.most-f.before)/times > f.before-f.least+1
}
