import { BailiwickError } from '../../errors.ts'
import type { FleetIndex } from '../../facts/fleet-index.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { applierKinds } from '../../fleet/model/appliers.ts'
import { isBlank, readServiceAccount } from '../../fleet/model/read-spec.ts'
import { ACCOUNT_FIELD, KUSTOMIZATION } from '../../flux/kinds.ts'
import { references } from '../../flux/references.ts'
import { isNamespaceName } from '../../kube/names.ts'
import { at, type Path, stringAt } from '../../kube/node.ts'
import { misspelled } from '../../kube/scope/scope.ts'
import { type Message, message, part } from '../../message/message.ts'
import { asMessage } from '../../message/said.ts'
import { checkObject } from '../../schema/check-object.ts'
import { lastServed } from '../../schema/last-served.ts'
import type { Rule, Violation } from '../model/rule.ts'

const NAMESPACE = ['metadata', 'namespace']
/** A Kustomization's account is read when its node is opened; releases, sets and the like have no node of their own. */
const WITH_ACCOUNT = applierKinds.filter(kind => kind !== KUSTOMIZATION)

/** An object of a tenant whose identity is not clear cannot be evaluated. */
export const invalidObject: Rule = {
  id: 'invalid-object',
  severity: 'high',
  level: 'error',
  title: 'Object without a valid identity',
  why: 'Programs that compare, render and apply objects disagree about an object without a kind, a name or a plain-text namespace. Its effect on the cluster is unknown.',
  docs: 'Set `apiVersion`, `kind`, `metadata.name` and `metadata.namespace` to plain text that Kubernetes accepts. A kind or group that differs from a known one only in case is a violation.',
  kinds: 'every',
  *checkTenantObject(subject, { index }) {
    yield* evaluateFleet(subject, index)
    yield* spelling(subject, index)
  },
}

function* evaluateFleet({ object, id, kind: fullKind, node }: Subject, index: FleetIndex): Iterable<Violation> {
  const who = objectPart(id.kind, id.namespace, id.name)
  const invalid = (path: Path, problem: string | Message, fix: string | Message): Violation => ({
    node,
    object,
    path,
    value: path.join('.'),
    isMalformed: true,
    message: asMessage(problem),
    fix: asMessage(fix),
  })
  const identity: Path[] = [['apiVersion'], ['kind'], ['metadata', 'name']]
  for (const path of identity) {
    if (stringAt(object.root, path)) continue
    const field = path.join('.')
    yield invalid(
      path,
      message`an object has no ${part('field', field)}, so it cannot be evaluated`,
      message`Set ${part('field', field)} to a string.`,
    )
    return
  }
  const text = stringAt(object.root, NAMESPACE)
  const isNamespaced = index.scopeOf(node.cluster, id.apiVersion, id.kind) === 'Namespaced'
  const written = (isNamespaced && object.nullNamespace) || at(object.root, NAMESPACE)
  if (written && text !== '' && (text === undefined || !isNamespaceName(text))) {
    const problem = message`${who}: metadata.namespace is not a valid name in Kubernetes`
    const fix = message`Set metadata.namespace to the name of a namespace of the tenant.`
    yield { ...invalid(NAMESPACE, problem, fix), origin: written.origin }
  }
  for (const reference of references(object)) {
    if (reference.namespace !== null) continue
    const problem = message`${who} refers to a namespace that is not text`
    yield invalid(reference.path, problem, message`Remove \`namespace\` from the reference.`)
  }
  if (WITH_ACCOUNT.includes(fullKind) && !hasReadableAccount(object)) {
    const problem = message`${who}: spec.serviceAccountName is not a valid name in Kubernetes`
    yield invalid(ACCOUNT_FIELD, problem, message`Set spec.serviceAccountName to the name of a service account.`)
  }
}

function hasReadableAccount(object: Subject['object']): boolean {
  if (isBlank(at(object.root, ACCOUNT_FIELD))) return true
  try {
    return readServiceAccount(object) !== undefined
  } catch (error) {
    if (error instanceof BailiwickError) return false
    throw error
  }
}

/** Some tools and even parts of Flux compare kinds without case, the API server never does. */
function* spelling({ object, id, node }: Subject, index: FleetIndex): Iterable<Violation> {
  if (index.scopeOf(node.cluster, id.apiVersion, id.kind) !== undefined) return
  const meant = misspelled(id.apiVersion, id.kind)
  if (meant === undefined) return
  const [served] = meant === '' ? (checkObject(object.root).problems[0]?.names ?? []) : [meant]
  const last = lastServed(id.apiVersion, id.kind)
  const until =
    last === undefined ? message`` : message` Version ${part('value', `1.${last}`)} was the last to serve it.`
  yield {
    node,
    object,
    path: [meant === '' ? 'apiVersion' : 'kind'],
    value: `${id.apiVersion} ${id.kind}`,
    isMalformed: true,
    level: 'violation',
    message: message`${objectPart(id.kind, id.namespace, id.name)} is not of a kind that Kubernetes serves: ${quoted('object', id.kind)} of ${quoted('object', id.apiVersion)}.${meant === '' ? message` No supported Kubernetes version serves that group.${until}` : ''}${served === undefined ? '' : message` Allowed: ${part('value', served)}.`} API server: no matches for kind.`,
    fix:
      meant !== ''
        ? message`Set apiVersion and kind to ${part('value', meant)}.`
        : served === undefined
          ? message`Set apiVersion to the group that serves the kind now.`
          : message`Set apiVersion to ${part('value', served)}.`,
  }
}
