import type { FleetIndex } from '../../facts/fleet-index.ts'
import { identityPart, objectPart, quoted } from '../../facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { at, type Node, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { message } from '../../message/message.ts'
import { forbiddenKey } from '../capsule/support/capsule-list.ts'
import { tenantsOwnedBy, webhookVersion } from '../capsule/support/capsule-tenants.ts'
import { serverWords } from '../model/api-refusal.ts'
import type { FindingLevel, Rule, RuleContext, Violation } from '../model/rule.ts'
import { isProtected, POD_SECURITY } from './support/protected-metadata.ts'

const OPTIONS: ReadonlyMap<string, string> = new Map([
  ['labels', 'forbiddenLabels'],
  ['annotations', 'forbiddenAnnotations'],
])

/** Capsule's refusal of a label or annotation of a Namespace, where a Tenant that a node's identity owns forbids it. */
function deniedByCapsule(index: FleetIndex, node: FleetNode, part: string, key: string): string | undefined {
  const option = OPTIONS.get(part)
  if (option === undefined) return undefined
  const version = webhookVersion(index, node.cluster)
  for (const tenant of tenantsOwnedBy(index, node.cluster, node.identity)) {
    const found = forbiddenKey(at(tenant.root, ['spec', 'namespaceOptions', option]), [key], version)
    if (found) return `namespace ${part} validation failed: ${found.words}`
  }
  return undefined
}

const LEVELS = ['privileged', 'baseline', 'restricted']
const ENFORCE = `${POD_SECURITY}enforce`
const ENFORCED = ['metadata', 'labels', ENFORCE]

/** What admission, scheduling and networks read from a Namespace is not for its tenant to write. */
export const namespaceProtectedMetadata: Rule = {
  id: 'namespace-protected-metadata',
  severity: 'critical',
  title: 'Protected label or annotation on a Namespace',
  why: 'Pod Security, node selectors, security context constraints, policy engines, meshes and cloud identities read labels and annotations of the Namespace. A namespace admin or an owner of a Capsule Tenant can have the right to change these labels. RBAC does not prevent it.',
  source: 'Kubernetes: Pod Security Standards, PodNodeSelector; Capsule: namespaceOptions.forbiddenLabels',
  docs: "Remove admission labels and annotations from the tenant's Namespace, and ask a fleet admin to set them. Raising `pod-security.kubernetes.io/enforce` to `baseline` or `restricted` is allowed.",
  kinds: ['/Namespace'],
  *checkObject({ object, node }, context) {
    if (node.tenant !== undefined) {
      yield* evaluateTenant(object, node, context)
      if (context.before) yield* evaluateLoosened(object, node, context.before)
    } else if (context.before) yield* evaluatePlatform(object, node, context.index, context.before)
  },
}

function* evaluateTenant(object: KubeObject, node: FleetNode, { index }: RuleContext): Iterable<Violation> {
  const { name } = idOf(object)
  const given = index.platformObject(node.cluster, '/Namespace', '', name)
  for (const part of ['labels', 'annotations']) {
    const map = at(object.root, ['metadata', part])
    if (map?.type !== 'map') continue
    for (const [key, { value }] of map.fields) {
      const path = ['metadata', part, key]
      const denied = deniedByCapsule(index, node, part, key)
      const level = levelOf(part, key, value, at(given?.root, path), denied !== undefined)
      if (level === undefined) continue
      const text = textOf(value)
      yield {
        node,
        object,
        path,
        value: `${part} ${key}=${text}`,
        level,
        message: message`${objectPart('Namespace', '', name)} gets the ${part === 'labels' ? 'label' : 'annotation'} ${quoted('field', key)}: ${quoted('value', text)} from ${identityPart(node.identity)}, which acts for a tenant. Allowed: this key only in the platform's content. ${denied === undefined ? message`The API server accepts it from anyone who can patch the Namespace` : message`Capsule: ${serverWords(denied)}`}.`,
        fix: message`Remove ${quoted('field', key)}, or ask a fleet admin to set it.`,
        edit: { remove: true },
      }
    }
  }
}

function levelOf(
  part: string,
  key: string,
  value: Node,
  given: Node | undefined,
  isDenied: boolean,
): FindingLevel | undefined {
  if (given && textOf(given) === textOf(value)) return undefined
  if (part === 'labels' && key.startsWith(POD_SECURITY)) return podSecurity(key, textOf(value), given)
  return isProtected(key, textOf(value)) || isDenied ? 'violation' : undefined
}

/** A tenant may bind itself tighter, never looser than the platform did. */
function podSecurity(key: string, text: string, given: Node | undefined): FindingLevel | undefined {
  const level = LEVELS.indexOf(text)
  if (key === ENFORCE) {
    const least = given ? LEVELS.indexOf(textOf(given)) : 1
    return level > 0 && level >= least ? undefined : 'violation'
  }
  if (key === `${ENFORCE}-version`) return text === 'latest' ? undefined : 'violation'
  return level > 0 || key.endsWith('-version') ? undefined : 'warning'
}

/** Below what it was before the change, also where the tenant itself had raised it: pods that were kept out come in. */
function* evaluateLoosened(object: KubeObject, node: FleetNode, before: FleetIndex): Iterable<Violation> {
  const { name } = idOf(object)
  const is = stringAt(object.root, ENFORCED) ?? ''
  // what is looser than the standard itself is a violation already
  if (at(object.root, ENFORCED) && LEVELS.indexOf(is) < 1) return
  const versions = before.versionsOf(node.cluster, '/Namespace', '', name)
  const levels = versions.map(version => LEVELS.indexOf(stringAt(version.object.root, ENFORCED) ?? ''))
  const was = LEVELS[Math.max(...levels, -1)]
  if (was === undefined || LEVELS.indexOf(is) >= LEVELS.indexOf(was) || levels.includes(LEVELS.indexOf(is))) return
  yield {
    node,
    object,
    path: ENFORCED,
    value: `${was} to ${is}`,
    message: message`${objectPart('Namespace', '', name)} weakens ${ENFORCE} from ${quoted('value', was)} to ${quoted('value', is || "the cluster's default")}. Allowed: the same level or a stricter one. The API server accepts it from anyone who can patch the Namespace.`,
    fix: message`Set ${ENFORCE} to ${quoted('value', was)}, or ask a fleet admin to change it.`,
  }
}

/** The platform may loosen what it enforces; that a change does so is worth a word. */
function* evaluatePlatform(
  object: KubeObject,
  node: FleetNode,
  index: FleetIndex,
  before: FleetIndex,
): Iterable<Violation> {
  const { name } = idOf(object)
  const was = stringAt(before.platformObject(node.cluster, '/Namespace', '', name)?.root, ENFORCED)
  const is = stringAt(object.root, ENFORCED) ?? ''
  if (was === undefined || index.ownerOf(node.cluster, name) === undefined) return
  if (LEVELS.indexOf(is) >= LEVELS.indexOf(was)) return
  yield {
    node,
    object,
    path: ENFORCED,
    value: `${was} to ${is}`,
    level: 'warning',
    message: message`${objectPart('Namespace', '', name)} of a tenant weakens ${ENFORCE} from ${quoted('value', was)} to ${quoted('value', is || 'privileged')}, which no longer confines the tenant's pods. Allowed: the same level or a stricter one. The API server accepts it.`,
    fix: message`Set ${ENFORCE} to ${quoted('value', was)}.`,
  }
}

function textOf(node: Node): string {
  return node.type === 'scalar' ? String(node.value) : node.type
}
