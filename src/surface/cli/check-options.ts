import { resolve } from 'node:path'
import type { DeclaredCluster } from '../../fleet/model/fleet-config.ts'
import { formats } from '../../report/formats/formats.ts'
import type { Given } from './given.ts'
import { TEXT_OR_JSON, type UsageLine } from './usage.ts'
import { clusterRoot, type GivenRepository, givenRepository, SOURCES } from './working-copy.ts'

export interface CheckOptions {
  readonly dir: string
  readonly base?: string | undefined
  readonly url?: string | undefined
  readonly branch?: string | undefined
  readonly fleet?: string | undefined
  /** File with the age keys that open encrypted files, to check their MAC. */
  readonly sopsAgeKeyFile?: string | undefined
  readonly repositories: readonly GivenRepository[]
  /** Folders of the fleet that clusters start from. */
  readonly roots: readonly DeclaredCluster[]
  /** Exit with 1 if something needs an approval, which the command line cannot see. */
  readonly failOnRequiredApproval: boolean
  /** List all changes with their fields. */
  readonly verbose: boolean
  /** A folder of clones, each of which may be the content of a source. */
  readonly reposDir?: string | undefined
  /** Only what concerns these is shown and counts; empty: all. */
  readonly clusters: readonly string[]
  readonly tenants: readonly string[]
  /** Run only the comparison with schemas. */
  readonly only?: 'schemas' | undefined
  /** One of the names of `formats`. */
  readonly output: string
}

/** Lines that a person at a terminal reads before the result. */
export const MAX_LINES = 60

export const VERBOSE: UsageLine = ['[--verbose]', 'on a terminal too, list everything']

export const BASE: UsageLine = ['[--base REF]', 'compare with this commit: only new violations and errors count']
const DIR: UsageLine = ['[DIR]', 'a git working copy, any folder of one, or a plain folder (default: .)']

/** The options that every command has that evaluates a working copy. */
export const COPY: readonly UsageLine[] = [
  ['[--url URL]', 'address of DIR as Flux sources name it (default: remote origin)'],
  [
    '[--branch NAME]',
    'branch that DIR is evaluated as (default: the one that --base names or tracks, else GITHUB_BASE_REF or CI_MERGE_REQUEST_TARGET_BRANCH_NAME, else the default branch; without --base the checked-out one)',
  ],
  ['[--fleet DIR]', 'the fleet, if DIR is the repository of a tenant'],
  ...SOURCES,
  ['[--cluster C]...', 'show and evaluate this cluster only'],
  ['[--tenant T]...', 'show and evaluate this tenant only'],
  ['[--sops-age-key-file FILE]', 'check the MAC of encrypted files with these age keys (default: SOPS_AGE_KEY_FILE)'],
  ['[--only schemas]', 'evaluate schemas alone: what the API server refuses in an object'],
]

/** The usage of `diff` and `fix`: `own` are the lines that only one of them has. */
export const copyUsage = (...own: readonly UsageLine[]): readonly UsageLine[] => [DIR, ...own, TEXT_OR_JSON, ...COPY]

/** The usage of `check`. */
export const CHECK: readonly UsageLine[] = [
  DIR,
  BASE,
  ...COPY,
  [
    '[--fail-on-required-approval]',
    'exit 1 if a fleet admin must approve the change (approvals on GitHub are not visible here)',
  ],
  [
    '[--verbose]',
    'list everything: offending lines, how each value came to be, every object that changes with its fields',
  ],
  [`[-o ${[...formats.keys()].join('|')}]`, 'text for people; json, sarif and github (workflow commands) for programs'],
]

/** The options of a command that evaluates a working copy; directories are resolved against `cwd`. Throws `usage`. */
export function copyOptions({ one, all, has, format }: Given, cwd: string): CheckOptions {
  const path = (name: string) => {
    const given = one(name)
    return given === undefined ? undefined : resolve(cwd, given)
  }
  return {
    dir: path('DIR') ?? cwd,
    base: one('base'),
    url: one('url'),
    branch: one('branch'),
    fleet: path('fleet'),
    reposDir: path('repos-dir'),
    sopsAgeKeyFile: path('sops-age-key-file'),
    roots: all('cluster-root').map(clusterRoot),
    repositories: all('repo').map(text => givenRepository(text, cwd)),
    failOnRequiredApproval: has('fail-on-required-approval'),
    verbose: has('verbose'),
    only: one('only') === undefined ? undefined : 'schemas',
    clusters: all('cluster'),
    tenants: all('tenant'),
    output: format,
  }
}
