import { type AdmissionFinding, worldOf } from '../../admission/admission/admission-request.ts'
import { type ImageCoverage, imageCoverage } from '../../admission/image-coverage.ts'
import { IMAGE_POLICY, NAMESPACED_IMAGE_POLICY, RUNNING_KINDS, verifiesImages } from '../../admission/image-uses.ts'
import { matchesWildcard } from '../../admission/jmespath/values.ts'
import { EXCEPTION_KINDS } from '../../admission/kyverno/kyverno-settings.ts'
import { policyEngines } from '../../admission/policy-engines.ts'
import { type Message, message, part } from '../../base/message.ts'
import type { Origin } from '../../base/origin.ts'
import { hashOf } from '../../fleet/facts/fingerprint.ts'
import { type FleetIndex, namespaceLabels } from '../../fleet/facts/fleet-index.ts'
import { kindOf } from '../../fleet/facts/object-table.ts'
import { objectPart, quoted, whoOf } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { at, canonical, type Node, originAt, type Path, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { readLabelSelector, selects } from '../../kube/read-fields.ts'
import { type Rule, type RuleContext, Subject, type Violation, type Wording } from '../model/rule.ts'
import { exceptedPolicy } from '../workloads/admission-config.ts'
import {
  type Admission,
  admissionOf,
  deletedObjects,
  deletionOf,
  type FormerAdmission,
  findingPolicy,
  formerAdmissionOf,
  policyWords,
} from './admission.ts'

/** A change that removes a policy together with what it denies needs a fleet admin's approval. */
export const policyLoosened: Rule = {
  id: 'policy-loosened',
  severity: 'medium',
  level: 'warning',
  title: 'Policy that denies less than before',
  why: 'A change that removes or weakens a policy can add the object that the policy denied. Evaluated with the new policies alone, both pass.',
  source: 'https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/',
  docs: 'Objects are evaluated with the policies from before the change as well. The rule lists what these deny and the new ones do not. It also lists changed and removed policies, bindings, exceptions and parameters (`paramRef`, `configMap`) of the platform. New exceptions and labels of Namespaces by which a policy no longer selects count, too. So does a Kustomization that no longer waits (`dependsOn`) for one with policies. A change of the platform is a warning, and one required approval of a fleet admin for each such object. A tenant that changes what a policy reads, such as its parameters, makes a violation. The rule compares with the base.',
  kinds: 'every',
  *checkObject(subject, context) {
    const former = formerAdmissionOf(subject, context)
    if (!former?.findings.some(({ action }) => action === 'deny')) return
    yield* loosened(subject, former, context, admissionOf(subject, context))
  },
  *checkNode(node, context) {
    yield* deletions(node, context)
    yield* overtaken(node, context)
  },
  checkRemoved: deletions,
  *checkCluster(cluster, { index, before }) {
    const root = index.rootOf(cluster.name)
    if (!root || !before) return
    for (const { object, origin, what, value } of changedPolicies(before, index, cluster.name)) {
      const who = whoOf(object)
      yield new Subject({ node: root, object }).violation([], value, {
        origin,
        message: message`${who} ${what}. Allowed: policies as they were, or a change that a fleet admin approves. The API server accepts it.`,
        fix: message`Restore ${who}, or have a fleet admin approve the change.`,
      })
    }
  },
}

/** An object that no longer waits for policies of the platform is applied before them. */
function* overtaken(node: FleetNode, { index, before }: RuleContext): Iterable<Violation> {
  const was = before?.node(node.key)
  for (const key of was?.dependsOn ?? []) {
    const policies = index.node(key)
    if (node.dependsOn.includes(key) || !policies || policies.tenant !== undefined) continue
    const [policy] = policiesIn(index.objectsOf(key))
    if (!policy) continue
    const [who, other] = [node, policies].map(one => objectPart('Kustomization', one.namespace, one.name))
    yield Subject.ofNode(node).violation(['spec', 'dependsOn'], `dependsOn ${policies.namespace}/${policies.name}`, {
      origin: originAt(node.kustomization.root, ['spec', 'dependsOn']),
      message: message`${who!} no longer waits for ${other!}, so its objects may be applied before ${whoOf(policy)}. Allowed: policies that are there first. Flux accepts it.`,
      fix: message`Restore ${part('value', policies.name)} in spec.dependsOn, or have a fleet admin approve the change.`,
    })
  }
}

function* deletions(node: FleetNode, context: RuleContext): Iterable<Violation> {
  for (const object of deletedObjects(node, context)) {
    const subject = new Subject({ node, object })
    const former = formerAdmissionOf(subject, context, 'DELETE')
    if (!former) return
    yield* loosened(subject, former, context, deletionOf(subject, context))
  }
}

/** What only the former policies deny; an object that another policy still denies is not listed. */
function* loosened(
  subject: Subject,
  former: FormerAdmission,
  context: RuleContext,
  now: Admission | undefined,
): Iterable<Violation> {
  if (now?.findings.some(({ action }) => action === 'deny')) return
  for (const finding of former.findings) {
    if (finding.action === 'deny') yield violationOf(subject, former, finding, context)
  }
}

function violationOf(
  subject: Subject,
  former: FormerAdmission,
  finding: AdmissionFinding,
  { before }: RuleContext,
): Violation {
  const words = policyWords(before, subject, finding)
  const { policy, rule, origin } = finding
  const by = objectPart(policy.kind, policy.namespace, policy.name)
  const isTenants = former.change === 'tenant'
  const value = `${policy.kind} ${policy.namespace}/${policy.name} ${rule} ${hashOf([finding.check ?? ''])}`
  return subject.violation(finding.field, value, {
    ...(isTenants ? {} : { origin }),
    level: isTenants ? 'violation' : 'warning',
    message: message`${subject.who}: ${by} denied it before this change: ${quoted('value', words)}. No policy denies it any more. The policy was at ${part('path', `${origin.file}:${origin.line}`)}.`,
    fix: isTenants
      ? message`Restore what ${by} reads, or ask a fleet admin to change the policy.`
      : message`Restore ${by}, or have a fleet admin approve the change.`,
    policy: findingPolicy(finding, 'allow', former.isUnchanged),
  })
}

/** Images whose signatures were verified stay verified. */
export const imageUnverified: Rule = {
  id: 'image-unverified',
  severity: 'medium',
  level: 'warning',
  title: 'Image that no policy verifies any more',
  why: 'A policy with `verifyImages` keeps images without a valid signature out. One more skip pattern, label or spelling of the image lets them in, and nothing reports it.',
  source: 'https://kyverno.io/docs/policy-types/cluster-policy/verify-images/overview/',
  docs: 'Keep images within the references of the policy. The rule lists images that a policy verified before the change and none does now. It also lists new images outside of a policy that verifies others of the namespace. It is a warning. It is a violation if a tenant changes the object so that the policy no longer selects it. Kyverno compares `registry/path:tag`, or `registry/path@digest` where the image has a digest; it adds `docker.io` and `latest`, and compares the case of letters. Images of custom kinds are not evaluated. Signatures themselves are not evaluated offline.',
  kinds: 'every',
  *checkObject(subject, { index, before }) {
    if (!before || !verifiesImages(worldOf(before, subject.node.cluster))) return
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

/** The coverage, before the change, of the images that the object then ran. */
function oldCoverage({ id, kind, node }: Subject, before: FleetIndex): ReadonlyMap<string, ImageCoverage> {
  const last = before.versionsOf(node.cluster, kind, id.namespace, id.name).at(-1)
  return new Map(last ? imageCoverage(before, last).map(one => [keyOf(one), one]) : [])
}

/** An enforcing policy selects the object, and requires no signature of this image. */
const isOutside = ({ state, by }: ImageCoverage) => state === 'none' && by?.enforces === true

/** Whether a policy verified images of the namespace before the change: else it is about other images. */
function verifiesOthers({ id, node }: Subject, before: FleetIndex): boolean {
  return RUNNING_KINDS.some(kind =>
    before
      .rendered(node.cluster, kind, id.namespace)
      .some(one => imageCoverage(before, one).some(({ state }) => state === 'enforced')),
  )
}

function ofPolicy(subject: Subject, now: ImageCoverage, was: ImageCoverage): Violation {
  const policy = named(was)
  return violation(subject, now, message`${policy} ${effect(was)} before this change. Now ${outcome(now)}`, {
    ...(was.by ? { origin: was.by.origin, policy: findingPolicy(was.by, 'unverified', false) } : {}),
    fix: message`Restore ${policy}, or have a fleet admin approve the change.`,
  })
}

function ofObject(subject: Subject, now: ImageCoverage, was: ImageCoverage): Violation {
  const policy = named(was)
  const what = message`${policy} ${effect(was)} before this change. Now ${outcome(now)}`
  return violation(subject, now, what, {
    ...(subject.node.tenant === undefined ? {} : { level: 'violation' }),
    fix: message`Restore the labels, annotations, names and namespace by which ${policy} selects the object.`,
  })
}

function ofImage(subject: Subject, now: ImageCoverage): Violation {
  const policy = named(now)
  const what = message`${policy} verifies other images of the namespace, and not this one (${quoted('value', now.why)})`
  return violation(subject, now, what, {
    severity: 'low',
    fix: message`Use an image that ${policy} covers, or add its reference to the policy.`,
  })
}

function violation(subject: Subject, { use }: ImageCoverage, what: Message, more: Omit<Wording, 'message'>): Violation {
  return subject.violation(use.path, `${use.list} ${use.written ?? ''}`, {
    message: message`${subject.who}, image ${quoted('value', use.written ?? 'unknown')}: ${what}. Bailiwick evaluates whether a policy asks for a signature, not the signature.`,
    ...more,
  })
}

function named({ by }: ImageCoverage): Message {
  if (!by) return message`no policy`
  const { kind, namespace, name } = by.policy
  return message`${objectPart(kind, namespace, name)} (${part('path', `${by.origin.file}:${by.origin.line}`)})`
}

const effect = ({ state }: ImageCoverage) =>
  state === 'enforced' ? 'refused it without a valid signature' : 'reported it without a valid signature'

function outcome({ state, why }: ImageCoverage): Message {
  if (state === 'audited') return message`Kyverno only reports that, and runs it`
  if (state === 'unknown') return message`it is not known whether a policy does (${part('text', why)})`
  return message`no policy asks for its signature (${quoted('value', why)})`
}

/** An object of the platform that affects what policies deny, and that a change edits, adds or removes. */
interface ChangedPolicy {
  /** The object as it is, or as it was if removed. */
  readonly object: KubeObject
  readonly origin: Origin
  /** How it changes, as the predicate of a sentence, and what that does. */
  readonly what: Message
  readonly value: string
}

const kinds = () => [
  ...policyEngines.flatMap(engine => [...engine.kinds, ...engine.companions]),
  ...[IMAGE_POLICY, NAMESPACED_IMAGE_POLICY],
]

/** The policies, bindings and exceptions among these objects. */
const policiesIn = (objects: readonly KubeObject[]): readonly KubeObject[] => {
  const all = new Set(kinds())
  return objects.filter(object => all.has(kindOf(object)))
}

/** Any change counts: only people can tell whether less is denied for objects that are not in the fleet. */
function* changedPolicies(before: FleetIndex, index: FleetIndex, cluster: string): Iterable<ChangedPolicy> {
  const of = (from: FleetIndex, kind: string) => from.platformAnywhere(cluster, kind).map(({ object }) => object)
  const policies = kinds().flatMap(kind => of(before, kind))
  yield* changesOf(before, index, cluster, policies)
  for (const object of EXCEPTION_KINDS.flatMap(kind => of(index, kind))) {
    const { namespace, name } = idOf(object)
    const isNew = !before.platformObject(cluster, kindOf(object), namespace, name)
    if (isNew && exceptedPolicy(before, cluster, object))
      yield change(object, message`exempts objects from a policy. ${LESS}`)
  }
  const parts = policies.flatMap(({ root }) => [...partsIn(root)])
  const isRead = (object: KubeObject) => parts.some(([key, node]) => PARAMETERS.has(key) && isNamed(object, node))
  const parameterKinds = new Set(parts.map(([key, node]) => (key === 'paramKind' ? kindIn(node) : '/ConfigMap')))
  const parameters = [...parameterKinds].flatMap(kind => of(before, kind).filter(isRead))
  yield* changesOf(before, index, cluster, parameters, message`is read by a policy and `)
  const selectors = parts.filter(([key]) => key === 'namespaceSelector')
  for (const object of selectors.length > 0 ? of(index, '/Namespace') : []) {
    const { name } = idOf(object)
    const old = before.platformObject(cluster, '/Namespace', '', name)
    if (!old || old.root === object.root) continue
    const [was, is] = [before, index].map(one => namespaceLabels(one, cluster, name))
    const isLost = selectors.some(([, node, excludes]) => {
      const read = readLabelSelector(node)
      return read && selects(read, was!) !== excludes && selects(read, is!) === excludes
    })
    const labels = (at(object.root, ['metadata', 'labels']) ?? object.root).origin
    if (isLost) yield change(object, message`changes its labels, by which policies select. ${LESS}`, labels)
  }
}

const LESS = message`Less may be denied than before this change`

function* changesOf(
  before: FleetIndex,
  index: FleetIndex,
  cluster: string,
  objects: readonly KubeObject[],
  role?: Message,
): Iterable<ChangedPolicy> {
  const isParameter = role !== undefined
  for (const was of objects) {
    const { namespace, name } = idOf(was)
    const [old, is] = [before, index].map(one => one.platformObject(cluster, kindOf(was), namespace, name))
    if (!is) yield change(was, message`${role ?? message``}is removed. ${LESS}`)
    else if (is.root !== old!.root && textOf(is, isParameter) !== textOf(old!, isParameter))
      yield change(
        is,
        message`${role ?? message``}is changed. Bailiwick cannot tell whether policies deny less than before`,
        originAt(is.root, firstChange(at(old!.root, ['spec']), at(is.root, ['spec']), ['spec']) ?? []),
      )
  }
}

const change = (object: KubeObject, what: Message, origin = object.root.origin): ChangedPolicy => ({
  object,
  origin,
  what,
  value: hashOf([textOf(object)]),
})

/** Everything that affects the result; labels only select parameters. */
function textOf({ root }: KubeObject, isParameter = false): string {
  const fields = [...root.fields].filter(([key]) => !BESIDES.has(key))
  const labels = isParameter ? at(root, ['metadata', 'labels']) : undefined
  return JSON.stringify([
    labels ? canonical(labels) : '',
    ...fields.map(([key, { value }]) => [key, canonical(value)]).sort(),
  ])
}

const BESIDES = new Set(['apiVersion', 'metadata', 'status'])

/** Where two versions begin to differ. */
function firstChange(was: Node | undefined, is: Node | undefined, path: Path): Path | undefined {
  if (was && is && canonical(was) === canonical(is)) return undefined
  if (was?.type === 'map' && is?.type === 'map')
    for (const key of new Set([...is.fields.keys(), ...was.fields.keys()])) {
      const found = firstChange(at(was, [key]), at(is, [key]), [...path, key])
      if (found) return found
    }
  if (was?.type === 'list' && is?.type === 'list' && was.items.length === is.items.length)
    for (const [index, item] of is.items.entries()) {
      const found = firstChange(was.items[index], item, [...path, index])
      if (found) return found
    }
  return path
}

const PARAMETERS = new Set(['paramRef', 'configMap'])
const PARTS = new Set([...PARAMETERS, 'paramKind', 'namespaceSelector'])

/** What a policy reads and selects by: the field name, its value, and whether it excludes. */
function* partsIn(node: Node, name = '', excludes = false): Iterable<readonly [string, Node, boolean]> {
  if (PARTS.has(name)) yield [name, node, excludes]
  if (node.type === 'list') for (const item of node.items) yield* partsIn(item, '', excludes)
  if (node.type === 'map')
    for (const [key, { value }] of node.fields) yield* partsIn(value, key, excludes || key === 'exclude')
}

const kindIn = (node: Node) => `${groupOf(stringAt(node, ['apiVersion']) ?? '')}/${stringAt(node, ['kind']) ?? ''}`

/** Whether a reference may mean an object: an expression or a selector may mean any. */
function isNamed(object: KubeObject, reference: Node): boolean {
  const { namespace, name } = idOf(object)
  const fits = (key: string, text: string) =>
    matchesWildcard((stringAt(reference, [key]) || '*').replace(/\{\{.*?\}\}/g, '*'), text)
  return fits('name', name) && (namespace === '' || fits('namespace', namespace))
}
