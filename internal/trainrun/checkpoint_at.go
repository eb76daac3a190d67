package trainrun

// CheckpointAt finds, as Best does for its own point, the checkpoint at a point of a surviving curve: the last one of kind
// best there, else the last one there, else nil.
func (f *Fold) CheckpointAt(of *Series, p Point) *Checkpoint {
	d := f.placed()
	id, ok := f.parts.find(of.Part)
	if !ok {
		return nil
	}
	return d.checkpointAt(of.Part, id, of, &p)
}
