import { causeOf, fingerprintOf, writtenBy } from '../../facts/fingerprint.ts'
import type { FleetIndex } from '../../facts/fleet-index.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { causeAt, originAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { pointer } from '../../kube/pointer.ts'
import { type Message, message, plainText } from '../../message/message.ts'
import { asMessage, sayingOf } from '../../message/said.ts'
import type { Origin, Step } from '../../origin.ts'
import type { Finding, NodeFailure } from '../../rules/model/finding.ts'
import type { RuleText, Violation } from '../../rules/model/rule.ts'
import type { Weight } from './level-of.ts'

/** What stands behind a violation that is only reported. */
const REPORTED = message` It is reported without blocking, because enforcement is "report".`

/** So many values are kept of those that a field may have. */
const MAX_ALLOWED = 20

/** A breach as the verdict lists it. */
export function findingOf(rule: RuleText, weight: Weight, violation: Violation, index: FleetIndex): Finding {
  const { node, object, path } = violation
  const tenant = node.tenant ?? ''
  // an edit is made at the field itself, and much of a whole object or its spec is not about the finding
  const isPart = violation.edit === undefined && path.length > 1
  const origin = violation.origin ?? (isPart ? causeAt : originAt)(object.root, path)
  return {
    rule: rule.id,
    level: weight.level === 'violation' ? 'violation' : 'warning',
    ...(weight.reported ? { reported: true } : {}),
    severity: weight.severity,
    state: 'new',
    cluster: node.cluster,
    tenant,
    identity: node.identity.user,
    object: idOf(object),
    field: pointer(path),
    origin: place(origin),
    via: dedupe([...(origin.via ?? []), ...object.trail, ...chain(violation.renderedBy ?? node, index)]),
    ...sayingOf(
      weight.reported ? message`${asMessage(violation.message)}${REPORTED}` : violation.message,
      violation.fix,
    ),
    node: node.key,
    fingerprint: fingerprintOf({ rule: rule.id, cluster: node.cluster, tenant }, object, path, violation.value),
    ...causeIn(rule, violation, origin),
    ...(violation.follows === undefined ? {} : { follows: violation.follows }),
    ...(violation.isBefore ? { isBefore: true as const } : {}),
    ...(violation.edit ? { edit: violation.edit } : {}),
    ...(violation.allowed?.length ? { allowed: violation.allowed.slice(0, MAX_ALLOWED) } : {}),
    ...(violation.clusterAnswer === undefined ? {} : { clusterAnswer: violation.clusterAnswer }),
    ...(violation.policy ? { policy: violation.policy } : {}),
  }
}

function causeIn(
  rule: RuleText,
  { path, value, cause }: Violation,
  origin: Origin,
): Pick<Finding, 'cause' | 'isShared'> {
  if (cause !== undefined) return { cause, isShared: true }
  return origin.file === '' ? {} : { cause: writtenBy(rule.id, origin, path, value) }
}

/** What could not be evaluated, and by what it is recognized. */
interface Cause {
  readonly code: string
  readonly message: string | Message
  /** What identifies it, where the message does not. */
  readonly identity?: string | undefined
  readonly fix: string | Message
  /** The object and field that it is about, where it is not the place in the file alone. */
  readonly about?: readonly string[]
  /** See NodeFailure. */
  readonly hides?: string | undefined
  readonly appliedAs?: string | undefined
  readonly blocksApply?: boolean
}

/** What could not be evaluated of a node. */
export function failureOf(
  node: Pick<FleetNode, 'key' | 'cluster' | 'tenant'>,
  { code, message: text, identity, fix, about = [], hides, appliedAs, blocksApply }: Cause,
  origin: Origin,
): NodeFailure {
  return {
    code,
    state: 'new',
    ...sayingOf(text, fix),
    origin: place(origin),
    cluster: node.cluster,
    tenant: node.tenant ?? '',
    node: node.key,
    fingerprint: causeOf({ code, message: identity ?? plainText(text) }, origin, about),
    ...(hides === undefined ? {} : { hides }),
    ...(appliedAs === undefined ? {} : { appliedAs }),
    ...(blocksApply ? { blocksApply } : {}),
  }
}

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
