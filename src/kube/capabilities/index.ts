import type { Capabilities, Capability, Named, NamingField } from './capability.ts'
import { databases, secrets, storage } from './data-services.ts'
import { gateways, ingresses, istio, serviceMeshes } from './networking.ts'
import { delivery, monitoring, operators, policies } from './operators.ts'

/** One file for each family of API groups; a kind stands in one of them. */
export const families: readonly Capabilities[] = [
  databases,
  delivery,
  gateways,
  ingresses,
  istio,
  monitoring,
  operators,
  policies,
  secrets,
  serviceMeshes,
  storage,
]

const ALL: ReadonlyMap<string, Capability> = new Map(families.flatMap(family => Object.entries(family)))

/** What objects of a kind (`<group>/<Kind>`) can do; undefined: unknown. */
export function capabilityOf(kind: string): Capability | undefined {
  return ALL.get(kind)
}

/** The kinds with a field that names one of these. */
export function kindsNaming(...named: readonly Named[]): string[] {
  return [...ALL].filter(([, { fields }]) => fields.some(field => named.includes(field.names))).map(([kind]) => kind)
}

/** The fields of a kind that name one of these. */
export function fieldsNaming(kind: string, ...named: readonly Named[]): readonly NamingField[] {
  return ALL.get(kind)?.fields.filter(field => named.includes(field.names)) ?? []
}

/** What an annotation names, on whatever object it stands. */
export function annotationNaming(key: string, ...named: readonly Named[]): NamingField | undefined {
  const field = annotations.get(key)
  return field && named.includes(field.names) ? field : undefined
}

/** The scopes of the table by `<group>/<Kind>`. */
export const CAPABILITY_SCOPES: ReadonlyMap<string, Capability['scope']> = new Map(
  [...ALL].map(([kind, { scope }]) => [kind, scope]),
)

const NGINX = 'nginx.ingress.kubernetes.io'
const HAPROXY = 'haproxy-ingress.github.io'
const TRAEFIK = 'traefik.ingress.kubernetes.io'
const REFLECTOR = 'reflector.v1.k8s.emberstack.com'
const REPLICATOR = 'replicator.v1.mittwald.de'

type What = Omit<NamingField, 'at'>

const secret: What = { names: 'secret', form: 'path' }
const configMap: What = { names: 'configMap', form: 'path' }
const address: What = { names: 'service', form: 'url' }
const host: What = { names: 'host' }
const ofTraefik: What = { names: 'service', form: 'hyphen', shared: true }
const copied: What = { names: 'secret', form: 'path' }
const copies = (form: NonNullable<NamingField['form']>): What => ({ names: 'namespace', form, access: 'write' })

const NAMED: readonly (readonly [string, What])[] = [
  [`${NGINX}/auth-tls-secret`, secret],
  [`${NGINX}/auth-secret`, secret],
  [`${NGINX}/proxy-ssl-secret`, secret],
  [`${NGINX}/auth-proxy-set-headers`, configMap],
  [`${NGINX}/fastcgi-params-configmap`, configMap],
  [`${NGINX}/custom-headers`, configMap],
  [`${NGINX}/auth-url`, { ...address, shared: true }],
  [`${NGINX}/mirror-target`, address],
  [`${NGINX}/server-alias`, host],
  [`${HAPROXY}/auth-tls-secret`, secret],
  [`${HAPROXY}/auth-secret`, secret],
  [`${HAPROXY}/secure-crt-secret`, secret],
  [`${HAPROXY}/secure-verify-ca-secret`, secret],
  [`${HAPROXY}/auth-url`, { ...address, shared: true }],
  [`${HAPROXY}/server-alias`, host],
  ['ingress.kubernetes.io/auth-tls-secret', secret],
  ['ingress.kubernetes.io/auth-secret', secret],
  ['haproxy.org/auth-secret', secret],
  ['haproxy.org/server-ca', secret],
  ['haproxy.org/server-crt', secret],
  ['projectcontour.io/tls-cert-namespace', { names: 'namespace' }],
  [`${TRAEFIK}/router.middlewares`, ofTraefik],
  [`${TRAEFIK}/router.tls.options`, ofTraefik],
  [`${TRAEFIK}/service.serverstransport`, ofTraefik],
  ['konghq.com/host-aliases', host],
  ['external-dns.alpha.kubernetes.io/hostname', host],
  ['external-dns.alpha.kubernetes.io/internal-hostname', host],
  ['cert-manager.io/inject-ca-from-secret', secret],
  [`${REFLECTOR}/reflects`, copied],
  [
    `${REFLECTOR}/reflection-auto-enabled`,
    {
      ...copies('switch'),
      limitedBy: `${REFLECTOR}/reflection-auto-namespaces`,
    },
  ],
  [`${REPLICATOR}/replicate-from`, copied],
  [`${REPLICATOR}/replicate-to`, copies('patterns')],
  [`${REPLICATOR}/replicate-to-matching`, { ...copies('everywhere'), orEmpty: true }],
  ['kubed.appscode.com/sync', { ...copies('everywhere'), orEmpty: true }],
  ['kubed.appscode.com/sync-contexts', copies('everywhere')],
  ['k8s.v1.cni.cncf.io/networks', { names: 'object', form: 'path', shared: true }],
  ['v1.multus-cni.io/default-network', { names: 'object', form: 'path', shared: true }],
  ['k8s.io/CloneRequest', { names: 'volume', form: 'path' }],
]

/** What annotations name for the controllers that read them, by their key. */
export const annotations: ReadonlyMap<string, NamingField> = new Map(
  NAMED.map(([key, what]) => [key, { ...what, at: `metadata.annotations.${key.replaceAll('.', '\\.')}` }]),
)
