// Package dvc tests written results with the real DVC, inside a git and DVC repository. The test installs it from requirements.txt into
// build/dvc, once. Where that cannot be done the tests are skipped with the reason, unless OTELCOL_TRAIN_REQUIRE_DVC is set.
package dvc
