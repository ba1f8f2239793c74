import type { FleetIndex } from '../../facts/fleet-index.ts'
import { kindOf } from '../../facts/kind-of.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { idOf } from '../../kube/object.ts'
import { type Message, message, part } from '../../message/message.ts'
import { worldOf } from '../../policy/admission/admission-world.ts'
import { type ImageCoverage, imageCoverage } from '../../policy/images/image-coverage.ts'
import { imagePolicies } from '../../policy/images/image-policies.ts'
import { RUNNING_KINDS } from '../../policy/images/image-uses.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { findingPolicy } from './support/finding-policy.ts'

/** Images whose signatures were verified stay verified. */
export const imageUnverified: Rule = {
  id: 'image-unverified',
  severity: 'medium',
  level: 'warning',
  title: 'Image that no policy verifies any more',
  why: 'A policy with `verifyImages` keeps images without a valid signature out. One more skip pattern, label or spelling of the image lets them in, and nothing reports it.',
  source: 'https://kyverno.io/docs/policy-types/cluster-policy/verify-images/overview/',
  docs: 'Keep images within the references of the policy. The rule lists images that a policy verified before the change and none does now. It also lists new images outside of a policy that verifies others of the namespace. It is a warning. It is a violation if a tenant changes the object so that the policy no longer selects it. Kyverno compares `registry/path:tag`, or `registry/path@digest` where the image has a digest; it adds `docker.io` and `latest`, and compares the case of letters. Images of custom kinds are not evaluated. Signatures themselves are not evaluated offline: `bailiwick audit` lists what is covered.',
  kinds: 'every',
  *checkObject(subject, { index, before }) {
    const { node } = subject
    if (!before || imagePolicies(worldOf(before, node.cluster)).length === 0) return
    const now = imageCoverage(index, subject)
    if (now.every(({ state }) => state === 'enforced')) return
    const former = imageCoverage(before, subject)
    const own = oldCoverage(subject, before)
    for (const [at, one] of now.entries()) {
      const asBefore = former[at]
      const old = own.get(keyOf(one))
      if (asBefore && isWeaker(one, asBefore)) yield ofPolicy(subject, one, asBefore)
      else if (old && isWeaker(one, old)) yield ofObject(subject, one, old)
      else if (!old && isOutside(one) && verifiesOthers(subject, before)) yield ofImage(subject, one)
    }
  },
}

const RANK: Readonly<Record<ImageCoverage['state'], number>> = { enforced: 0, audited: 1, unknown: 2, none: 3 }

const isWeaker = (now: ImageCoverage, was: ImageCoverage) =>
  (was.state === 'enforced' || was.state === 'audited') && RANK[now.state] > RANK[was.state]

const keyOf = ({ use }: ImageCoverage) => `${use.list} ${use.written ?? ''}`

/** The coverage before the change of the images that the object ran then. */
function oldCoverage({ id, kind, node }: Subject, before: FleetIndex): ReadonlyMap<string, ImageCoverage> {
  const last = before.versionsOf(node.cluster, kind, id.namespace, id.name).at(-1)
  if (!last) return new Map()
  const { object } = last
  const found = imageCoverage(before, { object, id: idOf(object), kind: kindOf(object), node: last.node })
  return new Map(found.map(one => [keyOf(one), one]))
}

/** A policy that enforces selects the object, and does not ask for a signature of this image. */
const isOutside = ({ state, by }: ImageCoverage) => state === 'none' && by?.enforces === true

/** Whether a policy verified images of the namespace before the change: else it is about other images. */
function verifiesOthers({ id, node }: Subject, before: FleetIndex): boolean {
  return RUNNING_KINDS.some(kind =>
    before
      .rendered(node.cluster, kind, id.namespace)
      .some(({ object, node: by }) =>
        imageCoverage(before, { object, id: idOf(object), kind, node: by }).some(({ state }) => state === 'enforced'),
      ),
  )
}

function ofPolicy(subject: Subject, now: ImageCoverage, was: ImageCoverage): Violation {
  const policy = named(was)
  return {
    ...violation(subject, now, message`${policy} ${effect(was)} before this change; now ${outcome(now)}`),
    ...(was.by ? { origin: was.by.origin, policy: findingPolicy(was.by, 'unverified', false) } : {}),
    fix: message`Restore ${policy}, or have a fleet admin approve the change.`,
  }
}

function ofObject(subject: Subject, now: ImageCoverage, was: ImageCoverage): Violation {
  const policy = named(was)
  return {
    ...violation(subject, now, message`${policy} ${effect(was)} before this change of the object; now ${outcome(now)}`),
    ...(subject.node.tenant === undefined ? {} : { level: 'violation' as const }),
    fix: message`Restore the labels, annotations, names and namespace by which ${policy} selects the object.`,
  }
}

function ofImage(subject: Subject, now: ImageCoverage): Violation {
  const policy = named(now)
  return {
    ...violation(
      subject,
      now,
      message`${policy} verifies other images of the namespace, and not this one (${quoted('value', now.why)})`,
    ),
    severity: 'low',
    fix: message`Use an image that ${policy} covers, or add its reference to the policy.`,
  }
}

type Unfixed = Omit<Violation, 'fix'>

function violation({ object, id, node }: Subject, { use }: ImageCoverage, what: Message): Unfixed {
  return {
    node,
    object,
    path: use.path,
    value: `${use.list} ${use.written ?? ''}`,
    message: message`${objectPart(id.kind, id.namespace, id.name)}: image ${quoted('value', use.written ?? 'unknown')}: ${what}. Bailiwick evaluates whether a policy asks for a signature, not the signature.`,
  }
}

function named({ by }: ImageCoverage): Message {
  if (!by) return message`no policy`
  const { kind, namespace, name } = by.policy
  return message`${objectPart(kind, namespace, name)} (${part('path', `${by.origin.file}:${by.origin.line}`)})`
}

const effect = ({
  state,
}: ImageCoverage): 'refused it without a valid signature' | 'reported it without a valid signature' =>
  state === 'enforced' ? 'refused it without a valid signature' : 'reported it without a valid signature'

function outcome({ state, why }: ImageCoverage): Message {
  if (state === 'audited') return message`Kyverno only reports that, and runs it`
  if (state === 'unknown') return message`it is not known whether a policy does (${quoted('value', why)})`
  return message`no policy asks for its signature (${quoted('value', why)})`
}
