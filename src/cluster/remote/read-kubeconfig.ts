import { createSecureContext } from 'node:tls'
import { BailiwickError } from '../../errors.ts'
import { at, itemsOf, type Node, stringAt } from '../../kube/node.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'
import { apiServerAddress } from '../api-server-address.ts'
import type { RequestCredentials } from '../credentials.ts'

/** What a kubeconfig gives: where to, and as whom. */
export interface KubeConfigAccess extends RequestCredentials {
  /** See apiServerAddress. */
  readonly server: string
  /** Name to expect in the certificate, where the file says one. */
  readonly serverName: string
}

const MAX_BYTES = 256 * 1024
const TOKEN = /^[\x21-\x7e]{1,16384}$/
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
  ['as', 'would act as somebody else than its credentials'],
  ['as-uid', 'would act as somebody else than its credentials'],
  ['as-groups', 'would act as somebody else than its credentials'],
  ['as-user-extra', 'would act as somebody else than its credentials'],
])

/**
 * The current context of a kubeconfig from a Secret (client-go, tools/clientcmd/api/v1), by an allow-list of fields: a token
 * or a certificate in the file itself, and nothing that runs, reads, redirects, or leaves TLS out. `where` names the Secret.
 * Throws `cluster-invalid` without any value of the file.
 */
export function readKubeConfig(bytes: Uint8Array, where: string): KubeConfigAccess {
  const refuse = (what: string) => unusable(where, what)
  const root = onlyDocument(bytes, refuse)
  onlyFields(root, 'file', '', refuse)
  const current = stringAt(root, ['current-context'])
  if (!current) throw refuse('current-context: not set. Set it to the name of a context')
  const context = entry(root, 'contexts', 'context', current, refuse)
  const cluster = entry(root, 'clusters', 'cluster', stringAt(context, ['cluster']) ?? '', refuse)
  const user = entry(root, 'users', 'user', stringAt(context, ['user']) ?? '', refuse)

  const insecure = at(cluster, ['insecure-skip-tls-verify'])
  if (insecure !== undefined && !isUnset(insecure) && !(insecure.type === 'scalar' && insecure.value === false))
    throw refuse(
      'clusters[].cluster.insecure-skip-tls-verify: not allowed. Allowed: a server whose certificate is checked',
    )
  const server = apiServerAddress(stringAt(cluster, ['server']) ?? '')
  if (server === undefined)
    throw refuse('clusters[].cluster.server: not allowed. Allowed: an https address without user, query and fragment')
  const serverName = stringAt(cluster, ['tls-server-name']) ?? ''
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
  const named = items.filter(item => stringAt(item, ['name']) === name)
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
  const token = stringAt(user, ['token'])
  const [cert, key] = ['client-certificate-data', 'client-key-data'].map(field => {
    const text = stringAt(user, [field])
    if (!text) return undefined
    if (!BASE64.test(text)) throw refuse(`users[].user.${field}: not base64`)
    return Buffer.from(text, 'base64').toString('utf8')
  })
  if (token && !TOKEN.test(token)) throw refuse('users[].user.token: not a token')
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
    // what OpenSSL says may quote the key
    throw refuse('users[].user: client-certificate-data and client-key-data are not a certificate and its key')
  }
  return { headers, tls: { cert, key } }
}

function unusable(where: string, what: string): BailiwickError {
  return new BailiwickError('cluster-invalid', `${where}: ${what}`, {
    fix: 'Write a kubeconfig with the address, and a token or a client certificate.',
  })
}
