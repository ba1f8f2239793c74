import { message, part, untyped } from '../../base/message.ts'
import { type FleetIndex, namespaceLabels } from '../../fleet/facts/fleet-index.ts'
import { kindOf, type Naming, type NamingOfKinds, type Rendered } from '../../fleet/facts/object-table.ts'
import { quoted, shownObject } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { withEmbedded } from '../../kube/capabilities/embedded-objects.ts'
import { EMBEDDINGS, type EmbeddedPlace } from '../../kube/capabilities/embeddings.ts'
import { namesReadBy, readingKinds } from '../../kube/capabilities/named-values.ts'
import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { readLabelSelector, selects, textsOf } from '../../kube/read-fields.ts'
import type { Rule, RuleContext, Subject, Violation } from '../model/rule.ts'

/** Objects that the platform or Kubernetes puts into namespaces, by kind. */
const KNOWN: ReadonlyMap<string, readonly string[]> = new Map([
  [
    '/ConfigMap',
    [
      'flux-runtime-info',
      'kube-root-ca.crt',
      'openshift-service-ca.crt',
      'istio-ca-root-cert',
      'linkerd-identity-trust-roots',
    ],
  ],
  ['/Secret', []],
])

/** Tenants do not write values and credentials that the platform's objects read. */
export const protectedObjectName: Rule = {
  id: 'protected-object-name',
  severity: 'high',
  title: 'Name of a platform object',
  why: "The platform's Kustomization, source or release reads a ConfigMap or Secret of this name here. A tenant that writes it supplies variables, credentials or a cluster to the platform.",
  source: 'd1-fleet: flux-runtime-info',
  docs: "Rename the object. Only the platform writes objects that the platform reads in the tenant's namespace. An object that a controller creates for a tenant's ExternalSecret, SealedSecret or Certificate counts as the tenant's.",
  kinds: [...KNOWN.keys()],
  *checkTenantObject(subject, context) {
    const { id, kind, node } = subject
    if (!context.index.owns(node.cluster, node.tenant, id.namespace)) return
    const reader = KNOWN.get(kind)!.includes(id.name) ? 'the platform or Kubernetes' : readBy(subject, context)
    if (reader === undefined) return
    yield subject.violation(['metadata', 'name'], id.name, {
      message: message`${subject.who} would replace an object that ${untyped(reader)} reads or writes. Allowed: another name. Flux and the API server accept it.`,
      fix: message`Rename the ${part('object', id.kind)}.`,
    })
  },
}

function readBy({ id, node, object }: Subject, { index, config }: RuleContext): string | undefined {
  const declared = config.substituteFrom.some(
    one =>
      one.kind === id.kind &&
      one.name === id.name &&
      one.namespace === id.namespace &&
      (one.cluster ?? node.cluster) === node.cluster,
  )
  // the rule kubeconfig-content evaluates a kubeconfig with visible content
  const isSeen = ['data', 'stringData'].some(field => at(object.root, [field]) !== undefined)
  const isKubeConfig = id.kind === 'Secret' && !isSeen && config.allowedKubeConfigs.includes(id.name)
  if (declared || isKubeConfig) return "the fleet's file"
  const [reader] = platformReaders(
    index,
    node.cluster,
    id.namespace,
    id.kind === 'Secret' ? 'Secret' : 'ConfigMap',
    id.name,
  )
  if (reader) return `the platform's ${readerName(reader)}`
  const isProxys = id.kind === 'Secret' && index.proxyKubeConfigs(node.cluster, id.namespace).includes(id.name)
  return isProxys ? 'the platform' : undefined
}

const GROUP = 'external-secrets.io'
const GRANT = 'gateway.networking.k8s.io/ReferenceGrant'

/** Only namespaces that the platform's store names use its Secrets. */
export const externalSecretClusterStore: Rule = {
  id: 'external-secret-cluster-store',
  severity: 'high',
  level: 'warning',
  title: 'Secrets from a cluster-wide store',
  why: "A ClusterSecretStore signs in with the platform's account for all tenants. A tenant that names it can read every path that this account can read. A ReferenceGrant without limits exposes the tenant's Secrets in the same way.",
  source: 'external-secrets docs, "ClusterSecretStore" and "Multi tenancy"; Gateway API, ReferenceGrant',
  docs: "Use a SecretStore in the tenant's namespace with an account of the tenant. Or ask a fleet admin to list the tenant's namespaces in `spec.conditions` of the ClusterSecretStore.",
  kinds: [`${GROUP}/ExternalSecret`, `${GROUP}/PushSecret`, GRANT],
  *checkTenantObject(subject, context) {
    if (subject.kind === GRANT) yield* evaluateGrant(subject)
    else yield* evaluateStores(subject, context)
  },
}

function* evaluateStores(subject: Subject, context: RuleContext): Iterable<Violation> {
  const places: Path[] = [
    ['spec', 'secretStoreRef'],
    ...subject.items(['spec', 'secretStoreRefs', '*']),
    ...['data', 'dataFrom'].flatMap(field =>
      subject.items(['spec', field, '*']).map(path => [...path, 'sourceRef', 'storeRef']),
    ),
  ]
  for (const place of places) {
    const kind = subject.text([...place, 'kind'])
    const name = subject.text([...place, 'name']) ?? ''
    if (kind !== 'ClusterSecretStore' || isGiven(subject, context, name)) continue
    yield subject.violation([...place, 'kind'], `ClusterSecretStore ${name}`, {
      message: message`${subject.who} uses ClusterSecretStore ${quoted('object', name)}. That store reads with the platform's account and is not limited to the tenant's namespaces. Allowed: a SecretStore, or a ClusterSecretStore limited to them.`,
      fix: message`Replace it with a SecretStore in the tenant's namespace.`,
    })
  }
}

/** Whether the platform's store names this namespace among those that may use it. */
function isGiven({ id, node }: Subject, { index }: RuleContext, name: string): boolean {
  const store = index.platformObject(node.cluster, `${GROUP}/ClusterSecretStore`, '', name)
  const conditions = at(store?.root, ['spec', 'conditions'])
  if (conditions?.type !== 'list') return false
  return conditions.items.some(condition => {
    if ((textsOf(at(condition, ['namespaces'])) ?? []).includes(id.namespace)) return true
    const written = at(condition, ['namespaceSelector'])
    const selector = written && readLabelSelector(written)
    if (!selector || selector.length === 0) return false
    return selects(selector, namespaceLabels(index, node.cluster, id.namespace))
  })
}

function* evaluateGrant(subject: Subject): Iterable<Violation> {
  for (const path of subject.items(['spec', 'from', '*'])) {
    const namespace = subject.text([...path, 'namespace'])?.trim() ?? ''
    if (namespace !== '' && !namespace.includes('*')) continue
    const problem = message`${subject.who} admits every namespace. Allowed: namespaces by name.`
    const fix = message`Set from[].namespace to the namespace that may refer to this one.`
    yield subject.violation([...path, 'namespace'], namespace, { message: problem, fix })
  }
}

/** Why a Secret of a tenant's namespace is the platform's. */
interface PlatformSecret {
  /** `GitRepository dev-team reads it`. */
  readonly why: string
  /** It is not visible, and only its name suggests it. */
  readonly isGuess: boolean
}

const isSecret = (object: KubeObject) => kindOf(object) === '/Secret'
const isForm = ({ form }: EmbeddedPlace) => typeof form === 'object' && 'kind' in form && form.kind === '/v1/Secret'
const WRITERS = ['/Secret', ...Object.keys(EMBEDDINGS).filter(kind => EMBEDDINGS[kind]!.some(isForm))]
/** The Secrets that objects of the platform are, or that controllers write for them. */
const WRITTEN: Naming = {
  id: 'platform writes secret',
  of: ({ node, object }) =>
    node.tenant === undefined
      ? withEmbedded(object)
          .filter(isSecret)
          .map(one => `${idOf(one).namespace}/${idOf(one).name}`)
      : [],
}

/** What reads or writes a Secret for the platform; undefined if nothing does, whatever its name is. */
export function platformSecret(
  index: FleetIndex,
  node: FleetNode,
  namespace: string,
  name: string,
): PlatformSecret | undefined {
  const { cluster } = node
  const [reader] = platformReaders(index, cluster, namespace, 'Secret', name)
  if (reader) return { why: `${readerName(reader)} reads it`, isGuess: false }
  // even if the tenant renders one of this name: the addon overwrites it
  const homes = index.capsuleHomes(cluster)
  const accounts = (node.tenant === undefined ? [] : index.namespacesOf(cluster, node.tenant)).flatMap(
    home => homes.get(home) ?? [],
  )
  if (accounts.some(account => name === `${account}-kubeconfig` || name === `${account}-token`)) {
    return { why: "Capsule's addon or the worker writes it", isGuess: false }
  }
  if (isOwnSecret(index, node, namespace, name)) return undefined
  const text = `${namespace}/${name}`
  const [writer] = WRITERS.flatMap(kind => index.foundAnywhere(cluster, kind, WRITTEN, text))
  if (writer) {
    const why = isSecret(writer.object) ? 'the platform renders it' : `${readerName(writer)} of the platform writes it`
    return { why, isGuess: false }
  }
  const account = tokenOf(index, cluster, namespace, name)
  return account === undefined ? undefined : { why: `it may hold the token of account ${account}`, isGuess: true }
}

/** The account as which Flux acts in a namespace, where a Secret is called as its token is, by people and by Kubernetes. */
function tokenOf(index: FleetIndex, cluster: string, namespace: string, name: string): string | undefined {
  const parts = name.split('-')
  return parts
    .map((_, count) => parts.slice(0, count).join('-'))
    .find(account => {
      const rest = name.slice(account.length)
      return /^-(?:token|kubeconfig)(?:-[a-z0-9]{5})?$/.test(rest) && index.reconciler(cluster, namespace, account)
    })
}

type Read = 'Secret' | 'ConfigMap'

const textOf = (kind: string, name: string) => `${kind} ${name}`

/** What an object of the platform reads; a name in a reference counts also where the table has no place for it. */
const PLATFORM: NamingOfKinds = {
  kinds: readingKinds,
  id: 'platform reads',
  of: ({ node, object }) =>
    node.tenant === undefined
      ? [...namesReadBy(object).map(one => textOf(one.kind, one.name)), ...namesIn(at(object.root, ['spec']))]
      : [],
}
/** Every use of a Secret that is not decryption. */
const USED: NamingOfKinds = {
  kinds: readingKinds,
  id: 'uses secret',
  of: ({ object }) =>
    namesReadBy(object).flatMap(one => (one.kind === 'Secret' && !one.decrypts ? [textOf('Secret', one.name)] : [])),
}

/** The objects of the platform that read a Secret or ConfigMap of a namespace. */
export function platformReaders(index: FleetIndex, cluster: string, namespace: string, kind: Read, name: string) {
  return readersBy(index, cluster, namespace, PLATFORM, textOf(kind, name))
}

/** What else a Secret is used for: `GitRepository dev-team`; undefined where nothing in its namespace names it. */
export function otherUse(index: FleetIndex, cluster: string, namespace: string, name: string): string | undefined {
  const [first] = readersBy(index, cluster, namespace, USED, textOf('Secret', name))
  return first && readerName(first)
}

/** The reader of a value, for a message: `GitRepository dev-team`. */
function readerName({ object }: Rendered): string {
  return shownObject(stringAt(object.root, ['kind']) ?? '', '', stringAt(object.root, ['metadata', 'name']) ?? '')
}

function readersBy(
  index: FleetIndex,
  cluster: string,
  namespace: string,
  naming: NamingOfKinds,
  text: string,
): Rendered[] {
  // most names are read by nothing: one answer for all of a namespace
  if (!index.textsOf(cluster, namespace, naming).has(text)) return []
  return naming.kinds.flatMap(kind => index.found(cluster, kind, namespace, naming, text))
}

/** `secretRef: {name}`, `configMapRef: {name}`, or `{kind, name}` of values. */
function* namesIn(node: Node | undefined): Generator<string> {
  if (!node || node.type === 'scalar') return
  if (node.type === 'list') {
    for (const item of node.items) yield* namesIn(item)
    return
  }
  const [kind, name] = [stringAt(node, ['kind']), stringAt(node, ['name'])]
  if (kind !== undefined && name !== undefined) yield textOf(kind, name)
  for (const [key, { value }] of node.fields) {
    const field = key.toLowerCase()
    const referred = stringAt(value, ['name'])
    for (const one of ['Secret', 'ConfigMap']) {
      if (referred !== undefined && field.endsWith(`${one.toLowerCase()}ref`)) yield textOf(one, referred)
    }
    yield* namesIn(value)
  }
}

/** Whether a tenant itself renders a Secret, or what a controller writes it for (src/kube/capabilities/embeddings.ts). */
export function isOwnSecret(
  index: FleetIndex,
  { cluster, tenant }: Pick<FleetNode, 'cluster' | 'tenant'>,
  namespace: string,
  name: string,
): boolean {
  return index.versionsOf(cluster, '/Secret', namespace, name).some(({ node }) => node.tenant === tenant)
}
