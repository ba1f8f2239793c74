import type { Fleet, FleetNode } from '../fleet/fleet.ts'
import { WANTED } from '../fleet/open-node.ts'
import { type Node, originAt, type Path } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import type { Origin, Step } from '../kube/origin.ts'
import { pointer } from '../kube/pointer.ts'
import type { Finding, NodeFailure } from './finding.ts'
import { fingerprintOf, hashOf, withoutPositions } from './fingerprint.ts'
import { FleetIndex } from './fleet-index.ts'
import { rules } from './registry.ts'
import type { Breach, Undecided } from './rule.ts'
import { undecided } from './undecided.ts'

/** What the rules say about a fleet by itself: every state is `new` until it is compared. */
export interface Assessment {
  readonly findings: readonly Finding[]
  readonly failures: readonly NodeFailure[]
  /** Of a node whose rendering failed: what it read. A change of it may hide anything behind the same error. */
  readonly inputs: ReadonlyMap<string, string>
}

/** Asks every rule that is switched on; `before` is for what only a change can break. Pure and deterministic. */
export function assess(fleet: Fleet, before?: Fleet): Assessment {
  const index = new FleetIndex(fleet)
  const context = { fleet, index, ...(before ? { before } : {}) }
  const disabled = new Set(fleet.disabledRules)
  const findings: Finding[] = []
  const failures: NodeFailure[] = []
  for (const node of fleet.nodes) {
    if (node.error && isForbidden(node, index, disabled)) findings.push(refusal(node, index))
    else if (node.error) failures.push(failure(node))
    if (node.source.opaque === WANTED) failures.push(unread(node))
  }
  for (const rule of rules) {
    if (disabled.has(rule.id)) continue
    for (const breach of rule.check(context)) findings.push(finding(rule.id, rule.severity, breach, index))
  }
  for (const one of undecided(context)) failures.push(undecidedFailure(one))
  const inputs = new Map(fleet.nodes.flatMap(node => (node.error ? ([[node.key, node.inputs ?? '']] as const) : [])))
  return { findings: unique(findings), failures: unique(failures), inputs }
}

/** What the renderer refuses by a rule is a violation; for the platform a remote base only where Flux refuses it too. */
function isForbidden(node: FleetNode, index: FleetIndex, disabled: ReadonlySet<string>): boolean {
  const rule = node.error?.rule
  // What only some readers refuse is no rule of ours: it stays an error.
  if (rule === undefined || disabled.has(rule) || !rules.some(one => one.id === rule)) return false
  const locked = index.cluster(node.cluster)?.lockdown.noRemoteBases === true
  return node.tenant !== undefined || rule !== 'kustomize-remote-base' || locked
}

function refusal(node: FleetNode, index: FleetIndex): Finding {
  const error = node.error!
  const rule = rules.find(one => one.id === error.rule)
  const breach = {
    node,
    object: node.kustomization,
    path: ['spec', 'path'],
    value: withoutPositions(error.message),
    message: error.message,
    fix: error.fix ?? rule?.docs ?? 'Remove it.',
  }
  const made = finding(error.rule!, rule?.severity ?? 'high', breach, index)
  if (!error.origin) return made
  return { ...made, origin: place(error.origin), via: dedupe([...(error.origin.via ?? []), ...chain(node, index)]) }
}

function finding(rule: string, severity: Finding['severity'], breach: Breach, index: FleetIndex): Finding {
  const { node, object, path } = breach
  const tenant = node.tenant ?? ''
  const origin = originOf(object.root, path)
  return {
    rule,
    severity,
    state: 'new',
    cluster: node.cluster,
    tenant,
    identity: node.identity.user,
    object: idOf(object),
    field: pointer(path),
    origin: place(origin),
    via: dedupe([...(origin.via ?? []), ...object.trail, ...chain(breach.renderedBy ?? node, index)]),
    message: breach.message,
    fix: breach.fix,
    node: node.key,
    fingerprint: fingerprintOf({ rule, cluster: node.cluster, tenant }, object, path, breach.value),
  }
}

function failure(node: FleetNode): NodeFailure {
  const error = node.error!
  const origin = error.origin ?? node.kustomization.root.origin
  return failureAt(node, error.code, error.message, error.fix ?? 'Correct the file.', origin)
}

function unread(node: FleetNode): NodeFailure {
  const origin = originAt(node.kustomization.root, ['spec', 'sourceRef'])
  return failureAt(node, 'source-unreadable', 'its source was not read yet', 'Read the source and judge again.', origin)
}

function undecidedFailure({ node, code, object, path, message, fix }: Undecided): NodeFailure {
  return failureAt(node, code, message, fix, originOf(object.root, path))
}

function failureAt(
  node: FleetNode,
  code: NodeFailure['code'],
  message: string,
  fix: string,
  origin: Origin,
): NodeFailure {
  const tenant = node.tenant ?? ''
  const fingerprint = hashOf([node.key, code, withoutPositions(message)])
  return {
    code,
    state: 'new',
    message,
    fix,
    origin: place(origin),
    cluster: node.cluster,
    tenant,
    node: node.key,
    fingerprint,
  }
}

const originOf = (root: Node, path: Path): Origin => originAt(root, path)

const place = ({ repository, file, line, column }: Origin) => ({ repository, file, line, column })

/** The Kustomizations through which a node's objects come, innermost first. */
function chain(node: FleetNode, index: FleetIndex): Step[] {
  const steps: Step[] = []
  for (let here: FleetNode | undefined = node; here && steps.length < 64; here = index.node(here.parent)) {
    const { file, line } = nameOf(here.kustomization)
    steps.push({ step: 'kustomization', file, line })
  }
  return steps
}

const nameOf = (object: KubeObject) => originAt(object.root, ['metadata', 'name'])

function dedupe(steps: readonly Step[]): Step[] {
  const seen = new Set<string>()
  return steps.filter(step => {
    const key = JSON.stringify([step.step, step.file, step.line])
    return !seen.has(key) && seen.add(key)
  })
}

function unique<T extends { readonly node: string; readonly fingerprint: string }>(items: readonly T[]): T[] {
  return [...new Map([...items].reverse().map(item => [`${item.node} ${item.fingerprint}`, item])).values()].reverse()
}
