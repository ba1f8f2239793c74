import { message } from '../../base/message.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { identityPart, objectPart, quoted } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { TENANT_LABEL_KEY } from '../../kube/flux-kinds.ts'
import { at, entriesOf, type Node, stringAt } from '../../kube/node.ts'
import { forbiddenKey } from '../capsule/allow-lists.ts'
import { tenantsOwnedBy, webhookVersion } from '../capsule/capsule-users.ts'
import { type FindingLevel, type Rule, type Subject, serverWords, type Violation } from '../model/rule.ts'

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

const POD_SECURITY = 'pod-security.kubernetes.io/'

const ENFORCE = `${POD_SECURITY}enforce`
const ENFORCED = ['metadata', 'labels', ENFORCE]

/** A tenant does not write what admission, scheduling and networks read from a Namespace. */
export const namespaceProtectedMetadata: Rule = {
  id: 'namespace-protected-metadata',
  severity: 'critical',
  title: 'Protected label or annotation on a Namespace',
  why: 'Pod Security, node selectors, security context constraints, policy engines, meshes and cloud identities read labels and annotations of the Namespace. A namespace admin or an owner of a Capsule Tenant can have the right to change these labels. RBAC does not prevent it.',
  source: 'Kubernetes: Pod Security Standards, PodNodeSelector; Capsule: namespaceOptions.forbiddenLabels',
  docs: "Remove admission labels and annotations from the tenant's Namespace, and ask a fleet admin to set them. Raising `pod-security.kubernetes.io/enforce` to `baseline` or `restricted` is allowed.",
  kinds: ['/Namespace'],
  *checkObject(subject, { index, before }) {
    const isTenants = subject.node.tenant !== undefined
    if (isTenants) yield* protectedKeys(subject, index)
    if (before) yield* isTenants ? loosenedByTenant(subject, before) : loosenedByPlatform(subject, index, before)
  },
}

function* protectedKeys(subject: Subject, index: FleetIndex): Iterable<Violation> {
  const { node, id } = subject
  const given = index.platformObject(node.cluster, '/Namespace', '', id.name)
  for (const part of ['labels', 'annotations']) {
    for (const [key, value] of entriesOf(subject.at(['metadata', part]))) {
      const path = ['metadata', part, key]
      const denied = deniedByCapsule(index, node, part, key)
      const level = levelOf(part, key, value, at(given?.root, path), denied !== undefined)
      if (level === undefined) continue
      const text = textOf(value)
      yield subject.violation(path, `${part} ${key}=${text}`, {
        level,
        message: message`${objectPart('Namespace', '', id.name)} gets the ${part === 'labels' ? 'label' : 'annotation'} ${quoted('field', key)}: ${quoted('value', text)} from ${identityPart(node.identity)}, which acts for a tenant. Allowed: this key only in the platform's content. ${denied === undefined ? message`The API server accepts it from anyone who can patch the Namespace` : message`Capsule: ${serverWords(denied)}`}.`,
        fix: message`Remove ${quoted('field', key)}, or ask a fleet admin to set it.`,
        edit: { remove: true },
      })
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

/** A tenant may choose a stricter level than the platform's, never a looser one. */
function podSecurity(key: string, text: string, given: Node | undefined): FindingLevel | undefined {
  const level = LEVELS.indexOf(text)
  if (key === ENFORCE) {
    const least = given ? LEVELS.indexOf(textOf(given)) : 1
    return level > 0 && level >= least ? undefined : 'violation'
  }
  if (key === `${ENFORCE}-version`) return text === 'latest' ? undefined : 'violation'
  return level > 0 || key.endsWith('-version') ? undefined : 'warning'
}

/** Looser than before the change, even if the tenant itself had made it stricter: it admits pods that were refused. */
function* loosenedByTenant(subject: Subject, before: FleetIndex): Iterable<Violation> {
  const { node, id } = subject
  const is = subject.text(ENFORCED) ?? ''
  // what is looser than the standard itself is already a violation
  if (subject.at(ENFORCED) && LEVELS.indexOf(is) < 1) return
  const versions = before.versionsOf(node.cluster, '/Namespace', '', id.name)
  const levels = versions.map(version => LEVELS.indexOf(stringAt(version.object.root, ENFORCED) ?? ''))
  const was = LEVELS[Math.max(...levels, -1)]
  if (was === undefined || LEVELS.indexOf(is) >= LEVELS.indexOf(was) || levels.includes(LEVELS.indexOf(is))) return
  yield subject.violation(ENFORCED, `${was} to ${is}`, {
    message: message`${objectPart('Namespace', '', id.name)} weakens ${ENFORCE} from ${quoted('value', was)} to ${quoted('value', is || "the cluster's default")}. Allowed: the same level or a stricter one. The API server accepts it from anyone who can patch the Namespace.`,
    fix: message`Set ${ENFORCE} to ${quoted('value', was)}, or ask a fleet admin to change it.`,
  })
}

/** The platform may loosen what it enforces; such a change is a warning. */
function* loosenedByPlatform(subject: Subject, index: FleetIndex, before: FleetIndex): Iterable<Violation> {
  const { node, id } = subject
  const was = stringAt(before.platformObject(node.cluster, '/Namespace', '', id.name)?.root, ENFORCED)
  const is = subject.text(ENFORCED) ?? ''
  if (was === undefined || index.ownerOf(node.cluster, id.name) === undefined) return
  if (LEVELS.indexOf(is) >= LEVELS.indexOf(was)) return
  yield subject.violation(ENFORCED, `${was} to ${is}`, {
    level: 'warning',
    message: message`${objectPart('Namespace', '', id.name)} of a tenant weakens ${ENFORCE} from ${quoted('value', was)} to ${quoted('value', is || 'privileged')}, which no longer confines the tenant's pods. Allowed: the same level or a stricter one. The API server accepts it.`,
    fix: message`Set ${ENFORCE} to ${quoted('value', was)}.`,
  })
}

function textOf(node: Node): string {
  return node.type === 'scalar' ? String(node.value) : node.type
}

/** Labels and annotations of a Namespace that admission, scheduling, networks or clouds obey; a `*` ends a prefix. */
const PROTECTED: readonly string[] = [
  // Kubernetes: PodNodeSelector, PodTolerationRestriction, network policy of old
  'scheduler.alpha.kubernetes.io/*',
  'scheduler.kubernetes.io/*',
  'net.beta.kubernetes.io/*',
  // devices that others use (ResourceClaims with adminAccess)
  'resource.kubernetes.io/*',
  'quota.openshift.io/*',
  'openshift.io/*',
  'security.openshift.io/*',
  'k8s.ovn.org/*',
  'cni.projectcalico.org/*',
  'projectcalico.org/*',
  'field.cattle.io/*',
  // these disable policies and meshes
  'admission.gatekeeper.sh/ignore',
  'policies.kyverno.io/*',
  'kyverno.io/*',
  'webhooks.kyverno.io/*',
  'policy.sigstore.dev/*',
  'cert-manager.io/disable-validation',
  'config.linkerd.io/admission-webhooks',
  'control-plane',
  // cloud identities and projects
  'iam.amazonaws.com/*',
  'cnrm.cloud.google.com/*',
  // Capsule's own bookkeeping
  'capsule.clastix.io/*',
  'projectcapsule.dev/*',
]

/** What takes a namespace out of its mesh; joining the mesh is allowed. */
const OUT_OF_MESH: ReadonlyMap<string, readonly string[]> = new Map([
  ['istio-injection', ['disabled']],
  ['istio.io/dataplane-mode', ['none']],
  ['linkerd.io/inject', ['disabled']],
])

/** The rule namespace-ownership decides which tenant a Namespace belongs to. */
export const TENANT_KEYS: readonly string[] = [
  TENANT_LABEL_KEY,
  'capsule.clastix.io/tenant',
  'projectcapsule.dev/tenant',
]

const exact = new Set(PROTECTED.filter(key => !key.endsWith('*')))
const prefixes = PROTECTED.filter(key => key.endsWith('*')).map(key => key.slice(0, -1))

/** Whether only the platform may set a Namespace label or annotation; those of Pod Security are evaluated by value. */
function isProtected(key: string, value: string): boolean {
  if (TENANT_KEYS.includes(key)) return false
  if (OUT_OF_MESH.get(key)?.includes(value)) return true
  return exact.has(key) || prefixes.some(prefix => key.startsWith(prefix))
}

/** Kinds that limit a namespace. */
const KINDS = [
  '/ResourceQuota',
  '/LimitRange',
  'networking.k8s.io/NetworkPolicy',
  'cilium.io/CiliumNetworkPolicy',
  'crd.projectcalico.org/NetworkPolicy',
  'projectcalico.org/NetworkPolicy',
]

/** Names that Capsule gives to what it creates in the namespaces of a Tenant. */
const CAPSULES = /^capsule-/

/** Only the platform changes the limits that it sets in a tenant's namespace. */
export const quotaTamper: Rule = {
  id: 'quota-tamper',
  severity: 'high',
  title: 'Changed limit of a namespace',
  why: "A tenant that rewrites the platform's ResourceQuota, LimitRange or NetworkPolicy removes the limits that separate tenants. With a forced server-side apply the last writer wins, and removing the object from git deletes it.",
  source: 'Kubernetes Multi-Tenancy Benchmark MTB-PL1-BC-CPI-2; Capsule: resourceQuotas, limitRanges, networkPolicies',
  docs: "Rename the tenant's own quota or policy. Names of the platform's objects and names that begin with `capsule-` are not allowed.",
  kinds: KINDS,
  *checkTenantObject(subject, { index }) {
    const { id, kind, node } = subject
    if (!index.owns(node.cluster, node.tenant, id.namespace)) return
    const isPlatforms = index.platformObject(node.cluster, kind, id.namespace, id.name) !== undefined
    if (!isPlatforms && !CAPSULES.test(id.name)) return
    const whose = isPlatforms ? 'the platform renders' : 'Capsule creates'
    yield subject.violation(['metadata', 'name'], id.name, {
      message: message`${subject.who} limits the namespace, and ${whose} it: ${quoted('identity', node.identity.user)}, which acts for the tenant, would overwrite it. Allowed: objects with other names.`,
      fix: message`Remove the object, and ask a fleet admin to change the limit.`,
    })
  },
}
