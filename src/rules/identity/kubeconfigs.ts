import { codeWord, listed, type Message, message, part, untyped } from '../../base/message.ts'
import { probably } from '../../base/name-list.ts'
import { objectCause } from '../../fleet/facts/fingerprint.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { type KubeConfigRef, kubeConfigRefs } from '../../fleet/facts/reconcilers.ts'
import { identityPart, namespacePart, objectPart, quoted } from '../../fleet/facts/shown.ts'
import { accountOf, applierKinds, kubeConfigOf } from '../../fleet/model/kustomization-spec.ts'
import { CONTROLLER } from '../../fleet/tenancy/delegated.ts'
import { withEmbedded } from '../../kube/capabilities/embedded-objects.ts'
import { KUBECONFIG_FIELD } from '../../kube/flux-kinds.ts'
import { internalHost } from '../../kube/internal-host.ts'
import { at, canonical, itemsOf, type Node, originAt, type Path, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { userOfAccount } from '../../kube/rbac/policy-rule.ts'
import { readableDocuments } from '../../kube/yaml/parse-documents.ts'
import type { Rule, RuleContext, Subject, Violation } from '../model/rule.ts'

/** The key under which Capsule's addon and Flux's own tools for it keep the kubeconfig. */
const CAPSULE_KEYS = ['', 'kubeconfig']

/** A tenant acts on other clusters, or with other credentials, only by a kubeconfig that the platform gave. */
export const kubeconfigRef: Rule = {
  id: 'kubeconfig-ref',
  severity: 'critical',
  title: 'Kubeconfig that the platform did not provide',
  why: 'Flux acts with the credentials of the named kubeconfig, on its cluster. The admin kubeconfig that Cluster API keeps in a namespace is cluster-admin there. A ConfigMap makes Flux sign in to a cloud with its own identity.',
  source:
    'RFC-0001 and RFC-0010 of fluxcd/flux2; https://fluxcd.io/flux/components/kustomize/kustomizations/#kubeconfig-remote-clusters',
  docs: "Remove `spec.kubeConfig`, or name a Secret that the platform's Kustomization for this tenant names (Capsule: `<account>-kubeconfig`) or that `allowedKubeConfigs` lists. The platform's own objects may name any Secret. What acts for a Capsule Tenant keeps the kubeconfig of Capsule's proxy. The fleet, the worker or capsule-addon-fluxcd creates its Secret. Required approvals: a new kubeconfig, another or removed kubeconfig of an object, another account with it, and a change of the Secret, ConfigMap or ExternalSecret that holds it. The target of a kubeconfig is not in git.",
  kinds: applierKinds,
  *checkObject(subject, context) {
    yield* proxyKubeConfig(subject, context)
    for (const ref of subject.node.tenant === undefined ? [] : refsOf(subject)) {
      if (isAllowed(context, subject, ref)) continue
      const { kind, name, key, path } = ref
      const of = key === '' ? message`` : message` (key ${quoted('value', key)})`
      const what = kind
        ? message`${part('value', kind)} ${quoted('object', name)}${of}`
        : message`neither a Secret nor a ConfigMap`
      yield subject.asNode(context.index).violation(path, `${kind} ${name} ${key}`, {
        follows: [keyCause(subject, name)],
        message: message`${subject.who} uses the kubeconfig in ${what} of ${namespacePart(subject.id.namespace)}. The platform did not give it to this tenant. Allowed: ${allowedText(context, subject)}.`,
        fix: message`Remove ${codeWord('spec.kubeConfig')}, or set ${codeWord('spec.kubeConfig.secretRef.name')} to the tenant's kubeconfig.`,
      })
    }
  },
}

function refsOf({ object }: Subject): KubeConfigRef[] {
  const config = kubeConfigOf(object)
  return config ? kubeConfigRefs(config) : []
}

function isAllowed({ index, config }: RuleContext, { node }: Subject, { kind, name, key }: KubeConfigRef): boolean {
  if (kind === 'Secret' && config.allowedKubeConfigs.includes(name)) return true
  if (kind === '') return false
  return index.namespacesOf(node.cluster, node.tenant ?? '').some(namespace => {
    const use = index.kubeConfigUse(node.cluster, namespace, kind, name)
    if (use?.by === 'platform' && use.keys.has(key)) return true
    const isOfCapsule = kind === 'Secret' && CAPSULE_KEYS.includes(key)
    return isOfCapsule && index.proxyKubeConfigs(node.cluster, namespace).includes(name)
  })
}

function allowedText({ index, config }: RuleContext, { node }: Subject): Message {
  const namespaces = index.namespacesOf(node.cluster, node.tenant ?? '')
  const ofCapsule = namespaces.flatMap(namespace => index.proxyKubeConfigs(node.cluster, namespace))
  const names = [...config.allowedKubeConfigs, ...ofCapsule]
  return names.length === 0 ? message`none` : listed(names.slice(0, 10).map(name => quoted('object', name)))
}

/** The Secret that capsule-addon-fluxcd and the worker create for an account, and that `onboard` names. */
const secretOf = (account: string) => `${account}-kubeconfig`

const SECRET = [...KUBECONFIG_FIELD, 'secretRef']

/** Kinds that may create a Secret of a name that they state, and that the fleet does not render itself. */
const MAKERS = [
  'external-secrets.io/ExternalSecret',
  'external-secrets.io/ClusterExternalSecret',
  'bitnami.com/SealedSecret',
  'capsule.clastix.io/GlobalTenantResource',
  'capsule.clastix.io/TenantResource',
  'kyverno.io/ClusterPolicy',
  'kyverno.io/Policy',
  'policies.kyverno.io/GeneratingPolicy',
  'batch/Job',
  'batch/CronJob',
]

/**
 * Flux's kubeconfig for a Capsule Tenant leads to Capsule's proxy of the same cluster. An object that no longer names
 * it acts elsewhere; one that names a Secret that nothing creates does not act at all.
 */
function* proxyKubeConfig(subject: Subject, { index, before }: RuleContext): Iterable<Violation> {
  const { node, object, id } = subject
  const tenant = index.actsFor(node, object)
  if (tenant === undefined || !index.isCapsuleTenant(node.cluster, tenant)) return
  const versions = before?.versionsOf(node.cluster, subject.kind, id.namespace, id.name) ?? []
  const was = versions.find(version => kubeConfigOf(version.object) !== undefined)?.object
  const config = kubeConfigOf(object)
  if (config === undefined) {
    if (was && versions.every(version => kubeConfigOf(version.object) !== undefined)) yield dropped(subject, index, was)
    return
  }
  if (was) yield* otherKey(subject, index, was)
  // a tenant names only what the platform gave it
  if (node.tenant !== undefined) return
  for (const { kind, name, path } of kubeConfigRefs(config)) {
    if (kind === '' || isMade(index, subject, kind, name)) continue
    if (before?.kubeConfigUse(node.cluster, id.namespace, kind, name)) continue
    const accounts = index.capsuleHomes(node.cluster).get(id.namespace) ?? []
    const meant = stringAt(kubeConfigOf(was ?? object), ['secretRef', 'name'])
    const wanted = meant !== undefined && meant !== name ? meant : accounts[0] && secretOf(accounts[0])
    yield subject.violation(path, `not made ${name}`, {
      // a Secret that is added by hand may have any name
      level: was || (wanted !== undefined && probably(name, [wanted])) ? 'violation' : 'warning',
      message: message`${subject.who} uses the kubeconfig in ${objectPart(kind, id.namespace, name)}, which nothing visible creates. Allowed: ${quoted('object', wanted ?? secretOf('<account>'))}, which capsule-addon-fluxcd or the worker creates, or a Secret in the fleet. Flux: ${untyped(kind.toLowerCase())}s ${quoted('object', name)} not found.`,
      fix: message`Set ${codeWord('spec.kubeConfig.secretRef.name')} to ${quoted('object', wanted ?? secretOf('<account>'))}, or create the Secret first.`,
    })
  }
}

function isMade(
  index: FleetIndex,
  { node: { cluster }, object, id: { namespace } }: Subject,
  kind: string,
  name: string,
): boolean {
  if (index.versionsOf(cluster, `/${kind}`, namespace, name).length > 0) return true
  // nothing makes a ConfigMap for Flux that the fleet does not render
  if (kind !== 'Secret') return false
  // an owner may be the group of a namespace, too
  const account = accountOf(object, index.cluster(cluster)?.lockdown)
  const accounts = [...(index.capsuleHomes(cluster).get(namespace) ?? []), ...(account ? [account] : [])]
  if (accounts.some(one => name === secretOf(one))) return true
  const states = (object: KubeObject) =>
    canonical(object.root).includes(JSON.stringify(name)) || withEmbedded(object).some(one => idOf(one).name === name)
  return MAKERS.some(kind => index.renderedAnywhere(cluster, kind).some(({ object }) => states(object)))
}

const keyCause = ({ id: { namespace } }: Subject, name: string) => objectCause({ kind: 'kubeConfig', namespace, name })

/** Another key of the same Secret, which is not in git: the addon, the worker and people write the former key. */
function* otherKey(subject: Subject, index: FleetIndex, was: KubeObject): Iterable<Violation> {
  const { node, object, id } = subject
  const [now, then] = [object, was].map(one => ({
    name: stringAt(one.root, [...SECRET, 'name']) ?? '',
    key: stringAt(one.root, [...SECRET, 'key']),
  }))
  if (!now || !then || now.name !== then.name || now.key === then.key) return
  if (index.versionsOf(node.cluster, '/Secret', id.namespace, now.name).length > 0) return
  const key = now.key ?? 'value'
  yield subject.violation(now.key === undefined ? SECRET : [...SECRET, 'key'], `key ${key}`, {
    leads: [keyCause(subject, now.name)],
    message: message`${subject.who} reads the key ${quoted('value', key)} of ${objectPart('Secret', id.namespace, now.name)}: before this change it read ${quoted('value', then.key ?? 'value')}. Allowed: the key of before, where the Secret is not in git. Flux: KubeConfig secret ${quoted('object', now.name)} does not contain a ${quoted('value', key)} key.`,
    fix: message`Set ${codeWord('spec.kubeConfig.secretRef.key')} to ${quoted('value', then.key ?? 'value')}.`,
  })
}

function dropped(subject: Subject, index: FleetIndex, was: KubeObject): Violation {
  const { node, object, id } = subject
  const account = accountOf(object, index.cluster(node.cluster)?.lockdown)
  const isOwn = account !== undefined && (index.capsuleHomes(node.cluster).get(id.namespace) ?? []).includes(account)
  const name = stringAt(kubeConfigOf(was), ['secretRef', 'name']) ?? ''
  const identity = account ? { user: userOfAccount(id.namespace, account), impersonated: true } : CONTROLLER
  const { file, line } = originAt(was.root, KUBECONFIG_FIELD)
  return subject.asNode(index).violation(['spec'], `without ${name} as ${account ?? 'controller'}`, {
    level: isOwn ? 'warning' : 'violation',
    message: message`${subject.who} no longer uses the kubeconfig in ${objectPart('Secret', id.namespace, name)}. Flux sends its requests to the API server instead of Capsule's proxy, as ${identityPart(identity)}. ${isOwn ? message`The account may apply it, but only the proxy lists namespaces and other cluster-scoped objects for it` : message`It does not own the Capsule Tenant`}. Allowed: the kubeconfig of the proxy.`,
    fix: message`Restore ${codeWord('spec.kubeConfig')} with ${codeWord('secretRef.name')}: ${part('object', name)} (before this change at ${part('path', `${file}:${line}`)}).`,
  })
}

/** A tenant's kubeconfig runs no programs and connects to no internal addresses. */
export const kubeconfigContent: Rule = {
  id: 'kubeconfig-content',
  severity: 'critical',
  title: 'Unsafe kubeconfig',
  why: "A program that reads a kubeconfig runs the command in `exec`. It opens the files that it names, and sends its token to `server`. In a Flux controller this happens in the controller's container, with the controller's token and network (CVE-2022-24817). Flux drops some of these fields unless a flag allows them. Other readers do not.",
  source: 'CVE-2022-24817; fluxcd/pkg runtime/client',
  docs: 'Ask a fleet admin to render the kubeconfig, or to list the Secret in `allowedKubeConfigs` in .github/bailiwick.yaml. A listed kubeconfig may set `server` (https, a public or private address), `certificate-authority-data`, and `token` or `client-certificate-data` with `client-key-data`, encrypted with SOPS.',
  kinds: ['/Secret', '/ConfigMap'],
  *checkTenantObject(subject, { index, config }) {
    for (const { path, fault } of faultsOf(index, subject, config.allowedKubeConfigs.includes(subject.id.name))) {
      const where = fault.field === '' ? message`` : message` (${quoted('field', fault.field)})`
      // never the text itself: it may contain a token
      const value = `${fault.field} ${fault.what}`
      yield subject.violation(path, value, {
        message: message`${subject.who} contains a kubeconfig that ${untyped(fault.what)}${where}. Allowed: credentials, and API server addresses in Secrets that "allowedKubeConfigs" in ${codeWord('.github/bailiwick.yaml')} lists.`,
        fix: message`Ask a fleet admin to render the kubeconfig. In a kubeconfig that the fleet allows, use inline certificates or a token and the address of the API server.`,
        ...(fault.local ? {} : { severity: 'high' as const }),
      })
    }
  },
}

interface Found {
  readonly path: Path
  readonly fault: KubeConfigFault
}

function* faultsOf(index: FleetIndex, { node, object, id, kind }: Subject, isAllowed: boolean): Iterable<Found> {
  const used = index.kubeConfigUse(node.cluster, id.namespace, id.kind, id.name) !== undefined
  for (const { path, text } of textsOf(object)) {
    if (path.at(-1) === 'address' && (used || stringAt(object.root, ['data', 'provider']))) {
      const what = kind === '/ConfigMap' ? addressFault(text) : undefined
      if (what) yield { path, fault: { field: 'address', what, local: false } }
    }
    const isRead = used && kind === '/Secret' && !/^ENC\[/.test(text)
    for (const fault of kubeConfigFaults(text, isRead, isAllowed || kind !== '/Secret')) yield { path, fault }
  }
}

function* textsOf(object: KubeObject): Iterable<{ path: Path; text: string }> {
  const isSecret = stringAt(object.root, ['kind']) === 'Secret'
  for (const part of ['data', 'stringData', 'binaryData']) {
    const values = at(object.root, [part])
    if (values?.type !== 'map') continue
    const encoded = part === 'binaryData' || (part === 'data' && isSecret)
    for (const [key, { value }] of values.fields) {
      const text = decoded(value, encoded)
      if (text !== undefined) yield { path: [part, key], text }
    }
  }
}

function decoded(value: Node, encoded: boolean): string | undefined {
  if (value.type !== 'scalar' || typeof value.value !== 'string') return undefined
  if (!encoded || value.value.startsWith('ENC[')) return value.value
  return Buffer.from(value.value, 'base64').toString('utf8')
}

/** What in a kubeconfig makes its reader run, read or connect to something it should not. */
interface KubeConfigFault {
  /** `exec`, `server`, ...: for the identity of the violation. */
  readonly field: string
  readonly what: string
  /** Runs or reads something on the controller's own machine. */
  readonly local: boolean
}

/** What is wrong with fields of a user or cluster entry. */
const OF_USERS: ReadonlyMap<string, string> = new Map([
  ['exec', "runs a program in the controller's container"],
  ['auth-provider', 'lets a plugin of the client fetch credentials'],
  ['tokenfile', "reads a token from a file of the controller's container"],
  ['client-certificate', "reads a certificate from a file of the controller's container"],
  ['client-key', "reads a key from a file of the controller's container"],
])
const OF_CLUSTERS: ReadonlyMap<string, string> = new Map([
  ['certificate-authority', "reads certificates from a file of the controller's container"],
])

const UNKNOWN = 'calls an address that the platform does not vouch for'

/**
 * What is wrong with a text as a kubeconfig; none for other texts. `used`: Flux reads it as one, so an unreadable text
 * is a fault. `vouched`: any external address is allowed. Sources: k8s.io/client-go tools/clientcmd/api/v1,
 * CVE-2022-24817.
 */
export function kubeConfigFaults(text: string, used: boolean, vouched: boolean): KubeConfigFault[] {
  if (!used && !looksLikeOne(text)) return []
  const documents = parse(text)
  if (documents === undefined) {
    return [{ field: '', what: 'cannot be read: YAML readers disagree on it', local: true }]
  }
  return documents.flatMap(root => [
    ...entries(root, 'users', 'user').flatMap(user => named(user, OF_USERS)),
    ...entries(root, 'clusters', 'cluster').flatMap(cluster => [
      ...named(cluster, OF_CLUSTERS),
      ...ofCluster(cluster, vouched),
    ]),
  ])
}

/** A text with escapes does not show it; such a text is read where an object of Flux uses it. */
const looksLikeOne = (text: string) => /clusters|users/.test(text) && /server|exec|auth-provider|token/i.test(text)

const parse = (text: string) => readableDocuments({ repository: '', path: 'kubeconfig' }, Buffer.from(text))

function entries(root: Node, list: string, field: string): Node[] {
  const items = itemsOf(at(root, [list]))
  return items.flatMap(item => at(item, [field]) ?? [])
}

function named(entry: Node, faults: ReadonlyMap<string, string>): KubeConfigFault[] {
  if (entry.type !== 'map') return []
  return [...entry.fields].flatMap(([key, { value }]) => {
    const what = faults.get(key.toLowerCase())
    if (what === undefined || (value.type === 'scalar' && (value.value === null || value.value === ''))) return []
    return [{ field: key, what, local: true }]
  })
}

function ofCluster(cluster: Node, vouched: boolean): KubeConfigFault[] {
  const faults: KubeConfigFault[] = []
  const insecure = at(cluster, ['insecure-skip-tls-verify'])
  if (insecure?.type === 'scalar' && insecure.value !== false && insecure.value !== null) {
    faults.push({ field: 'insecure-skip-tls-verify', what: 'does not check whom it talks to', local: false })
  }
  for (const field of ['server', 'proxy-url']) {
    const address = stringAt(cluster, [field]) ?? ''
    const what = addressFault(address) ?? (vouched || address === '' ? undefined : UNKNOWN)
    if (what) faults.push({ field, what, local: false })
  }
  return faults
}

/** What is wrong with the address of an API server; many clusters use a private address for theirs. */
export function addressFault(address: string): string | undefined {
  if (address === '') return undefined
  const url = URL.parse(address.includes('://') ? address : `https://${address}`)
  if (!url) return 'is not an address'
  if (url.protocol === 'http:') return 'sends credentials without TLS'
  const internal = internalHost(url.hostname)
  return internal && internal.what !== 'a private address' ? `calls ${internal.what}` : undefined
}
