package trainrun

import (
	"slices"
	"strings"
)

// Modes of an objective.
const (
	ModeMin = "min"
	ModeMax = "max"
)

// defaultObjective is the metric that decides when none was given.
const defaultObjective = "val/loss"

var (
	minWords = strings.Fields("loss err error perplexity ppl wer cer mae mse rmse mape nll bpb bpd fid eer brier ece regret lpips")
	maxWords = strings.Fields("acc accuracy auc auroc auprc ap map precision recall f1 iou miou dice bleu rouge meteor cider " +
		"psnr ssim r2 reward rewards return score fitness kappa mcc ndcg mrr")
)

// Goal says, by its name, whether a metric is better when it is smaller or greater. It looks at the words after the phase
// prefix; the last known one decides: accuracy_loss is a loss.
func Goal(name string) (mode string, ok bool) {
	for _, w := range slices.Backward(plainWords(withoutPhase(name))) {
		if slices.Contains(minWords, w) || strings.HasSuffix(w, "loss") {
			return ModeMin, true
		}
		if slices.Contains(maxWords, w) || numbered(w) {
			return ModeMax, true
		}
	}
	return "", false
}

// withoutPhase takes the phase off a name.
func withoutPhase(name string) string {
	for _, p := range []string{"train/", "val/", "test/"} {
		name = strings.TrimPrefix(name, p)
	}
	return name
}

// plainWords splits at everything that is no letter or digit, lower case.
func plainWords(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z')
	})
}

// numbered knows names with a number or more behind: map50, ap75, top5, acc1, f2, rougeL.
func numbered(w string) bool {
	if strings.HasPrefix(w, "rouge") {
		return true
	}
	for _, p := range []string{"map", "ap", "top", "acc", "f"} {
		if rest, ok := strings.CutPrefix(w, p); ok && rest != "" && strings.Trim(rest, "0123456789") == "" {
			return true
		}
	}
	return false
}
