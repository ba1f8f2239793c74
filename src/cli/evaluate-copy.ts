import type { Changes } from '../diff/changes.ts'
import { changesOf } from '../diff/changes-of.ts'
import { filterChanges } from '../diff/filter-changes.ts'
import { evaluateFleet } from '../evaluate/verdict/evaluate-fleet.ts'
import { filterVerdict, type VerdictFilter } from '../evaluate/verdict/filter-verdict.ts'
import { hashOf } from '../facts/fingerprint.ts'
import { revisionSetOf } from '../fleet/graph/combination.ts'
import { FleetSession } from '../fleet/incremental/fleet-session.ts'
import type { Fleet } from '../fleet/model/fleet.ts'
import { retainOf } from '../fleet/model/retain.ts'
import type { Tree } from '../git/tree.ts'
import type { EvaluatedAs } from '../report/formats/format-context.ts'
import { acceptedBy, baselineOf } from '../rules/model/baseline.ts'
import type { NodeFailure, Verdict } from '../rules/model/finding.ts'
import { rules } from '../rules/registry.ts'
import { schemaMismatch } from '../rules/schema/schema-mismatch.ts'
import { assertKnown } from './assert-known.ts'
import type { CheckOptions } from './check-options.ts'
import { checkSides, type Side, type Sides } from './check-sides.ts'
import { cloneReader, clonesIn, oneAfterTheOther, ownReader } from './clones.ts'
import type { Io } from './command.ts'
import { withSeals } from './encrypted-seals.ts'
import { addressesOf, followedKey, followedSources } from './followed-sources.ts'
import { followedVersions, notFollowed, unusedRepositories } from './not-followed.ts'
import { type OwnPart, ownPart } from './own-part.ts'
import { today } from './today.ts'
import { withEarlier } from './with-earlier.ts'
import { buildCompleteFleet, type Compared, directoryReader } from './working-sources.ts'

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

/** Evaluates the working copy that `options` name, with its sources, and its base if there is one. Throws BailiwickError. */
export async function evaluateCopy(
  options: CheckOptions,
  identities: readonly string[],
  env: NonNullable<Io['env']>,
): Promise<Checked> {
  const read = directoryReader()
  const clones = options.reposDir === undefined ? [] : [cloneReader(await clonesIn(options.reposDir), read)]
  const sides = await checkSides(options, read, env)
  const { here, head: present } = sides
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
    combination: revisionSetOf(head.input),
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

/** The filter of `--cluster` and `--tenant`; undefined if neither is given. Throws `usage` for a name that neither state of the fleet has. */
function filterOf(states: readonly Fleet[], { clusters = [], tenants = [] }: CheckOptions): VerdictFilter | undefined {
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

/** Errors for repositories that should be evaluated but that nothing in the fleet follows. A fleet without clusters is a separate error. */
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
