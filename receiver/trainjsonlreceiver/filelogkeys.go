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
	// What is read of a file.
	"operators":                     "lines are decoded here; map their fields with training_norm",
	"multiline":                     "a line is a record; use file_log for text of several lines",
	"header":                        "a stream has none; use file_log for such files",
	"encoding":                      "leave it out: streams are UTF-8, bytes that are not are replaced and counted; have the trainer write UTF-8, or use file_log",
	"compression":                   "leave it out: name the .gz files in include, they are read as what is in them",
	"preserve_leading_whitespaces":  "leave it out: blanks around a JSON object mean nothing",
	"preserve_trailing_whitespaces": "leave it out: blanks around a JSON object mean nothing",
	"max_log_size_behavior":         "leave it out: of a line that is longer than max_line_size the first 4 KiB go out as a log event",
	"initial_buffer_size":           "leave it out: a file is read in stretches of 256 KiB, see max_in_flight_bytes",
	"force_flush_period":            "leave it out: a line is a record when its newline comes, see torn_after",
	// Which files are read, and how long they are known.
	"fingerprint_size":      "leave it out: a file is known by its inode or path, see identity",
	"max_concurrent_files":  "leave it out: at most 64 files are open, and every file has its turn",
	"max_batches":           "leave it out: every file has its turn in each round",
	"polls_to_archive":      "leave it out: a file that went away is remembered for 24 h",
	"on_truncate":           "leave it out: a file that was rewritten is read from its start and counted",
	"skip_unmodified_files": "leave it out: a file that does not change is not opened",
	"exclude_older_than":    "leave it out: with a storage a file is read once, however old; name the folders of old runs in exclude",
	"ordering_criteria":     "leave it out: every file that matches is read",
	"delete_after_read":     "leave it out: streams are only read",
	"acquire_fs_lock":       "leave it out: streams are only read",
	"file_cache_advise":     "leave it out: what is read was just written, and others read it too",
	// What a record has.
	"include_file_record_offset":    "leave it out: each record has log.file.record_offset",
	"include_file_record_number":    "leave it out: log.file.record_offset and log.record.uid tell lines apart, also after a restart",
	"include_file_name_resolved":    "leave it out: log.file.path is the path without symbolic links where include matches that; see include_file_name",
	"include_file_path_resolved":    "leave it out: log.file.path is the path without symbolic links where include matches that",
	"include_file_owner_name":       "leave it out: who wrote a run belongs into its records, under resource",
	"include_file_owner_group_name": "leave it out: who wrote a run belongs into its records, under resource",
	"include_file_permissions":      "leave it out: permissions are no part of a record",
	"attributes":                    "use the attributes or transform processor behind this receiver",
	"resource":                      "use the resource processor behind this receiver; a record brings its own under resource",
	// What an operator of stanza has.
	"id":               "leave it out: name the receiver instead, train_jsonl/<name>",
	"type":             "leave it out: the receiver is train_jsonl",
	"output":           "leave it out: name the exporters in service::pipelines",
	"retry_on_failure": "leave it out: what the pipeline refuses is offered again without end",
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
