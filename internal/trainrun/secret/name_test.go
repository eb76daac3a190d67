package secret

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNamesOfSecrets(t *testing.T) {
	t.Parallel()
	for kind, names := range map[keyKind][]string{
		keySecret: {
			"password", "PGPASSWORD", "dbPassword", "mysql_pwd", "MYSQL_PWD", "userpwd", "pwd", "passwd", "passphrase", "secret", "client_secret",
			"clientsecret", "AWS_SECRET_ACCESS_KEY", "aws_access_key_id", "accesskey", "AccountKey", "api_key", "apiKey", "APIKey", "apikeys", "OPENAI_API_KEY",
			"X-Api-Key", "private_key", "privatekey", "ssh_key", "authkey", "credential", "credentials", "google.credentials", "Authorization",
			"sentry_dsn", "Set-Cookie", "bearer", "wandb_key", "password2", "encryption_keys", "pass_word", "pass-phrase", "p.a.s.s.w.o.r.d", "s_e_c_r_e_t", "p\u0430ssword", "\uff50assword", "pa\u200bssword", "passw\u00f6rd", "\U0001d429assword", "db.pass_word", "pw", "db_pw",
		},
		keyToken: {
			"token", "hf_token", "HFToken", "hftoken", "hub_token", "use_auth_token", "accessToken", "token_value", "TOKEN_GITHUB", "token_1",
			"X-Auth-Token", "auth_tokens", "authtokens", "auth", "auth_header", "proxy-auth", "webhook_url", "db_pass", "pass", "gh_token", "sas_token", "push_to_hub_token",
		},
		keyTokens: {"tokens", "--api-tokens", "refreshTokens", "hftokens"},
		keyAlone:  {"key", "--key", "Key"},
		keyMaybe:  {"some_key", "signature", "image_key", "keys", "public_key", "monitor_keys"},
		keyPlain: {
			"num_tokens", "max_tokens", "max_new_tokens", "maxtokens", "tokenizer", "tokenizer_name", "tokens_per_second", "tokens_seen", "key_dim", "keyword",
			"keywords", "author", "authors", "authority", "num_key_value_heads", "keyboard", "pad_token", "eos_token_id", "token_type_ids", "token_dropout",
			"token_embedding_dim", "special_tokens", "added_tokens_decoder", "monkey", "turkey", "keyframes", "secretary", "pass_through", "bypass",
			"compass", "num_pass", "auth_type", "authenticated", "cookiecutter", "detokenize", "num_input_tokens_seen", "skip_special_tokens", "lr", "",
			"--", "subtokens", "n_tokens", "train_tokens", "suppress_tokens", "cls_token", "image_token", "user", "session", "total_tokens", "password_policy", "passwordPolicy", "secret_type", "bypass_words", "compass_words", "word_pass", "gpw_x",
		},
	} {
		for _, name := range names {
			assert.Equal(t, kind, secretKey(name), name)
		}
	}
}
