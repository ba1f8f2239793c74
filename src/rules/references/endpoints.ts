import { message, untyped } from '../../base/message.ts'
import { allowedSourcesOf, allowsSource } from '../../fleet/config/declared-settings.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { quoted } from '../../fleet/facts/shown.ts'
import { addressOf, sourceKinds } from '../../fleet/facts/sources.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { PROVIDER } from '../../kube/flux-kinds.ts'
import { internalHost } from '../../kube/internal-host.ts'
import { at, type Path, stringAt } from '../../kube/node.ts'
import { KUBERNETES_NAMESPACES } from '../../kube/object.ts'
import { readAddress } from '../../kube/source-address.ts'
import type { Rule, RuleContext, Subject, TenantSubject, Violation } from '../model/rule.ts'
import { isSealed, isSopsValue } from '../secrets/sops-values.ts'

/** Flagger's kinds, whose controller connects to what they name (fluxcd/flagger, artifacts/flagger/crd.yaml). */
export const FLAGGER_KINDS: readonly string[] = ['Canary', 'MetricTemplate', 'AlertProvider'].map(
  kind => `flagger.app/${kind}`,
)

/** Flux's controllers connect for a tenant only to addresses outside the cluster. */
export const ssrfEndpoint: Rule = {
  id: 'ssrf-endpoint',
  severity: 'high',
  title: 'Address inside the cluster',
  why: "Flux's controllers can connect to addresses that a tenant's pods cannot: the API server, the cloud's metadata service, and Services behind network policies. A tenant that names such an address receives the response in a status or an artifact.",
  source: 'CWE-918; notification-controller api/v1beta3/provider_types.go; kyverno/policies flux/verify-flux-sources',
  docs: "Use an address outside the cluster, or a Service in the tenant's namespaces. Of Flagger's webhooks, metric and alert providers, Services of the platform outside the standard namespaces may be shared. List a cluster-internal registry or receiver that tenants may use in `allowedSources` of .github/bailiwick.yaml. An address in an encrypted Secret is an unknown value and a warning.",
  kinds: [...sourceKinds, PROVIDER, ...FLAGGER_KINDS],
  *checkTenantObject(subject, context) {
    for (const endpoint of endpointsOf(subject, context)) yield* insideEndpoint(subject, context, endpoint)
  },
}

function* insideEndpoint(subject: TenantSubject, context: RuleContext, endpoint: Endpoint): Iterable<Violation> {
  const { node, who } = subject
  const { tenant } = node
  const { path, address, secret } = endpoint
  const place = secret === undefined ? '' : message` in Secret ${quoted('object', secret)}`
  if (address === 'sealed') {
    const problem = message`${who} takes an address from the encrypted Secret ${quoted('object', secret ?? '')}, which overrides the one in the object. Its target is unknown. Allowed: an address in the object.`
    const fix = message`Move the address to the object, and keep only credentials in the Secret.`
    return yield subject.violation(path, `${secret} sealed`, { message: problem, fix, level: 'warning' })
  }
  const found = hostOf(address.text)
  const isFlagger = FLAGGER_KINDS.includes(subject.kind)
  const to = found && insideOf(context.index, node.cluster, tenant, found.host, found.isUrl || endpoint.isHost === true)
  // load testers and Prometheus are shared: cross-namespace-network-ref reports other tenants' Services
  const inside = isFlagger && isShareable(to) ? undefined : to?.what
  if (!found || inside === undefined || isListed(context, tenant, address.text)) return
  yield subject.violation(path, secret === undefined ? found.host : `${secret} ${found.host}`, {
    message: message`${who} names the address ${quoted('value', found.host)}${place}, which is ${untyped(inside)}. Allowed: addresses outside the cluster. ${isFlagger ? 'Flagger' : "Flux's controller"} would connect to it from inside the cluster.`,
    fix: message`Set an address outside the cluster, or ask a fleet admin to list this one in allowedSources.`,
  })
}

function isListed({ config }: RuleContext, tenant: string, text: string): boolean {
  const address = readAddress(text, text.includes('://') ? 'url' : 'endpoint')
  if (typeof address === 'string' || allowedSourcesOf(config, tenant).length === 0) return false
  return allowsSource(config, tenant, address.text)
}

/** An address that a controller of Flux connects to for an object. */
interface Endpoint {
  readonly path: Path
  /** `sealed`: it is encrypted. */
  readonly address: { readonly text: string } | 'sealed'
  /** It certainly begins with a host. */
  readonly isHost?: true
  /** The Secret that holds it: then the rest of it is confidential. */
  readonly secret?: string
}

const FLAGGER_FIELDS: readonly Path[] = [
  ['spec', 'address'],
  ['spec', 'proxy'],
  ['spec', 'provider', 'address'],
  ['spec', 'analysis', 'webhooks', '*', 'url'],
  ['spec', 'canaryAnalysis', 'webhooks', '*', 'url'],
]

const SOURCES_WITH_SECRETS: readonly Path[] = [['spec', 'proxySecretRef', 'name']]

/** Every address that an object names, also in Secrets that the tenant renders (notification-controller, event_handlers.go). */
export function endpointsOf(subject: Subject, context: RuleContext): Endpoint[] {
  const { object, kind } = subject
  if (FLAGGER_KINDS.includes(kind)) return ofFlagger(subject, context)
  const isProvider = kind === PROVIDER
  const plain: Path[] = isProvider
    ? [
        ['spec', 'address'],
        ['spec', 'proxy'],
      ]
    : [['spec', 'sts', 'endpoint']]
  const written = plain.flatMap((path): Endpoint[] => {
    const text = subject.text(path)
    return text ? [{ path, address: { text } }] : []
  })
  const found = isProvider ? undefined : addressOf(kind, object)
  if (found && typeof found.address !== 'string') {
    written.push({ path: found.path, address: { text: found.address.text }, isHost: true })
  } else if (found?.written) written.push({ path: found.path, address: { text: found.written } })
  const secrets = isProvider ? [['spec', 'secretRef', 'name'], ...SOURCES_WITH_SECRETS] : SOURCES_WITH_SECRETS
  return [...written, ...secrets.flatMap(path => inSecret(subject, context, path))]
}

function ofFlagger(subject: Subject, context: RuleContext): Endpoint[] {
  const written = FLAGGER_FIELDS.flatMap(pattern => subject.items(pattern)).flatMap((path): Endpoint[] => {
    const text = subject.text(path)
    return text ? [{ path, address: { text }, isHost: true }] : []
  })
  const isProvider = subject.kind === 'flagger.app/AlertProvider'
  return isProvider ? [...written, ...inSecret(subject, context, ['spec', 'secretRef', 'name'])] : written
}

function inSecret({ object, id, node }: Subject, { index }: RuleContext, path: Path): Endpoint[] {
  const name = stringAt(object.root, path)
  if (!name) return []
  return ['address', 'proxy'].flatMap(key => {
    const address = secretValue(index, node, id.namespace, name, key)
    return address ? [{ path, address, secret: name }] : []
  })
}

/** The host of an address as a client would read it, and whether it certainly is one. */
export function hostOf(text: string): { readonly host: string; readonly isUrl: boolean } | undefined {
  const url = /:\/\/([^/?#\\]*)/.exec(text)
  const authority = (url?.[1] ?? text.split(/[/?#\\]/, 1)[0]!).replace(/^.*@/, '')
  const host = /^(\[[^\]]*\]|[^:]*)/.exec(authority.trim())?.[1] ?? ''
  return host === '' ? undefined : { host: decoded(host), isUrl: url !== null }
}

function decoded(host: string): string {
  return host.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** What a host inside the cluster leads to. */
interface Inside {
  readonly what: string
  /** The namespace of the service; undefined: not a service, such as a private address. */
  readonly namespace: string | undefined
}

/**
 * What a host leads to inside the cluster, its machine or its cloud, other than the tenant's own services. A single
 * word counts only if it certainly is a host.
 */
export function insideOf(
  index: FleetIndex,
  cluster: string,
  tenant: string,
  host: string,
  isHost: boolean,
): Inside | undefined {
  const inside = internalHost(host)
  if (inside?.service) {
    const { namespace } = inside.service
    return index.owns(cluster, tenant, namespace) ? undefined : { what: inside.what, namespace }
  }
  if (inside) return isHost || /[.:\d]/.test(host) ? { what: inside.what, namespace: undefined } : undefined
  // The search list of a pod completes <service>.<namespace>.
  const [, namespace = '', more] = host.toLowerCase().replace(/\.$/, '').split('.')
  if (more !== undefined || namespace === '' || TOP_LEVEL.has(namespace)) return undefined
  const isKnown = STANDARD.has(namespace) || index.platformObject(cluster, '/Namespace', '', namespace) !== undefined
  return isKnown && !index.owns(cluster, tenant, namespace)
    ? { what: 'a service of the cluster', namespace }
    : undefined
}

/** Namespaces of every cluster with Flux, whether or not the fleet renders them. */
const STANDARD = new Set(['default', 'flux-system', ...KUBERNETES_NAMESPACES])

/** Whether it is a Service that the platform may share, such as a load tester or Prometheus. */
export const isShareable = (to: Inside | undefined): boolean =>
  to?.namespace !== undefined && !STANDARD.has(to.namespace)

/** Top-level domains that are also common names of namespaces. */
const TOP_LEVEL = new Set(
  'app build cloud codes dev digital email games global group media net network io ai one online org page run school services shop site solutions store studio support systems team tech technology tools top web website work works world zone'.split(
    ' ',
  ),
)

/**
 * The value of a key in a tenant's own Secret; one that only the platform, or no node, renders does not count. A caller
 * that shows the text must remove secret parts.
 */
export function secretValue(
  index: FleetIndex,
  node: FleetNode,
  namespace: string,
  name: string,
  key: string,
): { readonly text: string } | 'sealed' | undefined {
  for (const { object, node: by } of index.versionsOf(node.cluster, '/Secret', namespace, name)) {
    if (by.tenant !== node.tenant) continue
    const [plain, data] = [at(object.root, ['stringData', key]), at(object.root, ['data', key])]
    const found = plain ?? data
    if (!found) continue
    const text = stringAt(found, [])
    if (text === undefined) continue
    if (isSealed(object) || isSopsValue(text) || (found.type === 'scalar' && found.opaque)) return 'sealed'
    return { text: plain ? text : Buffer.from(text, 'base64').toString('utf8').trim() }
  }
  return undefined
}
