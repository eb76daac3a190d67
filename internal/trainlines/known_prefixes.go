package trainlines

// Parts of the expressions below.
const (
	reTime  = `(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?)`
	reLevel = `(?:TRACE|DEBUG|INFO|NOTICE|SUCCESS|WARN|WARNING|ERROR|CRITICAL|FATAL)`
	reField = `[\w.:/<>@ -]{1,64}?`
)

// reAfterTime is what may stand between a time and the object. It is one expression because trying many takes long.
const reAfterTime = ` std(?:out|err) [FP] ` + // container logs of Kubernetes
	`|(?: *\| *` + reField + `){1,4} - ` + // loguru: date | LEVEL | place -
	`|(?: *\| *` + reField + `){0,4} *\| +` + // date | LEVEL | logger |
	`|(?: - ` + reField + `){0,4} - ` + // Python: date - logger - LEVEL -
	`|(?:\[` + reField + `\]){1,4} - ` + // Hydra: [date][logger][LEVEL] -
	`|:? +(?:\[?` + reLevel + `\]?:? +)?(?:[\w.]+: )?` // date LEVEL logger:

// PrefixesKnown stands for knownPrefixes in line_prefixes.
const PrefixesKnown = "known"

// knownPrefixes are what frameworks, launchers and loggers write before an object.
var knownPrefixes = []string{
	// Frameworks.
	":::MLLOG ", // MLPerf
	"DLLL ",     // DLLogger
	// Launchers; the rank of torchrun is that of the process on its node.
	`^\[(?:rank|default|trainer|worker)(?P<rank>\d+)\]: ?`,              // PyTorch, torchrun
	`^slurm_procid (?P<rank>\d+) ?: ?`,                                  // scripts on Slurm
	`^(?P<rank>\d+): `,                                                  // srun --label
	`^\[(?:(?:[^\]\s]*@)?\d+,)?(?P<rank>\d+)\]<std(?:out|err|diag)>: ?`, // mpirun --tag-output, horovodrun
	`^\((?:[\w.()]+ )?pid=\d+(?:, ip=[\w.:]+)?\) ?`,                     // Ray
	`^\[pod/[^\]\s]+\] `,                                                // kubectl logs --prefix
	`^[\w.-]+-\d+ +\| `,                                                 // docker compose logs
	`^(?:\x1b\[[\d;]*[mK])+`,                                            // colours
	`^\[?` + reTime + `\]?(?:` + reAfterTime + `)`,                      // loggers, with a time
	`^\[` + reLevel + `\|` + reField + `\] ` + reTime + ` >> `,          // Transformers
	`^\[NeMo [A-Z] ` + reTime + ` ` + reField + `\] *`,
	`^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [\w.:/-]+\] `, // absl, glog: no year
	`^` + reLevel + `:[\w.]*: ?`,                         // logging.basicConfig
}
