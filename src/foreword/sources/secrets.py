"""Names of files and folders that usually contain secrets."""

from __future__ import annotations

TYPE_CHECKING = False

# Samples of such files (`.env.example`) may be read.
_SECRET_NAMES = (
    ".env", ".env.*", "*.env", ".envrc", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "id_rsa*", "id_dsa*",
    "id_ecdsa*", "id_ed25519*", ".npmrc", ".pypirc", ".netrc", "_netrc", ".pgpass", ".git-credentials", ".htpasswd", "credentials",
    "*credentials.json", "credentials.toml", "credentials.y*ml", "secrets.json", "secrets.toml", "secrets.y*ml", ".dockercfg", ".vault-token",
    "*.tfstate", "*.tfvars", "auth.json", ".my.cnf", "shadow", "gshadow", "shadow-", "gshadow-",
)  # fmt: skip
_SAMPLES = ("*.example", "*.sample", "*.template", "*.dist", "*.pub")
_SECRET_FOLDERS = frozenset((".git", ".ssh", ".gnupg", ".aws", ".kube", ".azure", ".docker"))


def is_secret(path: str) -> bool:
    """Whether a path's name suggests that its content is secret and must not get into a prompt."""
    from fnmatch import fnmatchcase

    parts = [part.lower() for part in path.split("/")]
    name = parts[-1]
    if any(part in _SECRET_FOLDERS for part in parts[:-1]):
        return True
    return any(fnmatchcase(name, pattern) for pattern in _SECRET_NAMES) and not any(
        fnmatchcase(name, pattern) for pattern in _SAMPLES
    )
