import { fixOf, message, part, sayingOf, typedMessage } from '../base/message.ts'
import { kindOf } from '../fleet/facts/object-table.ts'
import { heldNodes, isMarked } from '../fleet/facts/reconcilers.ts'
import { type Fleet, type FleetNode, nodesByKey } from '../fleet/model/fleet.ts'
import { fluxKind } from '../kube/flux-kinds.ts'
import { at, isTrue, stringAt } from '../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'
import { fieldTexts } from '../kube/read-fields.ts'
import { BASELINE_FILE, type Baseline, isAccepted } from '../rules/model/baseline.ts'
import type { Finding, NodeFailure } from '../rules/model/finding.ts'
import { leftOutOf } from './evaluated.ts'

/**
 * Fields of a Kustomization's spec that only set when it is applied or from where, or are in the identity already. Any
 * other field decides what becomes of objects that are not visible.
 */
const ELSEWHERE = new Set([
  'interval',
  'retryInterval',
  'timeout',
  'wait',
  'healthChecks',
  'healthCheckExprs',
  'dependsOn',
  'prune',
  'path',
  'sourceRef',
  'serviceAccountName',
  'suspend',
])

/** Where, as whom and in which form a node applies what it renders, to be compared with what another one does. */
interface Place {
  /** Undefined: nothing of it is applied, because it is suspended or Flux refuses it. */
  readonly now: string | undefined
  /** The places where it is existing in a later fleet: what is applied may be held there, what is held is not applied. */
  readonly known: readonly string[]
}

/**
 * What is not evaluated of a node is known only where its place is: the same bytes on another cluster, with another account or
 * with other values from elsewhere are something else. `isHeld`: the node's spec in git does not reach its cluster, so
 * its controller goes on with the old one (see heldNodes).
 */
export function placeOf(node: FleetNode, isHeld: boolean, values = node.values ?? ''): Place {
  if (leftOutOf(node).some(({ isFatal }) => isFatal)) return { now: undefined, known: [] }
  const spec = fieldTexts(at(node.kustomization.root, ['spec']), name => !ELSEWHERE.has(name))
  const place = JSON.stringify([node.cluster, node.identity.user, spec, values])
  const held = heldAt(place)
  if (isHeld) return { now: held, known: [held] }
  return node.suspend ? { now: undefined, known: [held] } : { now: place, known: [place, held] }
}

/** A place of a node that is held. */
const heldAt = (place: string) => `held ${place}`

type Where = Pick<Finding, 'node' | 'object'>

/**
 * Finds what git holds and Flux does not apply: a suspended Kustomization, all below one, and objects that Flux is set to
 * ignore. A finding there is not existing: it never had an effect.
 */
export function dormantIn(fleet: Fleet): (where: Where) => boolean {
  const held = heldNodes(fleet.nodes)
  const byKey = nodesByKey(fleet.nodes)
  const objects = new Map<string, ReadonlySet<string>>()
  const leftAlone = (node: FleetNode): ReadonlySet<string> => {
    const before = objects.get(node.key)
    if (before) return before
    const found = new Set(node.objects.flatMap(object => (isLeftAlone(object) ? [nameOf(idOf(object))] : [])))
    objects.set(node.key, found)
    return found
  }
  return ({ node: key, object }) => {
    const node = byKey.get(key)
    return node !== undefined && (held.isDormant(key) || leftAlone(node).has(nameOf(object)))
  }
}

const nameOf = ({ apiVersion, kind, namespace, name }: Where['object']) =>
  JSON.stringify([groupOf(apiVersion), kind, namespace, name])

const isLeftAlone = (object: KubeObject) => isMarked(object) || isSuspended(object)

/** Whether a Flux object is switched off for its controller, by a field or by an annotation of its group. */
function isSuspended(object: KubeObject): boolean {
  const row = fluxKind(kindOf(object))
  if (!row) return false
  if (isTrue(at(object.root, ['spec', 'suspend']))) return true
  return stringAt(object.root, ['metadata', 'annotations', `${row.group}/reconcile`])?.toLowerCase() === 'disabled'
}

type Hiding = Pick<Finding, 'node' | 'fingerprint' | 'hides' | 'appliedAs'>
/** Whether a node is held, by its key. */
type IsHeld = (node: string) => boolean

/** What an earlier evaluation left out: by its cause, the bytes that it hides, and how these were applied. */
export class KnownHidden {
  readonly #bytes = new Set<string>()
  readonly #applied = new Set<string>()
  readonly #isHeld: IsHeld

  /** `isHeld` of what is asked about, `wasHeld` of what was there before. */
  constructor(before: Iterable<Hiding>, isHeld: IsHeld, wasHeld: IsHeld) {
    this.#isHeld = isHeld
    for (const { node, fingerprint, hides, appliedAs } of before) {
      if (hides === undefined) continue
      this.#bytes.add(`${fingerprint} ${hides}`)
      if (appliedAs === undefined) continue
      for (const place of wasHeld(node) ? [heldAt(appliedAs)] : [appliedAs, heldAt(appliedAs)]) {
        this.#applied.add(`${fingerprint} ${hides} ${place}`)
      }
    }
  }

  /** The same bytes were left out for the same cause. */
  hasBytes({ fingerprint, hides }: Hiding): boolean {
    return this.#bytes.has(`${fingerprint} ${hides}`)
  }

  /** They were, and they were applied like this, or are not applied now. */
  has(one: Hiding): boolean {
    const { node, fingerprint, hides, appliedAs } = one
    if (!this.hasBytes(one) || appliedAs === undefined) return this.hasBytes(one)
    const place = this.#isHeld(node) ? heldAt(appliedAs) : appliedAs
    return this.#applied.has(`${fingerprint} ${hides} ${place}`)
  }
}

/** The causes that the base has, with what each hides there, and those that the fleet's baseline accepts. */
export class KnownFailures {
  readonly #hidden: KnownHidden
  readonly #causes = new Set<string>()
  readonly #accepted: Baseline

  constructor(before: readonly NodeFailure[], accepted: Baseline, hidden: KnownHidden) {
    this.#accepted = accepted
    this.#hidden = hidden
    for (const { fingerprint } of before) this.#causes.add(fingerprint)
  }

  /**
   * A failure with its state. It is existing where the base has the same cause, anywhere, and it hides the same there; or
   * where the baseline accepts exactly these bytes. If the same cause hides other bytes, or has them applied in another way,
   * the message adds that and the way past it.
   */
  withState(failure: NodeFailure): NodeFailure {
    const { fingerprint, hides } = failure
    if (hides === undefined) return failure
    if (isAccepted(this.#accepted, failure) || this.#hidden.has(failure)) return { ...failure, state: 'standing' }
    if (this.#hidden.hasBytes(failure)) return unseen(failure, 'is applied anew: in another place or form')
    const wasKnown = this.#causes.has(fingerprint) || this.#accepted.get(fingerprint)?.hides !== undefined
    return wasKnown && hides !== '' ? unseen(failure, 'changed') : failure
  }
}

/** An existing error that now hides unknown content. */
function unseen(failure: NodeFailure, how: 'changed' | 'is applied anew: in another place or form'): NodeFailure {
  const { origin, fingerprint, hides = '' } = failure
  const file = origin.file === '' ? message`it` : part('path', origin.file)
  const fix = fixOf(failure)
  const stop = /^$|[.!?]$/.test(failure.fix) ? message`` : message`.`
  const { typed: _typed, typedFix: _fix, ...rest } = failure
  return {
    ...rest,
    ...sayingOf(
      message`${typedMessage(failure)}. What is not evaluated because of ${file} ${how}, so it may be anything`,
      message`${fix}${stop} To accept exactly these bytes unseen, list ${part('value', `{fingerprint: "${fingerprint}", hides: ["${hides}"]}`)} under errors in ${part('path', BASELINE_FILE)} of the fleet (\`bailiwick baseline\` writes it); a fleet admin approves that.`,
    ),
  }
}
