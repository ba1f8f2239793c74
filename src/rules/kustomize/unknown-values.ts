import { codeWord, type Message, message, part } from '../../base/message.ts'
import { oncePerName } from '../../base/once-per.ts'
import type { Origin } from '../../base/origin.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { mayWrite } from '../../fleet/facts/rights-index.ts'
import { objectPart, quoted } from '../../fleet/facts/shown.ts'
import { needsOf, valueId } from '../../fleet/graph/node-values.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import type { FleetConfig } from '../../fleet/model/fleet-config.ts'
import { placesOf } from '../../kube/capabilities/capability.ts'
import { capabilityOf, fieldsNaming } from '../../kube/capabilities/index.ts'
import { KUBERNETES } from '../../kube/capabilities/scope.ts'
import { HELM_RELEASE, KUSTOMIZATION } from '../../kube/flux-kinds.ts'
import { at, type Node, originAt, type Path, type ScalarNode, stringAt, type ValueHolder } from '../../kube/node.ts'
import { annotationsOf, groupOf, POD_SPEC_PATHS } from '../../kube/object.ts'
import { isDecrypted } from '../../kube/sops.ts'
import { readableDocuments } from '../../kube/yaml/parse-documents.ts'
import { everyPath } from '../model/object-values.ts'
import { type Rule, Subject, type Violation } from '../model/rule.ts'
import { isRuledValue } from '../workloads/helm-values.ts'
import { hostPaths } from '../workloads/routes.ts'
import { isIdentity, isSecurity, isUnsubstituted, scanObject } from './object-scan.ts'

/** Variables do not decide what a tenant's object is, or how safe it is. The renderer raises it for unknown values. */
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
      const subject = new Subject({ node, object })
      for (const one of refusedValues(subject, index)) yield refusal(subject, one)
    }
  },
}

/** A Kustomization of which nothing is rendered reports it itself. */
function isReportedByChild({ object, node }: Subject, { path }: Refused, index: FleetIndex): boolean {
  const error = index.nodeOf(node.cluster, object)?.error
  if (error?.code !== 'unrendered-variable') return false
  const { line, column } = originAt(object.root, path)
  return error.origin?.line === line && error.origin.column === column
}

/** The finding for an unknown value in a place that does not allow it. */
function refusal(subject: Subject, { path, reason, held }: Refused): Violation {
  const field = message`${quoted('field', path.join('.'))} of ${subject.who}`
  const what = message`${field} takes a value that only the cluster has. It is controlled by ${held}.`
  if (reason === 'host') {
    return subject.violation(path, path.join('.'), {
      level: 'error',
      message: message`${what} Allowed in hosts: values in git, and keys that ${codeWord('.github/bailiwick.yaml')} declares.`,
      fix: message`Write the host in git, or declare the object and key in ${codeWord('.github/bailiwick.yaml')}.`,
    })
  }
  const allowed =
    subject.node.tenant === undefined
      ? "Allowed in the platform's objects: values in git, and values that no account of a tenant can write."
      : 'Allowed: unknown values in data of ConfigMaps and Secrets, environment values, arguments, checksum annotations and chart values without a rule.'
  return subject.violation(path, path.join('.'), {
    level: 'error',
    message: message`${what} ${allowed}`,
    fix: message`Write the value in git, or ask a fleet admin to declare the object and key in ${codeWord('.github/bailiwick.yaml')}.`,
  })
}

/** Optional values of the platform that do not exist, and that a tenant can create. */
function* absent(node: FleetNode, index: FleetIndex, { substituteFrom }: FleetConfig): Generator<Violation> {
  const declared = new Set(substituteFrom.map(one => valueId(one.kind, one.namespace, one.name)))
  for (const { id, optional, origin, kind, name } of needsOf(node.kustomization)) {
    const { cluster, namespace } = node
    if (!optional || declared.has(id) || index.versionsOf(cluster, `/${kind}`, namespace, name).length > 0) continue
    if (!isTenantControlled(index, cluster, { kind, namespace, name, key: '' })) continue
    yield Subject.ofNode(node).violation(['spec', 'postBuild', 'substituteFrom'], id, {
      origin,
      level: 'error',
      message: message`${objectPart('Kustomization', namespace, node.name)} substitutes from the optional ${part('value', kind)} ${quoted('object', name)}, which the fleet does not render. An account of a tenant can create it, so its values are unknown. Allowed: objects that the fleet renders or declares, and those that no tenant can write.`,
      fix: message`Render the object, remove it from substituteFrom, or remove the tenant's right to write it.`,
    })
  }
}

const isGuarded = (subject: Subject, path: readonly (string | number)[]) =>
  isIdentity(groupOf(subject.id.apiVersion), path) || isSecurity(path)

function* literal(subject: Subject): Generator<Violation> {
  if (isUnsubstituted(subject.object)) return
  for (const { path, text } of scanObject(subject.object.root).templated) {
    if (!isGuarded(subject, path)) continue
    const field = path.join('.')
    yield subject.violation(path, text, {
      message: message`${subject.who} has the variable ${quoted('value', text)} as ${quoted('field', field)}, which is not substituted here, so its value is unknown. Allowed: a value in git. The API server rejects the variable itself.`,
      fix: message`Replace the variable in ${quoted('field', field)} with its value.`,
    })
  }
}

function* substituted(subject: Subject): Generator<Violation> {
  const { object, who } = subject
  for (const { path, how } of object.made ?? []) {
    const isDefault = how === 'default' && isGuarded(subject, path)
    if (!isDefault && (how !== 'unknown' || isGuarded(subject, path))) continue
    const field = quoted('field', path.join('.'))
    const value = `${how} ${path.join('.')}`
    yield isDefault
      ? subject.violation(path, value, {
          message: message`${field} of ${who} takes the default of a variable that is not set. Anyone who can set the variable controls the value. Allowed: a value in git, or a variable that the fleet sets.`,
          fix: message`Replace the variable with its value, or set the variable in the fleet.`,
        })
      : subject.violation(path, value, {
          level: 'warning',
          message: message`${field} of ${who} takes a value that only the cluster has. Allowed: values in git.`,
          fix: DECLARE,
        })
  }
}

const DECLARE = message`Render the ConfigMap or Secret in the fleet, or declare it in ${codeWord('.github/bailiwick.yaml')}.`

/** Words for places and accounts in objects of unknown kinds. */
const PLACES = new Set('namespace targetNamespace serviceAccountName serviceAccount url endpoint'.split(' '))

/** Whether a field decides where an object leads: by the table of its kind, or by its name for kinds without one. */
function leadsElsewhere({ kind, object, id }: Subject, path: Path): boolean {
  const group = groupOf(id.apiVersion)
  // the renderer knows the fields of these
  if (Object.hasOwn(KUBERNETES, group) || /(?:^|\.)fluxcd\.(?:io|controlplane\.io)$/.test(group)) return false
  if (capabilityOf(kind) === undefined) return path.some(step => typeof step === 'string' && PLACES.has(step))
  const named = fieldsNaming(kind, 'namespace', 'identity', 'url').flatMap(({ at }) => placesOf(object.root, at))
  return named.some(field => field.every((step, index) => step === path[index]))
}

/** An unknown value is allowed in other places, declared or not; the renderer refuses it in an identity. */
function* undecided(subject: Subject): Generator<Violation> {
  for (const { path } of scanObject(subject.object.root).opaque) {
    if (!isGuarded(subject, path) && !leadsElsewhere(subject, path)) continue
    yield subject.violation(path, path.join('.'), {
      level: 'error',
      message: message`${quoted('field', path.join('.'))} of ${subject.who} is a security setting with an unknown value, one that only the cluster has. Allowed: a value in git.`,
      fix: message`Replace the variable with its value.`,
    })
  }
}

/** Why an unknown value may not stand where it does. */
interface Refused extends UnknownValue {
  readonly reason: 'tenant' | 'host'
  /** The value's owner, for messages. */
  readonly held: Message
}

/**
 * The unknown values of an object in places that do not allow them: a tenant's anywhere but in a place known to be
 * inert, the platform's in a tenant's host that the fleet's file does not declare. For what the platform applies no
 * place is inert: Flux substitutes in the text of an object, so a hostile value can end its field and write others (a
 * carriage return is kept), which only the account's rights then limit.
 */
function refusedValues(subject: Subject, index: FleetIndex): Refused[] {
  const { object, node } = subject
  const { opaque, encrypted } = scanObject(object.root)
  const written = isDecrypted(object) ? encrypted.filter(([first]) => first !== 'sops') : []
  const own: UnknownValue[] = [...opaque, ...written.map(path => ({ path, holders: [] }))]
  const read = new Set(node.tenant === undefined ? [] : valuesFromConfig(subject, index))
  const isHost = own.length > 0 && node.tenant !== undefined ? hostTest(subject) : () => false
  return [...own, ...read].flatMap((value): Refused[] => {
    const holder = hostileHolder(value, subject, index)
    if (holder) {
      const isAllowed = !read.has(value) && mayStand(value.path, subject, index)
      return isAllowed ? [] : [{ ...value, reason: 'tenant', held: heldBy(holder, subject, index) }]
    }
    const isDeclared = value.holders.every(({ declared }) => declared !== undefined)
    return isDeclared || !isHost(value.path) ? [] : [{ ...value, reason: 'host', held: message`the platform` }]
  })
}

/** Whether a tenant's value is allowed at a path: in what a tenant applies, where nothing reads it. */
function mayStand(path: Path, { kind, node, id }: Subject, index: FleetIndex): boolean {
  if (node.tenant === undefined || !isInert(kind, path)) return false
  const isData = kind === '/Secret' || kind === '/ConfigMap'
  return !isData || index.kubeConfigUse(node.cluster, id.namespace, id.kind, id.name) === undefined
}

/** Whether a path is where an object names hosts, for kinds in the table. */
function hostTest({ kind, object }: Subject): (path: Path) => boolean {
  const named = fieldsNaming(kind, 'host').flatMap(({ at }) => placesOf(object.root, at))
  const hosts = new Set([...hostPaths(kind, object), ...named].map(path => JSON.stringify(path)))
  return path => path.some((_, index) => hosts.has(JSON.stringify(path.slice(0, index + 1))))
}

/** The tenant's holder of a value, if any; 'written': the tenant encrypted it in the object itself. */
function hostileHolder(
  { holders }: UnknownValue,
  { node }: Subject,
  index: FleetIndex,
): ValueHolder | 'written' | undefined {
  if (holders.length === 0) return node.tenant === undefined ? undefined : 'written'
  return holders.find(holder => isTenantControlled(index, node.cluster, holder))
}

/**
 * Whether a tenant decides what an object of the cluster holds, because it can write it. In a tenant's namespace that
 * is the tenant, unless the fleet's file declares object and key; elsewhere rendered RBAC decides.
 */
function isTenantControlled(index: FleetIndex, cluster: string, holder: ValueHolder): boolean {
  const { kind, namespace, name, declared } = holder
  if (declared === 'key') return false
  if (index.ownerOf(cluster, namespace) !== undefined) return true
  return kind !== 'Kustomization' && mayWrite(index.tenantRights(cluster, namespace), kind, name)
}

/** Names only what the node's tenant may see anyway. */
function heldBy(holder: ValueHolder | 'written', { node }: Subject, index: FleetIndex): Message {
  if (holder === 'written') return message`the tenant, who encrypted it there`
  const { kind, namespace, name, key } = holder
  const owner = index.ownerOf(node.cluster, namespace)
  if (node.tenant !== undefined && owner !== node.tenant)
    return message`${owner === undefined ? 'other tenants' : 'another tenant'}`
  const who = owner === undefined ? message`accounts of tenants` : message`the tenant ${quoted('tenant', owner)}`
  return message`${who} (key ${quoted('value', key)} of ${part('value', kind)} ${quoted('object', `${namespace}/${name}`)})`
}

/** A value of an object that only the cluster has. */
interface UnknownValue {
  readonly path: Path
  /** Where it is written, if that is not the field. */
  readonly origin?: Origin
  /** Where its values are; empty for one that SOPS encrypted in the object itself. */
  readonly holders: readonly ValueHolder[]
}

/**
 * Unknown values that a HelmRelease reads from rendered ConfigMaps and Secrets (`spec.valuesFrom`) and that are more
 * than a plain chart value without a rule: their data is inert only while nothing interprets it.
 */
function valuesFromConfig({ object, kind, id, node }: Subject, index: FleetIndex): UnknownValue[] {
  if (kind !== HELM_RELEASE) return []
  return everyPath(object.root, ['spec', 'valuesFrom', '*']).flatMap(path => {
    const from = at(object.root, path)
    const source = stringAt(from, ['kind'])
    if (source !== 'ConfigMap' && source !== 'Secret') return []
    const key = stringAt(from, ['valuesKey']) || 'values.yaml'
    const target = stringAt(from, ['targetPath'])
    const versions = index.versionsOf(node.cluster, `/${source}`, id.namespace, stringAt(from, ['name']) ?? '')
    return versions.flatMap(({ object: holder }): UnknownValue[] => {
      const data = at(holder.root, ['data', key])
      if (data?.type !== 'scalar' || !data.opaque) return []
      const isPlain = target
        ? !isRuledValue(stepsOf(target))
        : isPlainText(data, source === 'Secret' ? 'base64' : 'utf8')
      return isPlain ? [] : [{ path, holders: data.opaque }]
    })
  })
}

/** Many releases may read the same values. */
const answers = oncePerName<ScalarNode, boolean>()

/** Whether the variables in a text of values are plain values without a rule. */
const isPlainText = (data: ScalarNode, encoding: 'base64' | 'utf8') =>
  answers(data, encoding, () =>
    parsed(Buffer.from(String(data.value), encoding)).every(root => root?.type === 'map' && isPlainBelow(root, [])),
  )

/** The documents of values; a single undefined if they are not YAML. */
function parsed(bytes: Uint8Array): readonly (Node | undefined)[] {
  return readableDocuments({ repository: '', path: 'values' }, bytes) ?? [undefined]
}

/** Whether every variable below is a plain value without a rule, and no key. */
function isPlainBelow(node: Node, path: Path): boolean {
  if (node.type === 'list') return node.items.every((item, index) => isPlainBelow(item, [...path, index]))
  if (node.type === 'map') {
    return [...node.fields].every(([key, { value }]) => !key.includes('${') && isPlainBelow(value, [...path, key]))
  }
  return typeof node.value !== 'string' || !node.value.includes('${') || !isRuledValue(path)
}

/** The steps of a path as Helm's --set reads it. */
function stepsOf(targetPath: string): Path {
  return targetPath.split(/[.[\]]+/).flatMap(step => (step === '' ? [] : [/^\d+$/.test(step) ? Number(step) : step]))
}

/** Fields in which a value decides nothing: steps from the root; `*` is any key or place in a list. */
const INERT: ReadonlyMap<string, readonly Path[]> = new Map<string, readonly Path[]>([
  [
    '/ConfigMap',
    [
      ['data', '*'],
      ['binaryData', '*'],
    ],
  ],
  [
    '/Secret',
    [
      ['data', '*'],
      ['stringData', '*'],
    ],
  ],
  // its effect is evaluated in the objects of the Kustomization
  [KUSTOMIZATION, [['spec', 'postBuild', 'substitute', '*']]],
  ...[...POD_SPEC_PATHS].map(([kind, pod]): [string, Path[]] => [kind, inContainers(pod)]),
])

/** Annotations that are notes for people, or change only to replace pods. */
const NOTES =
  /^(?:checksum\/[\w.-]+|kubectl\.kubernetes\.io\/restartedAt|kubernetes\.io\/(?:change-cause|description)|description|rollme|a8r\.io\/[\w.-]+)$/

/**
 * Whether a field is known to be inert, so that a tenant's unknown value is allowed there. A list of kinds and fields:
 * anything else is not inert. Arguments can be, commands cannot: they decide what runs.
 */
export function isInert(kind: string, path: Path): boolean {
  if (isNote(kind, path)) return true
  if (kind === HELM_RELEASE) {
    return path.length > 2 && path[0] === 'spec' && path[1] === 'values' && !isRuledValue(path.slice(2))
  }
  return (INERT.get(kind) ?? []).some(pattern => fits(pattern, path))
}

function isNote(kind: string, path: Path): boolean {
  const pod = POD_SPEC_PATHS.get(kind)
  const places: readonly Path[] = [['metadata', 'annotations'], ...(pod && pod.length > 1 ? [annotationsOf(pod)] : [])]
  return NOTES.test(String(path.at(-1))) && places.some(place => fits([...place, '*'], path))
}

function inContainers(pod: Path): Path[] {
  return ['containers', 'initContainers'].flatMap(list => [
    [...pod, list, '*', 'env', '*', 'value'],
    [...pod, list, '*', 'args', '*'],
  ])
}

const fits = (pattern: Path, path: Path): boolean =>
  pattern.length === path.length && pattern.every((step, index) => step === '*' || step === path[index])
