/**
 * Commands that neither change files of a checkout nor push an artifact, by their first words; a command that writes its
 * output to a file changes it. `git` and the like only with what reads.
 */
const HARMLESS = [
  ...[
    'echo',
    'printf',
    'true',
    ':',
    'test',
    '[',
    '[[',
    'set',
    'exit',
    'sleep',
    'pwd',
    'ls',
    'cat',
    'head',
    'tail',
    'wc',
  ],
  ...[
    'grep',
    'cut',
    'tr',
    'jq',
    'date',
    'basename',
    'dirname',
    'which',
    'type',
    'uname',
    'mkdir',
    'read',
    'shopt',
    'diff',
  ],
  ...['git rev-parse', 'git config --get', 'git config --global', 'git branch --show-current', 'git log', 'git status'],
  ...['git describe', 'git tag --points-at', 'git show', 'git diff', 'git fetch', 'git symbolic-ref', 'git ls-files'],
  ...['flux --version', 'flux version', 'flux -v', 'flux diff artifact', 'flux list artifacts', 'flux oci login'],
  ...[
    'flux check --pre',
    'command -v',
    'docker login',
    'docker logout',
    'helm registry login',
    'oras login',
    'crane auth login',
  ],
  ...['crane digest', 'crane ls', 'crane manifest', 'crane version', 'cosign sign', 'cosign verify', 'cosign version'],
  ...['aws ecr get-login-password', 'az login', 'az acr login', 'gcloud auth', 'kubeconform', 'kubeval', 'yamllint'],
  ...[
    'kustomize build',
    'kubectl kustomize',
    'kustomize version',
    'yq --version',
    'conftest test',
    'pluto detect-files',
  ],
]
const FIRST_WORDS = new Set(HARMLESS.map(command => command.split(' ')[0]!))
const BY_FIRST = Map.groupBy(HARMLESS, command => command.split(' ')[0]!)
/** Options by which such a command writes files all the same. */
const WRITES = /^(?:-o|--output|--bundle)/

/** Whether a command, given by its words, leaves the checkout and the registry as they are. */
export function isHarmless(words: readonly string[]): boolean {
  const [first = ''] = words
  if (!FIRST_WORDS.has(first)) return false
  const text = words.join(' ')
  const fits = BY_FIRST.get(first)!.some(command => text === command || text.startsWith(`${command} `))
  return fits && (!WRITES_WITH_OPTION.has(first) || !words.some(word => WRITES.test(word)))
}

const WRITES_WITH_OPTION = new Set(['kustomize', 'kubectl', 'cosign', 'git', 'diff', 'date'])

/** Actions that set up tools or log in, by owner and name: they leave the checkout as it is. */
const ACTIONS = new Set([
  ...['actions/cache', 'actions/create-github-app-token', 'fluxcd/flux2/action'],
  ...[
    'fluxcd/flux-schema/actions/validate',
    'controlplaneio-fluxcd/distribution/actions/setup',
    'fluxcd/pkg/actions/kustomize',
  ],
  ...['fluxcd/pkg/actions/kubectl', 'sigstore/cosign-installer', 'docker/login-action', 'imjasonh/setup-crane'],
  ...[
    'oras-project/setup-oras',
    'aws-actions/configure-aws-credentials',
    'aws-actions/amazon-ecr-login',
    'azure/login',
  ],
  ...['azure/docker-login', 'google-github-actions/auth', 'step-security/harden-runner', 'redhat-actions/podman-login'],
  ...['tj-actions/changed-files', 'dorny/paths-filter', 'bjw-s-labs/action-changed-files', 'jdx/mise-action'],
  ...['tailscale/github-action', 'instrumenta/kubeval-action', 'ibiqlik/action-yamllint'],
])
const SETUP = /^[\w.-]+\/(?:setup-[\w.-]+|[\w.-]+-installer)$/

/** Whether an action (`owner/name[/path]`, without its ref) leaves the checkout and the registry as they are. */
export const isHarmlessAction = (action: string): boolean => ACTIONS.has(action) || SETUP.test(action)

/** Marks of programs that push artifacts or move their tags. */
export const PUSHES =
  /\b(?:push|tag)\s+artifact\b|\b(?:oras|regctl|imgpkg|skopeo|vendir|werf|timoni|kluctl)\b|\bcrane\s+(?:push|tag|append|copy|cp|mutate|rebase)\b|\bdocker\s+(?:push|buildx)\b|\bcosign\s+(?:copy|attach|load)\b|\bhelm\s+push\b|\bpodman\s+(?:push|manifest)\b/

/** Variables that change which programs run, or how a script is read. */
export const STEERS = /^(?:PATH|IFS|ENV|BASH_ENV|SHELLOPTS|BASHOPTS|CDPATH|HOME|TMPDIR|LD_\w*|GIT_\w*|XDG_\w*)$/
