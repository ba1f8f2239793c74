import { fixOf, message, plainText } from '../base/message.ts'
import { oncePer } from '../base/once-per.ts'
import type { Origin, SourceLine } from '../base/origin.ts'
import { removedWarning } from '../base/removed.ts'
import { FleetIndex } from '../fleet/facts/fleet-index.ts'
import { heldNodes } from '../fleet/facts/reconcilers.ts'
import type { Fleet, FleetNode, NotSeen } from '../fleet/model/fleet.ts'
import { addressIn, type Waiver } from '../fleet/model/fleet-config.ts'
import { mayLeadTo } from '../fleet/model/source-access.ts'
import type { Node } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import { unusedWaiver, waiverUnused } from '../rules/fleet-config.ts'
import type { Baseline } from '../rules/model/baseline.ts'
import type { Evaluation, Finding, NodeFailure, RequiredApproval } from '../rules/model/finding.ts'
import { KIND_NOT_EVALUATED } from '../rules/namespaces/object-identity.ts'
import { massDeletion } from '../rules/ownership/deletions.ts'
import { UNENCRYPTED_SETTING } from '../rules/secrets/plaintext-secret.ts'
import { type Assess, type Assessment, assess } from './assess.ts'
import { classifyFiles } from './classify-files.ts'
import { evaluatedOf } from './evaluated.ts'
import { evaluatedNodes } from './evaluated-nodes.ts'
import { approvalsOfFindings } from './finding-approvals.ts'
import { failureOf, findingOf, levelOf } from './findings.ts'
import { withSummary } from './headline.ts'
import { dormantIn, KnownFailures, KnownHidden } from './hidden-content.ts'
import { missingReferences } from './missing-references.ts'
import { isEvaluated, requiredApprovals } from './required-approvals.ts'
import { tenantSources } from './source-approvals.ts'
import { type Known, knownOf, knownOfBaseline, Waivers, withState } from './states.ts'
import { resultOf } from './summary.ts'
import { notSeenOf, remoteFiles } from './unseen-approvals.ts'
import { unmatchedSources, unreadableSources } from './unseen-sources.ts'
import { waitingCircles } from './waiting-circles.ts'

/** What a fleet is compared with. */
export interface EvaluateOptions {
  /** The fleet before the change; without it every finding outside the baseline is new. */
  readonly base?: Fleet
  /** revisionSetOf the input of the head. */
  readonly revisionSet: string
  /** The fleet's baseline file: it accepts errors always, violations where there is no base to compare with. */
  readonly baseline?: Baseline
  /** The day, `YYYY-MM-DD` in UTC; without it no waiver is valid. */
  readonly today?: string
  /** Normalized address of the repository that the change is in, where it is not the fleet: what may lead there and cannot be rendered decides. */
  readonly changed?: string
  /** Why nothing of what was to be evaluated was: errors that no node has. */
  readonly failures?: readonly NodeFailure[]
  /** Commits since which nodes do not build, by their keys. */
  readonly since?: ReadonlyMap<string, string> | undefined
}

/**
 * Evaluates a revision set. Only what is new decides: an error that is new or hides other bytes than before, then a new
 * violation. Pure, deterministic, never throws for what a repository holds.
 */
export function evaluateFleet(head: Fleet, options: EvaluateOptions, ask: Assess = assess): Evaluation {
  const before = options.base && ask(options.base)
  const now = ask(head, options.base)
  const known = before ? knownOf(before.findings) : knownOfBaseline(options.baseline ?? new Map())
  const waivers = new Waivers([...head.config.waivers, ...declaredRemovals(head)], options.today)
  const reported = [...now.findings, ...unusedWaivers(head, now.findings, waivers)]
  const stands = before ? new Map([...known, ...knownOf(unusedWaivers(head, before.findings, waivers))]) : known
  const awake = options.base && before ? standingApplied(options.base, head, before.findings, stands) : () => stands
  const [isHeld, wasHeld] = [heldNodes(head.nodes), options.base && heldNodes(options.base.nodes)]
  const hiding = (left: readonly (Finding | NodeFailure)[]) =>
    new KnownHidden(
      left,
      key => isHeld.has(key),
      key => wasHeld?.has(key) === true,
    )
  const hiddenBefore = hiding(before?.findings ?? [])
  const { changed } = options
  const leading = changed === undefined ? [] : head.nodes.filter(node => mayLeadTo(node.hides ?? [], changed))
  const leadsTo = new Set(leading.map(node => node.key))
  // a change of which nothing is evaluated does not pass because that was so before
  const isUnfollowed = changed !== undefined && leading.length > 0 && !isFollowed(changed, [head, options.base])
  const findings = reported.map(one => {
    const isHiding = isUnfollowed && one.hides !== undefined && leadsTo.has(one.node)
    const hidden = isHiding || (before !== undefined && hidesChange(one, now, before, hiddenBefore))
    return withState(one, awake(one), waivers, hidden, stands)
  })
  const failed = before?.failures ?? []
  const stood = new KnownFailures(failed, options.baseline ?? new Map(), hiding(failed))
  const failures = now.failures.map(one => (leadsTo.has(one.node) ? one : stood.withState(one)))
  const fixed = options.base && before ? fixedFindings(options.base, head, before.findings, findings) : []
  const all = [...withoutSharedEdits(findings, head), ...fixed].sort(inOrder)
  const violations = all.filter(one => one.level === 'violation')
  const errors = errorsIn(head, options, failures)
  const changedIn = changed ?? head.repositories[0]?.url ?? ''
  const changes = options.base && classifyFiles(head, options.base, changedIn)
  const verdict = withSummary({
    result: resultOf(violations, ownErrors(errors, violations)),
    clusters: head.clusters.map(({ name, path, how }) => ({ name, path, how })),
    tenants: head.tenants,
    violations,
    warnings: all.filter(one => one.level === 'warning' && !isNotEvaluated(one)),
    errors: ownErrors(options.base ? leadingErrors(errors, head) : errors, violations),
    notSeen: [...head.notSeen, ...notSeenOf(remoteFiles(head)), ...unknownNodes(head)],
    notReached: head.notReached,
    notEvaluated: all.filter(one => isNotEvaluated(one) && one.state !== 'fixed'),
    requiredApprovals: approvalsIn(head, options.base, all, changes?.approvals),
    ...(changes ? { changedFiles: changes.files, changedIn } : {}),
    evaluated: evaluatedOf(head),
    revisionSet: waivers.revisionSetWith(options.revisionSet),
  })
  const of = <T extends { readonly node: string }>(items: readonly T[]) => Map.groupBy(items, item => item.node)
  const [found, broken] = [of(violations.filter(one => one.state !== 'fixed')), of(errors)]
  const nodes = evaluatedNodes(head.nodes, found, broken, options.base?.nodes)
  return { verdict, nodes }
}

/** What could not be evaluated: of nodes, of sources, and of the fleet as a whole. */
function errorsIn(head: Fleet, options: EvaluateOptions, failures: readonly NodeFailure[]): NodeFailure[] {
  const { base, since } = options
  const dated = failures.map(one => {
    const commit = base && one.state === 'new' ? undefined : since?.get(one.node)
    return commit === undefined ? one : { ...one, since: commit }
  })
  const changed = base
    ? [...unreadableSources(head, base), ...missingReferences(head, base), ...waitingCircles(head, base)]
    : []
  const all = [...(options.failures ?? []), ...unevaluated(head, base), ...dated, ...changed]
  // what fails of the platform's makes tenants' nodes fail
  const isTenants = ({ tenant }: NodeFailure) => Number(tenant !== '')
  return [...all, ...unmatchedSources(head, base)].sort((a, b) => isTenants(a) - isTenants(b) || inOrder(a, b))
}

function approvalsIn(
  head: Fleet,
  base: Fleet | undefined,
  findings: readonly Finding[],
  ofFiles: readonly RequiredApproval[] = [],
): RequiredApproval[] {
  const ofChange = base
    ? [...requiredApprovals(head, base), ...approvalsOfFindings(findings, head, base), ...ofFiles]
    : []
  return [...ofChange, ...tenantSources(head, base)]
}

/** The existing finding for one of the head: what is applied now existed only where it was applied. */
function standingApplied(
  base: Fleet,
  head: Fleet,
  findings: readonly Finding[],
  stands: Known,
): (one: Finding) => Known {
  const [wasDormant, isDormant] = [dormantIn(base), dormantIn(head)]
  const asleep = findings.filter(wasDormant)
  if (asleep.length === 0) return () => stands
  const applied = new Map(stands)
  for (const { fingerprint } of asleep) applied.delete(fingerprint)
  for (const [key, one] of knownOf(findings.filter(one => !wasDormant(one)))) applied.set(key, one)
  return one => (isDormant(one) ? stands : applied)
}

/** Whether a node of one of these fleets has content of a repository. */
function isFollowed(url: string, fleets: readonly (Fleet | undefined)[]): boolean {
  return fleets.some(fleet => {
    const address = fleet && addressIn(fleet.config.aliases, url)
    return fleet?.nodes.some(({ source, charts = [] }) =>
      [source, ...(source.includes ?? []), ...charts].some(one => one.url === address),
    )
  })
}

/** Where a fleet gives that rule a severity, it is a violation like any other. */
const isNotEvaluated = ({ rule, level }: Finding) => LISTED.has(rule) && level === 'warning'
const LISTED = new Set([KIND_NOT_EVALUATED, UNENCRYPTED_SETTING])

/**
 * Whether it says less than there may be: of a node of which nothing could be built, where what it reads changed; and of
 * what was left out by a rule, where that hides something else than in the base, or is applied in another way.
 */
function hidesChange(item: Finding, now: Assessment, before: Assessment, stood: KnownHidden): boolean {
  if (item.hides !== undefined) return !stood.has(item)
  const inputs = now.inputs.get(item.node)
  return inputs !== undefined && inputs !== before.inputs.get(item.node)
}

function inOrder(a: Finding | NodeFailure, b: Finding | NodeFailure): number {
  const key = (one: Finding | NodeFailure) => {
    const { file, line, column } = one.origin
    const digits = (value: number) => String(value).padStart(9, '0')
    return [one.cluster, one.node, file, digits(line), digits(column), one.fingerprint, one.state].join('\0')
  }
  const [left, right] = [key(a), key(b)]
  return left < right ? -1 : left > right ? 1 : 0
}

/**
 * What the base has and the head has not. Of a node that the head cannot see, because it or what would render it fails,
 * nothing is known: that is never fixed.
 */
function fixedFindings(base: Fleet, head: Fleet, before: readonly Finding[], now: readonly Finding[]): Finding[] {
  const present = new Set(now.map(one => one.fingerprint))
  const gone = before.filter(one => !present.has(one.fingerprint))
  if (gone.length === 0) return []
  const seen = new Map(head.nodes.map(node => [node.key, node.digest !== '']))
  const parents = new Map(base.nodes.map(node => [node.key, node.parent]))
  const isUnseen = (key: string) => {
    for (let here: string | undefined = key; here !== undefined; here = parents.get(here)) {
      const isSeen = seen.get(here)
      // a visible parent without this child has removed it
      if (isSeen !== undefined) return !isSeen
    }
    return false
  }
  const objects = oncePer((node: FleetNode) => new Set(node.objects.map(object => JSON.stringify(idOf(object)))))
  const isThere = ({ cluster, object }: Finding) =>
    head.nodes.some(node => node.cluster === cluster && objects(node).has(JSON.stringify(object)))
  return gone
    .filter(one => !isUnseen(one.node) && !(one.isOfNew && isThere(one)))
    .map(one => ({ ...one, state: 'fixed' as const }))
}

/** What makes a cluster, for those in whose repository none was found. */
const LOOKED_FOR =
  'Searched for: a source and the Kustomization that follows it (flux-system/gotk-sync.yaml), a FluxInstance or values of its chart, and folders clusters/<name>'

/**
 * Nothing evaluated is not a pass: a repository without clusters is not a fleet, and one of which nothing is built shows
 * nothing. Where nothing of the base is visible either, no change can mend that: it is existing, and asks for an approval.
 */
function unevaluated(head: Fleet, base: Fleet | undefined): NodeFailure[] {
  const where = { key: '', cluster: '' }
  const at = (file: string) => ({ repository: '', file, line: 1, column: 1 })
  if (head.clusters.length === 0) {
    const message = `this repository has no cluster. ${LOOKED_FOR}`
    const fix =
      "A fleet: add the folder of each cluster under clusters in .github/bailiwick.yaml (name, path), or with --cluster-root NAME=PATH. A tenant's repository: add --fleet DIR, or open a draft pull request, which the App checks."
    return [failureOf(where, { code: 'path-not-found', message, fix }, at('clusters'))]
  }
  if (isEvaluated(head)) return []
  const state = base && !isEvaluated(base) && base.clusters.length > 0 ? 'standing' : 'new'
  const message = 'no Kustomization of the fleet could be rendered, so nothing was evaluated'
  const fix = 'Correct the errors of the clusters, or add the missing sources.'
  return [{ ...failureOf(where, { code: 'nothing-evaluated', message, fix }, at('')), state }]
}

/**
 * Without new errors of a Kustomization that something renders of which Flux applies nothing for a new error: what it would be is
 * not known, and it stays on the cluster as it was. The error that remains blocks.
 */
function leadingErrors(errors: readonly NodeFailure[], { nodes }: Fleet): readonly NodeFailure[] {
  const isNew = ({ state }: NodeFailure) => state === 'new'
  const refused = new Set(errors.filter(one => isNew(one) && one.blocksApply).map(({ node }) => node))
  if (refused.size === 0) return errors
  const parents = new Map(nodes.map(({ key, parent }) => [key, parent]))
  const follows = (key: string) => {
    let above = parents.get(key)
    while (above !== undefined && !refused.has(above)) above = parents.get(above)
    return above !== undefined
  }
  return errors.filter(one => !(isNew(one) && follows(one.node)))
}

/** Without what may follow from a part of the same node whose violation blocks. */
function ownErrors(errors: readonly NodeFailure[], violations: readonly Finding[]): readonly NodeFailure[] {
  const isNew = ({ state }: Finding | NodeFailure) => state === 'new'
  const blocked = new Set(violations.filter(one => isNew(one) && one.hides !== undefined).map(({ node }) => node))
  return errors.filter(one => !(one.follows && isNew(one) && blocked.has(one.node)))
}

/** Nodes of which no complete build was found: what they restrict is not known, and no rule can hold it against a change. */
function unknownNodes({ nodes }: Fleet): NotSeen[] {
  return nodes
    .filter(({ unknown }) => unknown)
    .map(({ cluster, namespace, name }) => ({
      source: `Kustomization/${namespace}/${name}`,
      url: '',
      reason: `it cannot be rendered on cluster ${cluster}, neither now nor at the earlier commits that were tried, so its tenants, limits and controller settings are unknown`,
      what: 'facts' as const,
    }))
}

/** A change declares what it removes in the file itself, which a fleet admin must approve: every other waiver holds once it is merged. */
function declaredRemovals({ config, proposed }: Fleet): readonly Waiver[] {
  return proposed === config ? [] : proposed.waivers.filter(({ rule }) => rule === massDeletion.id)
}

/** A warning for each waiver that none of the findings needs, and no open pull request can. */
function unusedWaivers(fleet: Fleet, findings: readonly Finding[], waivers: Waivers): Finding[] {
  const [root] = fleet.nodes
  if (!root || fleet.config.waivers.length === 0 || fleet.disabledRules?.includes(waiverUnused.id)) return []
  const used = new Set(findings.flatMap(finding => waivers.about(finding)))
  const isKnown = ({ rule }: Waiver) => removedWarning(`rule ${rule}`) === undefined
  const unused = fleet.config.waivers.filter(
    waiver => !used.has(waiver) && !waivers.isAwaited(waiver) && isKnown(waiver),
  )
  if (unused.length === 0) return []
  const index = new FleetIndex(fleet)
  return unused.flatMap(waiver => {
    const at = fleet.nodes.find(({ cluster }) => cluster === waiver.cluster) ?? root
    const violation = unusedWaiver(waiver, at)
    const weight = levelOf(waiverUnused, violation, fleet.config)
    return weight ? [findingOf(waiverUnused, weight, violation, index)] : []
  })
}

const SHARED = message` This line also changes what another tenant gets, so make the change in an overlay of this tenant alone.`

/**
 * Findings without the edits of lines that another tenant gets, too, unless the same edit fixes a finding of that tenant: a base of
 * two tenants is not changed for one of them. Their fix says so. Only new findings are looked at, as no other edit is offered.
 */
function withoutSharedEdits(findings: readonly Finding[], fleet: Fleet): readonly Finding[] {
  const offered = findings.filter(({ edit, state, origin }) => edit && state === 'new' && origin.file !== '')
  if (offered.length === 0) return findings
  const owners = new Map(fleet.clusters.map(({ name, owners }) => [name, owners]))
  const tenantOf = (cluster: string, tenant: string, namespace: string) =>
    tenant || (owners.get(cluster)?.get(namespace) ?? '')
  const places = Map.groupBy(offered, ({ origin }) => placeOf(origin))
  const files = new Set(offered.map(({ origin }) => fileOf(origin)))
  const reached = new Map([...places.keys()].map(place => [place, new Set<string>()]))
  const documents = new Map<string, Map<number, Set<string>>>()
  for (const { cluster, tenant = '', objects } of fleet.nodes) {
    for (const object of objects) {
      if (![...filesOf(object)].some(file => files.has(file))) continue
      const owner = tenantOf(cluster, tenant, idOf(object).namespace)
      for (const origin of originsIn(object.root)) reached.get(placeOf(origin))?.add(owner)
      const { line } = object.root.origin
      // a patch may have written over the line, and still needs it
      const starts = documents.get(fileOf(object.root.origin)) ?? new Map<number, Set<string>>()
      documents.set(fileOf(object.root.origin), starts.set(line, (starts.get(line) ?? new Set()).add(owner)))
    }
  }
  const isShared = (one: Finding) => {
    const place = placeOf(one.origin)
    const edit = JSON.stringify(one.edit)
    const same = places.get(place)!.filter(other => JSON.stringify(other.edit) === edit)
    const starts = documents.get(fileOf(one.origin)) ?? new Map<number, ReadonlySet<string>>()
    const start = Math.max(...[...starts.keys()].filter(line => line <= one.origin.line))
    const readers = [...reached.get(place)!, ...(starts.get(start) ?? [])]
    const fixed = new Set(same.map(({ cluster, tenant, object }) => tenantOf(cluster, tenant, object.namespace)))
    return readers.some(tenant => !fixed.has(tenant))
  }
  const shared = new Set(offered.filter(isShared))
  return shared.size === 0 ? findings : findings.map(one => (shared.has(one) ? withoutEdit(one) : one))
}

function withoutEdit({ edit: _edit, allowed: _allowed, ...finding }: Finding): Finding {
  const typedFix = message`${fixOf(finding)}${SHARED}`
  return { ...finding, fix: plainText(typedFix), typedFix }
}

const placeOf = ({ repository, file, line }: SourceLine) => `${repository}\0${file}\0${line}`
const fileOf = ({ repository, file }: SourceLine) => `${repository}\0${file}`

// objects outlive a verdict, and most verdicts look for other files than they come from
const filesOf = oncePer(({ root }: KubeObject): ReadonlySet<string> => {
  const files = new Set<string>()
  for (const origin of originsIn(root)) files.add(fileOf(origin))
  return files
})

function* originsIn(node: Node): Generator<Origin> {
  yield node.origin
  if (node.type === 'list') for (const item of node.items) yield* originsIn(item)
  if (node.type !== 'map') return
  for (const { key, value } of node.fields.values()) {
    yield key
    yield* originsIn(value)
  }
}
