import type { FleetIndex } from '../../facts/fleet-index.ts'
import { kindOfId } from '../../facts/kind-of.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { needsOf } from '../../fleet/graph/node-values.ts'
import { valueId } from '../../fleet/graph/value-index.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import type { FleetConfig } from '../../fleet/model/fleet-config.ts'
import { capabilityOf, fieldsNaming } from '../../kube/capabilities/index.ts'
import { placesOf } from '../../kube/capabilities/places-of.ts'
import { originAt, type Path } from '../../kube/node.ts'
import { groupOf, idOf } from '../../kube/object.ts'
import { KUBERNETES } from '../../kube/scope/kubernetes-scopes.ts'
import { codeWord, message, part } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { isIdentity, isSecurity } from './support/guarded-place.ts'
import { isUnsubstituted } from './support/is-unsubstituted.ts'
import { scanObject } from './support/scan-object.ts'
import { isTenantControlled, type Refused, refusedValues } from './support/unknown-value.ts'

/** No variable decides about what a tenant's object is, or how safe it is. The renderer raises it for what only the cluster knows. */
export const unrenderedVariable: Rule = {
  id: 'unrendered-variable',
  severity: 'critical',
  title: 'Variable in a security field',
  why: `A kind, namespace, account or security setting with a variable changes when Flux substitutes it: \`privileged: \${P:=true}\` becomes true only then. The default of a variable applies only while the variable is not set. A value that only the cluster has is unknown to reviewers: anyone who can write its ConfigMap or Secret controls it.`,
  source: 'Flux, Kustomization spec.postBuild',
  docs: "Write the value itself. For values that differ between clusters, use a kustomize overlay or a variable that the fleet sets for every cluster. An unknown value that a tenant controls is allowed in data of ConfigMaps and Secrets that no rule interprets, environment values, arguments, annotations such as `checksum/*`, chart values without a rule, and `postBuild.substitute`, where Bailiwick follows it. Elsewhere it is an evaluation error. Every object in a tenant's namespace counts as tenant-controlled, present or not, unless .github/bailiwick.yaml declares the object and key. Elsewhere, an object counts as tenant-controlled where the rendered RBAC lets a tenant's account write it. A platform value may be part of a tenant's host only where it is declared.",
  kinds: 'every',
  *checkTenantObject(subject, { index }) {
    yield* literal(subject)
    const refused = refusedValues(subject, index)
    const places = new Set(refused.map(({ path }) => JSON.stringify(path)))
    const elsewhere = (path: Path) => !places.has(JSON.stringify(path))
    for (const one of refused) if (!isReportedByChild(subject, one, index)) yield refusal(subject, one)
    for (const one of substituted(subject)) if (one.level !== 'warning' || elsewhere(one.path)) yield one
    for (const one of undecided(subject)) if (elsewhere(one.path)) yield one
  },
  *checkNode(node, { index, config }) {
    if (node.tenant !== undefined) return
    yield* absent(node, index, config)
    const mayHold = needsOf(node.kustomization).length > 0 || scanObject(node.kustomization.root).opaque.length > 0
    for (const object of mayHold ? index.objectsOf(node.key) : []) {
      const id = idOf(object)
      const subject = { object, id, kind: kindOfId(id), node }
      for (const one of refusedValues(subject, index)) yield refusal(subject, one)
    }
  },
}

/** A Kustomization of which nothing is rendered says so itself. */
function isReportedByChild({ object, node }: Subject, { path }: Refused, index: FleetIndex): boolean {
  const error = index.nodeOf(node.cluster, object)?.error
  if (error?.code !== 'unrendered-variable') return false
  const { line, column } = originAt(object.root, path)
  return error.origin?.line === line && error.origin.column === column
}

/** An unknown value where it may not stand. */
function refusal({ object, id, node }: Subject, { path, reason, held }: Refused): Violation {
  const field = message`${quoted('field', path.join('.'))} of ${objectPart(id.kind, id.namespace, id.name)}`
  const what = message`${field} takes an unknown value, one that only the cluster has, controlled by ${held}.`
  const violation = { node, object, path, level: 'error', value: path.join('.') } as const
  if (reason === 'host') {
    const text = message`${what} Allowed in hosts: values in git, and keys that ${codeWord('.github/bailiwick.yaml')} declares.`
    return {
      ...violation,
      message: text,
      fix: message`Write the host in git, or declare the object and key in ${codeWord('.github/bailiwick.yaml')}.`,
    }
  }
  const allowed =
    node.tenant === undefined
      ? "Allowed in the platform's objects: values in git, and values that no account of a tenant can write."
      : 'Allowed: unknown values in data of ConfigMaps and Secrets, environment values, arguments, checksum annotations and chart values without a rule.'
  return {
    ...violation,
    message: message`${what} ${allowed}`,
    fix: message`Write the value in git, or ask a fleet admin to declare the object and key in ${codeWord('.github/bailiwick.yaml')}.`,
  }
}

/** Optional values of the platform that do not exist, and that a tenant can bring into being. */
function* absent(node: FleetNode, index: FleetIndex, { substituteFrom }: FleetConfig): Generator<Violation> {
  const declared = new Set(substituteFrom.map(one => valueId(one.kind, one.namespace, one.name)))
  for (const { id, optional, origin, kind, name } of needsOf(node.kustomization)) {
    const { cluster, namespace } = node
    if (!optional || declared.has(id) || index.versionsOf(cluster, `/${kind}`, namespace, name).length > 0) continue
    if (!isTenantControlled(index, cluster, { kind, namespace, name, key: '' })) continue
    yield {
      node,
      object: node.kustomization,
      path: ['spec', 'postBuild', 'substituteFrom'],
      origin,
      level: 'error',
      value: id,
      message: message`${objectPart('Kustomization', namespace, node.name)} substitutes from the optional ${part('value', kind)} ${quoted('object', name)}, which the fleet does not render. An account of a tenant can create it, so its values are unknown. Allowed: objects that the fleet renders or declares, and those that no tenant can write.`,
      fix: message`Render the object, remove it from substituteFrom, or remove the tenant's right to write it.`,
    }
  }
}

const isGuarded = (subject: Subject, path: readonly (string | number)[]) =>
  isIdentity(groupOf(subject.id.apiVersion), path) || isSecurity(path)

function* literal(subject: Subject): Generator<Violation> {
  const { object, id, node } = subject
  if (isUnsubstituted(object)) return
  for (const { path, text } of scanObject(object.root).templated) {
    if (!isGuarded(subject, path)) continue
    const field = path.join('.')
    yield {
      node,
      object,
      path,
      value: text,
      message: message`${objectPart(id.kind, id.namespace, id.name)} has the variable ${quoted('value', text)} as ${quoted('field', field)}, which is not substituted here, so its value is unknown. Allowed: a value in git. The API server rejects the variable itself.`,
      fix: message`Replace the variable in ${quoted('field', field)} with its value.`,
    }
  }
}

function* substituted(subject: Subject): Generator<Violation> {
  const { object, id, node } = subject
  const who = objectPart(id.kind, id.namespace, id.name)
  for (const { path, how } of object.made ?? []) {
    const isDefault = how === 'default' && isGuarded(subject, path)
    if (!isDefault && (how !== 'unknown' || isGuarded(subject, path))) continue
    const field = quoted('field', path.join('.'))
    const value = `${how} ${path.join('.')}`
    yield isDefault
      ? {
          node,
          object,
          path,
          value,
          message: message`${field} of ${who} takes the default of a variable that is not set: anyone who can set the variable controls the value. Allowed: a value in git, or a variable that the fleet sets.`,
          fix: message`Replace the variable with its value, or set the variable in the fleet.`,
        }
      : {
          node,
          object,
          path,
          value,
          level: 'warning',
          message: message`${field} of ${who} takes an unknown value, one that only the cluster has. Allowed: values in git.`,
          fix: DECLARE,
        }
  }
}

const DECLARE = message`Render the ConfigMap or Secret in the fleet, or declare it in ${codeWord('.github/bailiwick.yaml')}.`

/** Words for places and accounts in objects of unknown kinds. */
const PLACES = new Set('namespace targetNamespace serviceAccountName serviceAccount url endpoint'.split(' '))

/** Whether a field says where an object leads to: by the table of its kind, by its name where no table knows the kind. */
function leadsElsewhere({ kind, object, id }: Subject, path: Path): boolean {
  const group = groupOf(id.apiVersion)
  // of these the renderer knows the fields
  if (Object.hasOwn(KUBERNETES, group) || /(?:^|\.)fluxcd\.(?:io|controlplane\.io)$/.test(group)) return false
  if (capabilityOf(kind) === undefined) return path.some(step => typeof step === 'string' && PLACES.has(step))
  const named = fieldsNaming(kind, 'namespace', 'identity', 'url').flatMap(({ at }) => placesOf(object.root, at))
  return named.some(field => field.every((step, index) => step === path[index]))
}

/** Elsewhere such a value may stand, declared or not; of an identity the renderer refuses it. */
function* undecided(subject: Subject): Generator<Violation> {
  const { object, id, node } = subject
  for (const { path } of scanObject(object.root).opaque) {
    if (!isGuarded(subject, path) && !leadsElsewhere(subject, path)) continue
    yield {
      node,
      object,
      path,
      level: 'error',
      value: path.join('.'),
      message: message`${quoted('field', path.join('.'))} of ${objectPart(id.kind, id.namespace, id.name)} is a security setting with an unknown value, one that only the cluster has. Allowed: a value in git.`,
      fix: message`Replace the variable with its value.`,
    }
  }
}
