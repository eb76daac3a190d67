package trainrun

// streamOf names the stream that a record comes from, within its kind of position. Positions of one stream tell which record is the
// later one; those of different streams tell nothing. With a uid it is the file part, mixed with the run of the uid when that
// is another one; without, it is the host: two hosts count alike.
func streamOf(e *Entry) uint32 {
	if e.ID.Kind == IDUID {
		return uidStream(e.ID.RunID, e.ID.File)
	}
	if e.Where.Host == "" {
		return 0
	}
	return uint32(hashName(e.Where.Host))
}

func uidStream(run string, file uint32) uint32 {
	if run == "" {
		return file
	}
	return file ^ uint32(hashName(run))
}

// pathHash tells the files of a run apart that have one first line; 0 where no path is told.
func pathHash(path string) uint32 {
	if path == "" {
		return 0
	}
	return max(uint32(hashName(path)), 1)
}
