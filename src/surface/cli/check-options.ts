import { resolve } from 'node:path'
import type { DeclaredCluster } from '../../fleet/model/fleet-config.ts'
import { formats } from '../../report/formats/formats.ts'
import { parseOptions, usageError } from './parse-options.ts'
import { CLUSTER_ROOT_HELP, clusterRoot, type GivenRepository, givenRepository } from './working-copy.ts'

export interface CheckOptions {
  readonly dir: string
  readonly base?: string
  readonly url?: string
  readonly branch?: string
  readonly fleet?: string
  /** File with the age keys that open encrypted files, to check their MAC. */
  readonly sopsAgeKeyFile?: string
  readonly repositories: readonly GivenRepository[]
  /** Folders of the fleet that clusters start from. */
  readonly roots?: readonly DeclaredCluster[]
  /** Exit with 1 if something needs an approval, which the command line cannot see. */
  readonly failOnRequiredApproval?: true
  /** List all changes with their fields. */
  readonly verbose?: true
  /** A folder of clones, each of which may be the content of a source. */
  readonly reposDir?: string
  /** Only what concerns these is shown and counts; absent: all. */
  readonly clusters?: readonly string[]
  readonly tenants?: readonly string[]
  /** Run only the comparison with schemas. */
  readonly only?: 'schemas'
  /** Evaluate again whenever a file changes. */
  readonly watch?: true
  /** Write the edits that are certain. */
  readonly apply?: true
  /** One of the names of `formats`. */
  readonly output: string
}

const FAIL_ON_APPROVAL = 'fail-on-required-approval'
const VERBOSE = 'verbose'
const WATCH = 'watch'
/** Options without a value. */
const FLAGS: readonly string[] = [FAIL_ON_APPROVAL, VERBOSE, WATCH]

/** Every option with its usage and help text. A new one is a line here and a field above. */
const OPTIONS: readonly (readonly [name: string, usage: string, help: string])[] = [
  ['base', '[--base REF]', '--base REF     compare with this commit: only new violations and errors count'],
  ['url', '[--url URL]', '--url URL      address of DIR as Flux sources name it (default: remote origin)'],
  [
    'branch',
    '[--branch NAME]',
    `--branch NAME  branch that DIR is evaluated as (default: the one that --base names or tracks, else GITHUB_BASE_REF or
                 CI_MERGE_REQUEST_TARGET_BRANCH_NAME, else the default branch; without --base the checked-out one)`,
  ],
  ['fleet', '[--fleet DIR]', '--fleet DIR    the fleet, if DIR is the repository of a tenant'],
  ['repo', '[--repo URL[#REF]=DIR]...', '--repo URL[#REF]=DIR   folder with the content of another source'],
  [
    'repos-dir',
    '[--repos-dir DIR]',
    '--repos-dir DIR   folder with clones of other sources, each identified by its remote',
  ],
  ['cluster-root', '[--cluster-root NAME=PATH]...', CLUSTER_ROOT_HELP.trim()],
  ['cluster', '[--cluster C]...', '--cluster C    show and evaluate this cluster only'],
  ['tenant', '[--tenant T]...', '--tenant T     show and evaluate this tenant only'],
  [
    'sops-age-key-file',
    '[--sops-age-key-file FILE]',
    '--sops-age-key-file FILE   check the MAC of encrypted files with these age keys (default: SOPS_AGE_KEY_FILE)',
  ],
  [
    FAIL_ON_APPROVAL,
    `[--${FAIL_ON_APPROVAL}]`,
    `--${FAIL_ON_APPROVAL}   exit 1 if a fleet admin must approve the change (approvals on GitHub are not visible here)`,
  ],
  [
    VERBOSE,
    '[--verbose]',
    '--verbose      show the offending lines; with --base: list every object that changes, with its fields',
  ],
  ['only', '[--only schemas]', '--only schemas   evaluate schemas alone: what the API server refuses in an object'],
  [WATCH, `[--${WATCH}]`, '--watch        evaluate again whenever a file changes, until Ctrl-C'],
  [
    'output',
    `[-o ${[...formats.keys()].join('|')}]`,
    '-o FORMAT      text for people; json, sarif and github (workflow commands) for programs',
  ],
]

export const CHECK_USAGE = ['check [DIR]', ...OPTIONS.map(([, usage]) => usage)].join(' ')

export const CHECK_HELP = helpOf(OPTIONS)

/** Options of `check` that commands with formats of their own do not have. */
const OF_CHECK = [FAIL_ON_APPROVAL, VERBOSE, WATCH, 'output']

/** Help for the options that `diff` and `fix` share with `check`. */
export const COPY_HELP = helpOf(OPTIONS.filter(([name]) => name !== 'base' && !OF_CHECK.includes(name)))

function helpOf(options: typeof OPTIONS): string {
  const dir = '  DIR            a git working copy, any folder of one, or a plain folder (default: .)'
  return [dir, ...options.map(([, , help]) => `  ${help}`)].join('\n')
}

/** Parses the arguments of `check` and `watch`; resolves directories against `cwd`. Throws `usage`. */
export const checkOptions = (args: readonly string[], cwd: string): CheckOptions =>
  read(args, cwd, { usage: CHECK_USAGE, flags: FLAGS, formats: [...formats.keys()] })

/** Parses the arguments of a command that evaluates a working copy and prints text or JSON. Throws `usage`. */
export const copyOptions = (args: readonly string[], cwd: string, usage: string, flags: readonly 'apply'[] = []) =>
  read(args, cwd, { usage, flags, formats: ['text', 'json'] })

interface Grammar {
  readonly usage: string
  readonly flags: readonly string[]
  readonly formats: readonly string[]
}

function read(args: readonly string[], cwd: string, { usage, flags, formats: allowed }: Grammar): CheckOptions {
  const names = OPTIONS.map(([name]) => name).filter(name => !FLAGS.includes(name))
  const parsed = parseOptions(args, names, usage, flags)
  const { positionals, one, all, has: given } = parsed
  if (positionals.length > 1) throw usageError(usage, `${JSON.stringify(positionals[1])} is an extra DIR`)
  const [base, url, branch] = ['base', 'url', 'branch'].map(one)
  const [fleet, reposDir, keys, only] = ['fleet', 'repos-dir', 'sops-age-key-file', 'only'].map(one)
  if (only !== undefined && only !== 'schemas')
    throw usageError(usage, `--only ${JSON.stringify(only)} is not supported. Allowed: schemas`)
  return {
    dir: resolve(cwd, positionals[0] ?? '.'),
    ...(base === undefined ? {} : { base }),
    ...(url === undefined ? {} : { url }),
    ...(branch === undefined ? {} : { branch }),
    ...(fleet === undefined ? {} : { fleet: resolve(cwd, fleet) }),
    ...(reposDir === undefined ? {} : { reposDir: resolve(cwd, reposDir) }),
    ...(keys === undefined ? {} : { sopsAgeKeyFile: resolve(cwd, keys) }),
    ...(all('cluster-root').length > 0 ? { roots: all('cluster-root').map(clusterRoot) } : {}),
    repositories: all('repo').map(text => givenRepository(text, cwd)),
    ...(given(FAIL_ON_APPROVAL) ? { failOnRequiredApproval: true as const } : {}),
    ...(given(VERBOSE) ? { verbose: true as const } : {}),
    ...(given(WATCH) ? { watch: true as const } : {}),
    ...(only === undefined ? {} : { only }),
    ...(given('apply') ? { apply: true as const } : {}),
    ...(all('cluster').length > 0 ? { clusters: all('cluster') } : {}),
    ...(all('tenant').length > 0 ? { tenants: all('tenant') } : {}),
    output: parsed.format(allowed),
  }
}
