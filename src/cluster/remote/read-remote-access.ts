import { BailiwickError } from '../../errors.ts'
import type { KubeConfigSetting } from '../../flux/apply-settings/apply-settings.ts'
import type { Json } from '../../kube/node.ts'
import { apiServerAddress } from '../api-server-address.ts'
import type { Actor, ClusterClient } from '../client.ts'
import { mapAt, stringAt } from '../json-at.ts'
import { type KubeConfigAccess, readKubeConfig } from './read-kubeconfig.ts'

/** Where the kubeConfig of a Kustomization is kept, and as whom that is read. */
interface KubeConfigPlace {
  readonly namespace: string
  readonly ref: KubeConfigSetting
  readonly reader: Actor
}

/** What a kubeConfig gives, and for a token that was asked for: what for, and until when. */
export interface RemoteAccess extends KubeConfigAccess {
  readonly token?: { readonly wanted: string; readonly expiresAt: number }
}

/** What Flux looks for where no key is named (fluxcd/pkg runtime/client/impersonator.go). */
const DEFAULT_KEYS = ['value', 'value.yaml']
/** Before a token ends it is asked for again. */
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
