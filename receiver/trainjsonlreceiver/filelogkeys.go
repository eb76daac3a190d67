package trainjsonlreceiver

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"go.opentelemetry.io/collector/confmap"
)

// Two names of one key: ours, and that of file_log.
const (
	keyMaxLine = "max_line_size"
	keyMaxLog  = "max_log_size"
)

// fileLogKeys are keys of file_log that have no place here, and what to do instead.
var fileLogKeys = map[string]string{
	"operators":                  "lines are decoded here; map their fields with training_norm",
	"multiline":                  "a line is a record; use file_log for text of several lines",
	"header":                     "a stream has none; use file_log for such files",
	"fingerprint_size":           "leave it out: a file is known by its inode or path, see identity",
	"max_concurrent_files":       "leave it out: at most 64 files are open, and every file has its turn",
	"max_batches":                "leave it out: every file has its turn in each round",
	"force_flush_period":         "leave it out: a line is a record when its newline comes, see torn_after",
	"polls_to_archive":           "leave it out: a file that went away is remembered for 24 h",
	"on_truncate":                "leave it out: a file that was rewritten is read from its start and counted",
	"skip_unmodified_files":      "leave it out: a file that does not change is not opened",
	"delete_after_read":          "leave it out: streams are only read",
	"ordering_criteria":          "leave it out: every file that matches is read",
	"acquire_fs_lock":            "leave it out: streams are only read",
	"retry_on_failure":           "leave it out: what the pipeline refuses is offered again without end",
	"include_file_record_offset": "leave it out: each record has log.file.record_offset",
	"include_file_record_number": "leave it out: log.file.record_offset and log.record.uid tell lines apart, also after a restart",
}

// Unmarshal says for a key of file_log that has no place here what to do instead, and takes its name of max_line_size.
func (c *Config) Unmarshal(conf *confmap.Conf) error {
	raw := conf.ToStringMap()
	var errs []error
	for key := range raw {
		if instead, ok := fileLogKeys[key]; ok {
			errs = append(errs, fmt.Errorf("%s: %s", key, instead))
		}
	}
	if len(errs) > 0 {
		slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
		return errors.Join(errs...)
	}
	if size, ok := raw[keyMaxLog]; ok {
		if _, both := raw[keyMaxLine]; both {
			return fmt.Errorf("%s: is file_log's name of %s, set one of them", keyMaxLog, keyMaxLine)
		}
		delete(raw, keyMaxLog)
		raw[keyMaxLine] = size
		conf = confmap.NewFromStringMap(raw)
	}
	return conf.Unmarshal(c)
}
