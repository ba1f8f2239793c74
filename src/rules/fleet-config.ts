import { BailiwickError } from '../base/errors.ts'
import { asMessage, codeWord, message, part, plainText, untyped } from '../base/message.ts'
import { removedWarning } from '../base/removed.ts'
import type { FleetIndex } from '../fleet/facts/fleet-index.ts'
import type { EvaluatedRepository } from '../fleet/facts/repositories.ts'
import { objectPart, quoted } from '../fleet/facts/shown.ts'
import type { FleetNode } from '../fleet/model/fleet.ts'
import type { Waiver } from '../fleet/model/fleet-config.ts'
import { capsuleTenantOf } from '../fleet/tenancy/capsule.ts'
import { TENANT_LABEL } from '../fleet/tenancy/tenancy.ts'
import type { Tree } from '../git/tree.ts'
import { KUSTOMIZATION } from '../kube/flux-kinds.ts'
import { stringAt } from '../kube/node.ts'
import { BASELINE_FILE, type Baseline, type BaselineEntry, baselineOf } from './model/baseline.ts'
import { type Rule, type RuleContext, Subject, type Violation } from './model/rule.ts'

const FIX = message`Correct the name in ${codeWord('.github/bailiwick.yaml')}, or remove the entry.`

/** A limit for a tenant that does not exist has no effect. */
export const configUnused: Rule = {
  id: 'config-unused',
  severity: 'low',
  level: 'warning',
  title: 'Unknown tenant or cluster, or removed rule, in the fleet configuration',
  why: 'A misspelled tenant or cluster in `.github/bailiwick.yaml` has no effect, so its setting does not apply.',
  docs: 'Use the tenant names that `bailiwick check -o json` lists, and the directory names in `clusters`.',
  *checkRepository({ isFleet, nodes: [root] }, context) {
    if (isFleet && root) yield* unused(Subject.ofNode(root), context)
  },
}

/** Whether a cluster has anything of a tenant that is declared as platform: its label, or a namespace of it. */
function isShown(index: FleetIndex, cluster: string, name: string, namespaces: readonly string[]): boolean {
  const all = index.renderedAnywhere(cluster, '/Namespace').filter(({ node }) => node.tenant === undefined)
  const isLabelled = ({ object }: (typeof all)[number]) =>
    stringAt(object.root, TENANT_LABEL) === name || capsuleTenantOf(object) === name
  const isApplied = (namespace: string) => index.platformRendered(cluster, KUSTOMIZATION, namespace).length > 0
  return all.some(isLabelled) || [name, ...namespaces].some(isApplied)
}

function* unused(subject: Subject, { config, index }: RuleContext): Iterable<Violation> {
  for (const { id, key, origin } of index.proposed().namedRules) {
    const warning = removedWarning(`rule ${id}`)
    if (warning === undefined) continue
    yield subject.violation([], `rule ${key} ${id}`, {
      origin,
      message: message`${quoted('value', key)} has no effect. The ${untyped(warning)} Allowed: rules of ${codeWord('docs/rules.md')}.`,
      fix: message`Remove the entry.`,
    })
  }
  const known = new Set(index.clusters())
  const isTenant = (name: string) => [...known].some(cluster => index.namespacesOf(cluster, name).length > 0)
  const isPlatform = (name: string, namespaces: readonly string[]) =>
    [...known].some(cluster => isShown(index, cluster, name, namespaces))
  for (const { name, platform, namespaces, clusters = [], origin } of config.tenants.values()) {
    // an entry that the change removes is unused for this verdict only
    if (!origin || !index.proposed().tenants.has(name)) continue
    if (platform ? !isPlatform(name, namespaces) : !isTenant(name)) {
      yield subject.violation([], `tenant ${name}`, {
        origin,
        message: message`Tenant ${quoted('object', name)} is on none of the fleet's clusters, so its settings have no effect. Allowed: tenants that the fleet declares.`,
        fix: FIX,
      })
    }
    for (const cluster of clusters) {
      if (known.has(cluster)) continue
      yield subject.violation([], `tenant ${name} cluster ${cluster}`, {
        origin,
        message: message`Tenant ${quoted('object', name)} lists cluster ${quoted('value', cluster)}, which the fleet does not have. Allowed: the fleet's clusters.`,
        fix: FIX,
      })
    }
  }
}

/** A waiver that no finding needs; only a caller with all findings can tell, see unusedWaivers. */
export const waiverUnused: Rule = {
  id: 'waiver-unused',
  severity: 'low',
  level: 'warning',
  title: 'Unused waiver',
  why: 'A waiver that matches no present finding stays in the file and accepts the same value when it returns.',
  docs: 'Remove the entry from `waivers` in `.github/bailiwick.yaml`, or correct its rule, object or cluster. One with a `requester` is listed only after it has expired.',
}

/** The finding for an unneeded waiver, at the cluster's root. */
export function unusedWaiver(
  { rule, cluster, kind, namespace, name, origin, expires }: Waiver,
  root: FleetNode,
): Violation {
  const where = cluster === undefined ? message`` : message` on cluster ${part('value', cluster)}`
  return Subject.ofNode(root).violation([], JSON.stringify([rule, cluster ?? '', kind, namespace, name]), {
    origin,
    message: message`The waiver of ${part('value', rule)} for ${objectPart(kind, namespace, name)}${where} (until ${part('value', expires)}) is not used: no finding matches it. Allowed: waivers that match a finding.`,
    fix: message`Remove the waiver from ${codeWord('.github/bailiwick.yaml')}, or correct its rule, object or cluster.`,
  })
}

const DOCS = message`Fix the finding, or ask a fleet admin to approve the new entry.`

/** What a change adds to the baseline file no longer blocks once the change is merged. */
export const baselineGrowth: Rule = {
  id: 'baseline-growth',
  severity: 'high',
  level: 'warning',
  title: 'New entry in the baseline file',
  why: 'A violation in the baseline file counts as existing: it blocks neither a branch nor an apply. An evaluation error in the file does not block while the content that could not be evaluated stays the same. A new entry accepts its finding for the whole fleet.',
  docs: plainText(DOCS),
  checkRepository: grown,
}

function* grown({ isFleet, before, tree, url, nodes: [root] }: EvaluatedRepository): Iterable<Violation> {
  if (!isFleet || !before || !root || idIn(before) === idIn(tree)) return
  const subject = Subject.ofNode(root)
  const start = { repository: url, file: BASELINE_FILE, line: 1, column: 1 }
  const head = read(() => baselineOf(tree, url))
  if (head instanceof BailiwickError) {
    return yield subject.violation([], 'unreadable', {
      origin: head.origin ?? start,
      level: 'error',
      message: asMessage(head.typed ?? head.message),
      fix: asMessage(head.typedFix ?? head.fix ?? DOCS),
    })
  }
  // an unreadable baseline accepted nothing
  const base = read(() => baselineOf(before, url))
  const known: Baseline = base instanceof BailiwickError ? new Map() : base
  const added = [...head.keys()].filter(fingerprint => !known.has(fingerprint))
  const wider = [...head].filter(([fingerprint, entry]) => isWider(entry, known.get(fingerprint)))
  const count = new Set([...added, ...wider.map(([fingerprint]) => fingerprint)]).size
  if (count === 0) return
  yield subject.violation([], added.sort().join(' '), {
    origin: start,
    message: message`${codeWord(BASELINE_FILE)} has ${count} new ${count === 1 ? 'entry' : 'entries'}. After the merge, these findings no longer block.`,
    fix: DOCS,
  })
}

/** Whether an entry accepts something else than before: another severity, or other bytes behind an error. */
function isWider(entry: BaselineEntry, known: BaselineEntry | undefined): boolean {
  if (known?.severity !== entry.severity || (known?.hides === undefined) !== (entry.hides === undefined)) return true
  return entry.hides?.some(digest => !known?.hides?.includes(digest)) === true
}

/** A name that is easily mistaken for that of the file counts too. */
const idIn = (tree: Tree): string =>
  [BASELINE_FILE, BASELINE_FILE.replace(/yaml$/, 'yml')].map(path => tree.entry(path)?.id ?? '').join(' ')

function read(step: () => Baseline): Baseline | BailiwickError {
  try {
    return step()
  } catch (error) {
    if (error instanceof BailiwickError) return error
    throw error
  }
}
