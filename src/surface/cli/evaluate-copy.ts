import { BailiwickError } from '../../base/errors.ts'
import { hashOf } from '../../fleet/facts/fingerprint.ts'
import { buildWithEarlier, type EarlierStates, FleetSession, MAX_EARLIER } from '../../fleet/graph/fleet-session.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import { type FleetInput, retainOf, revisionSetOf } from '../../fleet/model/input.ts'
import { openCommit } from '../../git/commits.ts'
import { askGit } from '../../git/run-git.ts'
import type { Tree } from '../../git/tree.ts'
import { isWorkingCopy } from '../../git/working-copy.ts'
import type { Elsewhere, EvaluatedAs } from '../../report/formats/format-context.ts'
import { acceptedBy, baselineOf } from '../../rules/model/baseline.ts'
import type { Evaluation, Finding, NodeFailure, Verdict } from '../../rules/model/finding.ts'
import { rules } from '../../rules/registry.ts'
import { schemaMismatch } from '../../rules/schema/schema-mismatch.ts'
import { type Changes, filterChanges } from '../../verdict/diff/changes.ts'
import { changesOf } from '../../verdict/diff/changes-of.ts'
import { evaluateFleet } from '../../verdict/evaluate-fleet.ts'
import { countFindings } from '../../verdict/summary.ts'
import { filterVerdict, scopeVerdict, type VerdictFilter } from '../../verdict/verdict-views.ts'
import type { CheckOptions } from './check-options.ts'
import { type Io, today } from './command.ts'
import { withSeals } from './encrypted-seals.ts'
import {
  addressesOf,
  followedKey,
  followedSources,
  followedVersions,
  notFollowed,
  unusedRepositories,
} from './followed-sources.ts'
import { assertKnown } from './given.ts'
import { type RepositoryAddress, repositoryAddress, rootFolder, withSyncedAddress } from './working-copy.ts'
import {
  type BuiltFleet,
  buildCompleteFleet,
  type Compared,
  cloneReader,
  clonesIn,
  directoryReader,
  type GivenTree,
  oneAfterTheOther,
  ownReader,
  type ReadDirectory,
} from './working-sources.ts'

/** An evaluated working copy. */
export interface Checked {
  readonly verdict: Verdict
  /** The part of the verdict to print when the repository belongs to a tenant. */
  readonly own?: OwnPart
  readonly evaluatedAs: EvaluatedAs
  /** Present when there is a base to compare with. */
  readonly changes?: Changes
  /** The fleet after the change, or its current state without a base. */
  readonly fleet: Fleet
  /** Root folder and files of the local repository. */
  readonly dir: string
  readonly tree: Tree
}

/** Evaluates the working copy in `options`, with its sources, and its base if there is one. Throws BailiwickError. */
export async function evaluateCopy(
  options: CheckOptions,
  identities: readonly string[],
  env: NonNullable<Io['env']>,
): Promise<Checked> {
  const read = directoryReader()
  const sides = await checkSides(options, read, env)
  const { here, head: present } = sides
  const checked = [sides.dir, present.history.dir]
  const clones = options.reposDir === undefined ? [] : [cloneReader(await clonesIn(options.reposDir), read, checked)]
  const fromClones = oneAfterTheOther([...clones, ownReader(present.history.dir, present.home.url, read)])
  const session = new FleetSession()
  const build = ({ home, given }: Side, compared: Compared = {}, stood?: ReadonlySet<string>) =>
    buildCompleteFleet(home, given, options.repositories, read, compared, session, fromClones, undefined, stood)
  const whole = async (side: Side) => withEarlier(await build(side), side.history, session, one => build(side, one))
  const base = sides.base && (await whole(sides.base))
  // keeps the base's tenants and restrictions where the changed fleet does not build
  const compared = sides.base && base ? { config: sides.base.home.tree, retain: retainOf(base.fleet) } : {}
  const stood = base && new Set(followedSources([base.fleet]).map(followedKey))
  const head = base ? await build(sides.head, compared, stood) : await whole(sides.head)
  const states = [head, ...(base ? [base] : [])].map(one => one.fleet)
  const when = {
    revisionSet: revisionSetOf(head.input),
    today: today(),
    failures: unfollowed(states, sides, options),
    since: (base ?? head).input.retain?.since,
    ...(sides.fleet ? { changed: here.url } : {}),
  }
  const limited = options.only ? { disabledRules: OTHERS } : {}
  const now = { ...(await withSeals(head.fleet, identities)), ...limited }
  const { home } = sides.head
  const known = base
    ? { base: { ...(await withSeals(base.fleet, identities)), ...limited }, baseline: acceptedBy(home.tree, home.url) }
    : { baseline: baselineOf(home.tree, home.url) }
  const { url: repository, branch, because } = here
  const evaluatedAs = { repository, branch, because, versions: followedVersions(head.fleet, here) }
  const filter = filterOf(states, options)
  const evaluation = evaluateFleet(now, { ...known, ...when })
  const verdict = filter ? filterVerdict(evaluation, filter) : evaluation.verdict
  const all = base && changesOf(base.fleet, head.fleet)
  const changes = all && { changes: filter ? filterChanges(all, filter) : all }
  const shown = { fleet: head.fleet, dir: sides.dir, tree: sides.head.given[0]?.tree ?? home.tree }
  if (!sides.fleet || sides.fleet.url === here.url) return { verdict, evaluatedAs, ...shown, ...changes }
  const own = ownPart(verdict, evaluation, addressesOf(states, here.url), { keepNew: base !== undefined })
  return { verdict, own, evaluatedAs, ...shown, ...changes }
}

/** What `--only schemas` leaves out. */
const OTHERS = rules.map(({ id }) => id).filter(id => id !== schemaMismatch.id)

/** The filter of `--cluster` and `--tenant`; undefined without. Throws `usage` for a name in neither fleet state. */
function filterOf(states: readonly Fleet[], { clusters, tenants }: CheckOptions): VerdictFilter | undefined {
  if (clusters.length + tenants.length === 0 || states[0]!.clusters.length === 0) return undefined
  const known = (of: (fleet: Fleet) => readonly { readonly name: string }[]) =>
    new Set(states.flatMap(of).map(({ name }) => name))
  assertKnown(
    'cluster',
    clusters,
    known(fleet => fleet.clusters),
  )
  assertKnown(
    'tenant',
    tenants,
    known(fleet => fleet.tenants),
  )
  return { clusters, tenants }
}

/** Errors for given repositories that nothing in the fleet follows. A fleet without clusters is a separate error. */
function unfollowed(
  states: readonly Fleet[],
  { here, fleet }: Sides,
  { fleet: directory, repositories }: CheckOptions,
): NodeFailure[] {
  if (states[0]!.clusters.length === 0) return []
  const checkOut = (branch: string | undefined) => `Run: git -C ${directory} checkout ${branch}`
  const error = (fleet && notFollowed(states, fleet, checkOut)) ?? notFollowed(states, here)
  return [...(error ? [error] : []), ...unusedRepositories(states, repositories)].map(({ code, message, fix = '' }) => {
    const origin = { repository: here.url, file: '', line: 0, column: 0 }
    const where = { cluster: '', tenant: '', node: '', origin }
    return { code, state: 'new', message, fix, ...where, fingerprint: hashOf([code, message]) }
  })
}

/** One side of a comparison: the fleet, and the tenant's repository if that is checked. */
interface Side {
  readonly home: FleetInput['fleet']
  readonly given: readonly GivenTree[]
  /** Earlier commits. */
  readonly history: History
}

interface Sides {
  /** Root folder of the checked repository. */
  readonly dir: string
  /** The checked repository and the branch that it stands for; its url is '' if it has none. */
  readonly here: RepositoryAddress
  /** The fleet, if that is another repository. */
  readonly fleet?: RepositoryAddress
  readonly head: Side
  readonly base?: Side
}

/**
 * What is evaluated, and what it is compared with. With `--fleet`, DIR is a tenant's repository, and the fleet stays at
 * its branch on both sides. Throws `usage` for options that exclude each other, `git-missing` for missing commits.
 */
async function checkSides(options: CheckOptions, read: ReadDirectory, env: Environment): Promise<Sides> {
  const { base, url: givenUrl, roots: clusters } = options
  const dir = await rootFolder(options.dir, { base, url: givenUrl, isTenant: options.fleet !== undefined })
  if (base !== undefined && !(await isWorkingCopy(dir))) {
    throw new BailiwickError('usage', `--base needs a git working copy, ${dir} is a plain folder`, {
      fix: 'Leave --base out, or name a folder of a working copy.',
    })
  }
  const stated = await repositoryAddress(dir, { ...options, env })
  const tree = await read(dir)
  const baseTree = base === undefined ? undefined : await openCommit(dir, base, tree)
  const isFleet = givenUrl === undefined && options.fleet === undefined
  // from the base, so that a change cannot choose the address of its repository
  const here = isFleet ? withSyncedAddress(stated, baseTree ?? tree) : stated
  const { url, branch } = here
  if (options.fleet === undefined) {
    // the remote is this repository too: a change may be what makes its clusters follow it by this name
    const alias = stated.url === url || stated.url === '' ? {} : { alias: stated.url }
    const side = (own: Side['home'], commit?: string): Side => ({
      ...{ home: { ...own, ...alias }, given: [] },
      history: { dir, ...(commit === undefined ? {} : { commit }) },
    })
    const head = side({ url, branch, commit: '', tree, clusters })
    if (!baseTree) return { dir, here, head }
    const { commit } = baseTree
    return { dir, here, head, base: side({ url, branch, commit, tree: baseTree, clusters }, commit) }
  }
  if (url === '') {
    throw new BailiwickError('usage', `${dir} has no remote origin, so its source in the fleet is unknown`, {
      fix: 'Add --url with the address that the fleet uses for it.',
    })
  }
  const fleetDir = await rootFolder(options.fleet)
  const fleetTree = await read(fleetDir)
  const fleet = withSyncedAddress(await repositoryAddress(fleetDir, {}), fleetTree)
  const home = { url: fleet.url, branch: fleet.branch, commit: '', tree: fleetTree, clusters }
  const history = { dir: fleetDir }
  const head = { home, history, given: [{ url, branch, tree }] }
  if (!baseTree) return { dir, here, fleet, head }
  return { dir, here, fleet, head, base: { home, history, given: [{ url, branch, tree: baseTree }] } }
}

type Environment = Readonly<Record<string, string | undefined>>

/** Where the commits of a fleet's repository are. */
interface History {
  readonly dir: string
  /** The commit that was built; absent: the working copy on top of HEAD. */
  readonly commit?: string
}

/** No further commit is opened after this time: what still does not build is unknown. */
const MAX_SEARCH_MS = 2_000

/**
 * The fleet, with what does not build taken from the last commit that built it. `build` builds it again with that and
 * reads what it then needs. A fleet that builds needs no request to git. `now` is the clock, in milliseconds.
 */
export async function withEarlier(
  built: BuiltFleet,
  history: History,
  session: FleetSession,
  build: (compared: Compared) => Promise<BuiltFleet>,
  now: () => number = () => performance.now(),
): Promise<BuiltFleet> {
  const older = new FleetSession(MAX_EARLIER)
  const end = now() + MAX_SEARCH_MS
  let earlier: EarlierStates = { states: [], isAll: false }
  let commits: readonly string[] | undefined
  for (;;) {
    const next = buildWithEarlier(
      input => session.build(input),
      built.input,
      earlier,
      input => older.build(input),
    )
    if (!next.isOpen || earlier.isAll) {
      const { retain } = next.input
      return retain ? build({ retain }) : built
    }
    commits ??= await firstParents(history)
    const commit = commits[earlier.states.length]
    if (commit === undefined) earlier = { ...earlier, isAll: true }
    else {
      const state = { commit, tree: await openCommit(history.dir, commit, built.input.fleet.tree) }
      const states = [...earlier.states, state]
      earlier = { states, isAll: states.length === commits.length || now() >= end }
    }
  }
}

async function firstParents({ dir, commit }: History): Promise<string[]> {
  if (!(await isWorkingCopy(dir))) return []
  const from = commit === undefined ? ['HEAD'] : ['--skip=1', commit]
  const listed = await askGit(dir, ['rev-list', '--first-parent', `--max-count=${MAX_EARLIER}`, ...from])
  return listed?.toString().split('\n').filter(Boolean) ?? []
}

/** A verdict as printed for one repository, and the findings that are only counted. */
export interface OwnPart {
  readonly verdict: Verdict
  readonly elsewhere: Elsewhere
}

/**
 * What a tenant's run prints: the findings that concern the repositories at `urls`, chosen as the App does. The result
 * stays that of the whole. `keepNew`: new findings come from the change, so they concern them.
 */
function ownPart(
  verdict: Verdict,
  evaluation: Evaluation,
  urls: Iterable<string>,
  options: { readonly keepNew: boolean },
): OwnPart {
  const own = new Set<Finding | NodeFailure>()
  for (const url of urls) {
    const { violations, warnings, errors, notEvaluated } = scopeVerdict(evaluation, url, options)
    for (const one of [...violations, ...warnings, ...errors, ...notEvaluated]) own.add(one)
  }
  const [violations, otherViolations] = split(verdict.violations, own)
  const [warnings, otherWarnings] = split(verdict.warnings, own)
  const [errors, otherErrors] = split(verdict.errors, own)
  const [notEvaluated] = split(verdict.notEvaluated, own)
  const others = [...otherViolations, ...otherWarnings, ...otherErrors]
  const [freshViolations, freshErrors] = [otherViolations.filter(isNew), otherErrors.filter(isNew)]
  return {
    verdict: { ...verdict, violations, warnings, errors, notEvaluated },
    elsewhere: {
      violations: countFindings(freshViolations),
      errors: freshErrors.length,
      others: others.length - freshViolations.length - freshErrors.length,
    },
  }
}

/** Its own items and those without a node, and the rest. */
function split<T extends Finding | NodeFailure>(
  list: readonly T[],
  own: ReadonlySet<Finding | NodeFailure>,
): [T[], T[]] {
  const isOwn = (one: T) => own.has(one) || one.node === ''
  return [list.filter(isOwn), list.filter(one => !isOwn(one))]
}

const isNew = ({ state }: { readonly state: string }) => state === 'new'
