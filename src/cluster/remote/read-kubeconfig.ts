import { createSecureContext } from 'node:tls'
import { BailiwickError } from '../../base/errors.ts'
import type { KubeConfigSetting } from '../../flux/apply-settings.ts'
import { at, itemsOf, type Json, type Node, stringAt as yamlStringAt } from '../../kube/node.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'
import type { Actor, ClusterClient } from '../client.ts'
import { apiServerAddress } from '../cluster-settings.ts'
import type { RequestCredentials } from '../credentials.ts'
import { mapAt, stringAt } from '../json.ts'

/** Where the kubeConfig of a Kustomization is kept, and as whom that is read. */
interface KubeConfigPlace {
  readonly namespace: string
  readonly ref: KubeConfigSetting
  readonly reader: Actor
}

/** What a kubeConfig gives, and for a requested token: its purpose and its end. */
export interface RemoteAccess extends KubeConfigAccess {
  readonly token?: { readonly wanted: string; readonly expiresAt: number }
}

/** What Flux looks for where no key is named (fluxcd/pkg runtime/client/impersonator.go). */
const DEFAULT_KEYS = ['value', 'value.yaml']
/** A new token is requested so long before the old one ends. */
const EARLY_MS = 600_000
const MAX_AUDIENCES = 10
const AUDIENCE = /^[\x21-\x7e]{1,1000}$/
const NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/
const TOKEN = /^[\x21-\x7e]{1,65536}$/

/**
 * What `spec.kubeConfig` leads to: a kubeconfig in a Secret, or a token of a service account by the `generic` provider of a
 * ConfigMap, both of the Kustomization's own namespace and read as `reader`. A token that is `known` is used until it ends.
 * Throws `cluster-invalid` or `cluster-forbidden`, without any value of the Secret.
 */
export async function readRemoteAccess(
  home: ClusterClient,
  place: KubeConfigPlace,
  known?: RemoteAccess,
): Promise<RemoteAccess> {
  if (place.ref.kind !== 'Secret') return await fromConfigMap(home, place, known)
  return accessOfSecret(place, await read(home, place, 'secrets'))
}

/** As messages name it. */
export const placeText = ({ namespace, ref }: Pick<KubeConfigPlace, 'namespace' | 'ref'>): string =>
  `${ref.kind} ${namespace}/${ref.name}`

/** The same for a Secret that was already read. */
export function accessOfSecret(place: Omit<KubeConfigPlace, 'reader'>, secret: Json): RemoteAccess {
  const data = mapAt(secret, 'data')
  const { key } = place.ref
  const found = (key === '' ? DEFAULT_KEYS : [key]).find(
    one => typeof data[one] === 'string' && Object.hasOwn(data, one),
  )
  const where = placeText(place)
  if (found === undefined) throw unusable(`${where}: does not have the key ${key || DEFAULT_KEYS.join(' or ')}`)
  return readKubeConfig(Buffer.from(String(data[found]), 'base64'), `${where}, key ${found}`)
}

/** `address`, `audiences` and `serviceAccountName` as fluxcd/pkg auth/generic reads them; `ca.crt` is the operator's. */
async function fromConfigMap(home: ClusterClient, place: KubeConfigPlace, known?: RemoteAccess): Promise<RemoteAccess> {
  const where = placeText(place)
  const data = mapAt(await read(home, place, 'configmaps'), 'data')
  const text = (key: string) => (Object.hasOwn(data, key) && typeof data[key] === 'string' ? data[key] : '')
  const provider = text('provider')
  if (provider !== 'generic')
    throw unusable(`${where}: the provider ${JSON.stringify(provider.slice(0, 50))} is not supported. Allowed: generic`)
  const server = apiServerAddress(text('address'))
  if (server === undefined)
    throw unusable(`${where}, key address: not allowed. Allowed: an https address without user, query and fragment`)
  const account = text('serviceAccountName')
  if (!NAME.test(account)) throw unusable(`${where}, key serviceAccountName: not the name of a service account`)
  const written = text('audiences')
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
  const audiences = written.length === 0 ? [text('address')] : written
  if (audiences.length > MAX_AUDIENCES || !audiences.every(one => AUDIENCE.test(one)))
    throw unusable(`${where}, key audiences: not at most ${MAX_AUDIENCES} lines without spaces`)
  const wanted = JSON.stringify([server, account, audiences])
  if (known?.token?.wanted === wanted && known.token.expiresAt - EARLY_MS > Date.now()) return known
  const path = `${collection(place.namespace, 'serviceaccounts')}/${account}/token`
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences } }
  const answer = await home.request(place.reader, 'POST', path, { body })
  const token = stringAt(answer.body, 'status', 'token')
  if (answer.status === 404 || !TOKEN.test(token))
    throw unusable(`${where}: there is no service account ${place.namespace}/${account}`)
  const expiresAt = Date.parse(stringAt(answer.body, 'status', 'expirationTimestamp')) || 0
  const headers = { Authorization: `Bearer ${token}` }
  return { server, serverName: '', headers, tls: {}, token: { wanted, expiresAt } }
}

async function read(home: ClusterClient, place: KubeConfigPlace, plural: 'secrets' | 'configmaps') {
  const path = `${collection(place.namespace, plural)}/${encodeURIComponent(place.ref.name)}`
  const { status, body } = await home.request(place.reader, 'GET', path)
  if (status === 404) throw unusable(`${placeText(place)}, which spec.kubeConfig names: does not exist`)
  return body
}

const collection = (namespace: string, plural: string) =>
  `/api/v1/namespaces/${encodeURIComponent(namespace)}/${plural}`

function unusable(what: string): BailiwickError {
  return new BailiwickError('cluster-invalid', what, {
    fix: 'Correct spec.kubeConfig of the Kustomization, or what it names.',
  })
}

/** What a kubeconfig gives: where to, and as whom. */
interface KubeConfigAccess extends RequestCredentials {
  /** See apiServerAddress. */
  readonly server: string
  /** Name to expect in the certificate, where the file has one. */
  readonly serverName: string
}

const MAX_BYTES = 256 * 1024
const KUBECONFIG_TOKEN = /^[\x21-\x7e]{1,16384}$/
const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/

/** Fields by part. What is not listed is refused, so that nothing of a later version slips in. */
const FIELDS = {
  file: ['apiVersion', 'kind', 'preferences', 'extensions', 'clusters', 'users', 'contexts', 'current-context'],
  context: ['cluster', 'user', 'namespace', 'extensions'],
  cluster: [
    'server',
    'certificate-authority-data',
    'tls-server-name',
    'insecure-skip-tls-verify',
    'disable-compression',
    'extensions',
  ],
  user: ['token', 'client-certificate-data', 'client-key-data', 'extensions'],
} as const

/** Why these are refused, in their own words; every other unknown field is "not supported". */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['exec', 'would run a program in this process'],
  ['auth-provider', 'would load a plugin for credentials'],
  ['tokenFile', 'would read a file of this process'],
  ['client-certificate', 'would read a file of this process'],
  ['client-key', 'would read a file of this process'],
  ['certificate-authority', 'would read a file of this process'],
  ['proxy-url', 'would send requests to another address'],
  ['as', 'would act as another user than its credentials'],
  ['as-uid', 'would act as another user than its credentials'],
  ['as-groups', 'would act as another user than its credentials'],
  ['as-user-extra', 'would act as another user than its credentials'],
])

/**
 * The current context of a kubeconfig from a Secret (client-go, tools/clientcmd/api/v1), by an allow-list of fields: a token
 * or a certificate in the file itself, and nothing that runs, reads, redirects, or leaves TLS out. `where` names the Secret.
 * Throws `cluster-invalid` without any value of the file.
 */
export function readKubeConfig(bytes: Uint8Array, where: string): KubeConfigAccess {
  const refuse = (what: string) => unusableKubeconfig(where, what)
  const root = onlyDocument(bytes, refuse)
  onlyFields(root, 'file', '', refuse)
  const current = yamlStringAt(root, ['current-context'])
  if (!current) throw refuse('current-context: not set. Set it to the name of a context')
  const context = entry(root, 'contexts', 'context', current, refuse)
  const cluster = entry(root, 'clusters', 'cluster', yamlStringAt(context, ['cluster']) ?? '', refuse)
  const user = entry(root, 'users', 'user', yamlStringAt(context, ['user']) ?? '', refuse)

  const insecure = at(cluster, ['insecure-skip-tls-verify'])
  if (insecure !== undefined && !isUnset(insecure) && !(insecure.type === 'scalar' && insecure.value === false))
    throw refuse(
      'clusters[].cluster.insecure-skip-tls-verify: not allowed. Allowed: a server whose certificate is checked',
    )
  const server = apiServerAddress(yamlStringAt(cluster, ['server']) ?? '')
  if (server === undefined)
    throw refuse('clusters[].cluster.server: not allowed. Allowed: an https address without user, query and fragment')
  const serverName = yamlStringAt(cluster, ['tls-server-name']) ?? ''
  return { server, serverName, ...credentials(user, refuse) }
}

type Refuse = (what: string) => BailiwickError

function onlyDocument(bytes: Uint8Array, refuse: Refuse): Node {
  if (bytes.length > MAX_BYTES) throw refuse(`larger than ${MAX_BYTES} bytes`)
  let documents: readonly Node[]
  try {
    documents = parseDocuments({ repository: '', path: 'kubeconfig' }, bytes)
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    // its message may quote a line of the file
    throw refuse(`not a kubeconfig: ${error.code}${error.origin ? ` at line ${error.origin.line}` : ''}`)
  }
  const [root] = documents
  if (documents.length !== 1 || root?.type !== 'map') throw refuse('not a kubeconfig: it is not one YAML map')
  return root
}

function entry(root: Node, list: string, part: 'context' | 'cluster' | 'user', name: string, refuse: Refuse): Node {
  const items = itemsOf(at(root, [list]))
  const named = items.filter(item => yamlStringAt(item, ['name']) === name)
  const value = named[0] && at(named[0], [part])
  if (name === '' || named.length !== 1 || value?.type !== 'map')
    throw refuse(`${list}: not exactly one entry for the current context. Allowed: one`)
  onlyFields(value, part, `${list}[].${part}.`, refuse)
  return value
}

function onlyFields(node: Node, part: keyof typeof FIELDS, prefix: string, refuse: Refuse): void {
  const allowed: readonly string[] = FIELDS[part]
  for (const [key, { value }] of node.type === 'map' ? node.fields : []) {
    if (allowed.includes(key) || isUnset(value)) continue
    // a name that is not known may be a value in the wrong place
    const shown = /^[A-Za-z-]{1,40}$/.test(key) ? key : '?'
    throw refuse(`${prefix}${shown}: ${REFUSED.get(key) ?? 'not supported'}. Allowed: ${allowed.join(', ')}`)
  }
}

/** Written, but with the value that says nothing. */
const isUnset = (node: Node): boolean => node.type === 'scalar' && (node.value === null || node.value === '')

function credentials(user: Node, refuse: Refuse): RequestCredentials {
  const token = yamlStringAt(user, ['token'])
  const [cert, key] = ['client-certificate-data', 'client-key-data'].map(field => {
    const text = yamlStringAt(user, [field])
    if (!text) return undefined
    if (!BASE64.test(text)) throw refuse(`users[].user.${field}: not base64`)
    return Buffer.from(text, 'base64').toString('utf8')
  })
  if (token && !KUBECONFIG_TOKEN.test(token)) throw refuse('users[].user.token: not a token')
  if ((cert === undefined) !== (key === undefined))
    throw refuse(
      'users[].user: a certificate without its key. Allowed: both of client-certificate-data, client-key-data',
    )
  if (!token && cert === undefined)
    throw refuse('users[].user: no credentials. Allowed: token, or client-certificate-data with client-key-data')
  const headers: Record<string, string> = token ? { Authorization: `Bearer ${token}` } : {}
  if (cert === undefined || key === undefined) return { headers, tls: {} }
  try {
    createSecureContext({ cert, key })
  } catch {
    // OpenSSL's message may quote the key
    throw refuse('users[].user: client-certificate-data and client-key-data are not a certificate and its key')
  }
  return { headers, tls: { cert, key } }
}

function unusableKubeconfig(where: string, what: string): BailiwickError {
  return new BailiwickError('cluster-invalid', `${where}: ${what}`, {
    fix: 'Write a kubeconfig with the address, and a token or a client certificate.',
  })
}
