import { at, itemsOf, type MapNode, type Node, stringAt } from './node.ts'
import type { KubeObject } from './object.ts'

const VALUE =
  /^ENC\[AES256_GCM,data:[A-Za-z0-9+/]*={0,2},iv:[A-Za-z0-9+/]+={0,2},tag:[A-Za-z0-9+/]+={0,2},type:(?:str|int|float|bool|bytes|time|comment)\]$/

/** Whether text has the form of a value that SOPS encrypted. */
export const isSealedValue = (text: string): boolean => text.startsWith('ENC[') && VALUE.test(text)

/** What SOPS binds a value to: the names on the way to it. A list adds nothing. */
export const sealedPlace = (path: readonly string[]): string => `${path.join(':')}:`

/** By which an encrypted value is found again: it cannot be opened at another place. */
export const sealedId = (path: readonly string[], text: string): string => JSON.stringify([sealedPlace(path), text])

const SWITCH = 'kustomize.toolkit.fluxcd.io/decrypt'

/**
 * What SOPS wrote beside the values of an object that kustomize-controller decrypts after the build (internal/decryptor,
 * isSOPSEncryptedResource); undefined for one that it leaves as it is.
 */
export function sealOf({ root }: Pick<KubeObject, 'root'>): MapNode | undefined {
  const block = root.fields.get('sops')?.value
  if (block?.type !== 'map' || isNothing(at(block, ['mac']))) return undefined
  return isLeftSealed({ root }) ? undefined : block
}

/** Whether an object says that kustomize-controller shall not decrypt it. */
export const isLeftSealed = ({ root }: Pick<KubeObject, 'root'>): boolean =>
  stringAt(root, ['metadata', 'annotations', SWITCH])?.toLowerCase() === 'disabled'

function isNothing(node: Node | undefined): boolean {
  if (!node) return true
  if (node.type === 'scalar') return node.value === null || node.value === ''
  return node.type === 'list' ? node.items.length === 0 : node.fields.size === 0
}

/** What SOPS writes beside what it has encrypted, in each of its formats (kustomize-controller looks for the same). */
const MARKERS = ['sops_mac=ENC[', '"mac": "ENC[', '"mac":"ENC[', 'mac: ENC[', "mac: 'ENC[", 'mac: "ENC[']

/** Whether text or bytes are a file that SOPS encrypted, for kustomize-controller. */
export function isSopsEncrypted(content: { includes(text: string): boolean }): boolean {
  return MARKERS.some(marker => content.includes(marker)) || (content.includes('[sops]') && content.includes('ENC['))
}

/** Whether kustomize-controller decrypts an object as a whole, whatever its kind: it has a field `sops`. */
export const isDecrypted = ({ root, sops }: KubeObject): boolean => sops !== undefined || root.fields.has('sops')

/** Formats of encrypted files that the worker opens. */
export type SopsFormat = 'dotenv' | 'json' | 'yaml' | 'binary'

/**
 * As which format kustomize-controller opens a file before the build, by the path or key that a generator gives it (sops
 * formats.FormatForPath); undefined: as INI, which is not known how to write as it does.
 */
export function sopsFormatOf(path: string): SopsFormat | undefined {
  if (path.endsWith('.ini')) return undefined
  if (/\.ya?ml$/.test(path)) return 'yaml'
  if (/\.(?:json|dockerconfigjson)$/.test(path)) return 'json'
  return path.endsWith('.env') ? 'dotenv' : 'binary'
}

const MARKS: Readonly<Record<SopsFormat, string>> = {
  dotenv: 'sops_mac=ENC[',
  json: '"mac": "ENC[',
  yaml: 'mac: ENC[',
  binary: '"mac": "ENC[',
}

/** What tells it that a file of the format is encrypted: without, it stays as it is. */
export const hasSopsMark = (format: SopsFormat, text: string): boolean => text.includes(MARKS[format])

/** The services whose keys the worker can use. */
export const KEY_SERVICES = ['aws', 'gcp', 'vault', 'azure'] as const

export type KeyService = (typeof KEY_SERVICES)[number]

/** A key of a service to which SOPS encrypted a data key, as the file names it: a tenant may have written all of it. */
export interface ServiceKey {
  readonly service: KeyService
  /**
   * AWS: the ARN, with `+<role>` where the file asks for one. GCP: the resource id. Azure: the address of the key with its
   * version. Vault: the address of the key.
   */
  readonly key: string
  /** The encrypted data key. */
  readonly enc: string
  /** Encryption context of AWS. */
  readonly context?: Readonly<Record<string, string>>
}

/** A key that the operator lists. */
export interface ListedKey {
  readonly service: KeyService
  /** As in ServiceKey; of Azure without a version: any. */
  readonly key: string
  /** The only namespaces whose Kustomizations may use it. */
  readonly namespaces: readonly string[]
}

/** Whether a Kustomization in `namespace` may use the key: exactly as it is listed, in no other spelling. */
export function isListedFor(
  listed: ListedKey,
  { service, key }: Pick<ServiceKey, 'service' | 'key'>,
  namespace: string,
) {
  if (listed.service !== service || !listed.namespaces.includes(namespace)) return false
  if (listed.key === key) return true
  return service === 'azure' && listed.key === key.replace(AZURE_VERSION, '$1')
}

const AZURE_VERSION = /^(.{1,300}\/keys\/[^/]{1,127})\/[0-9a-f]{32}$/

/** How messages name the services. */
export const SERVICE_NAMES: Readonly<Record<KeyService, string>> = {
  aws: 'AWS KMS',
  gcp: 'GCP KMS',
  vault: 'HashiCorp Vault',
  azure: 'Azure Key Vault',
}

/**
 * The keys of services in the `sops` block of a document (getsops/sops, stores). `aws_profile` is left out: it names
 * credentials on the machine where it was encrypted.
 */
export function serviceKeys(block: Node | undefined): ServiceKey[] {
  const parts = [block, ...itemsOf(at(block, ['key_groups']))]
  return parts.flatMap(part =>
    READERS.flatMap(([field, read]) => {
      const items = itemsOf(at(part, [field]))
      return items.map(read).filter(one => one !== undefined)
    }),
  )
}

const READERS: readonly (readonly [string, (item: Node) => ServiceKey | undefined])[] = [
  ['kms', awsKey],
  ['gcp_kms', item => keyOf('gcp', item, textAt(item, 'resource_id'))],
  ['hc_vault', vaultKey],
  ['azure_kv', azureKey],
]

function awsKey(item: Node): ServiceKey | undefined {
  const [arn, role] = [textAt(item, 'arn'), at(item, ['role'])]
  const isPlain = role === undefined || (role.type === 'scalar' && (role.value === null || role.value === ''))
  const found = keyOf('aws', item, arn === '' || isPlain ? arn : `${arn}+${textAt(item, 'role')}`)
  const context = contextOf(at(item, ['context']))
  return found && context && { ...found, ...(Object.keys(context).length === 0 ? {} : { context }) }
}

/** Undefined for a context that AWS does not know: texts only. */
function contextOf(node: Node | undefined): Record<string, string> | undefined {
  if (node === undefined || (node.type === 'scalar' && node.value === null)) return {}
  if (node.type !== 'map') return undefined
  const entries: [string, string][] = []
  for (const [name, { value }] of node.fields) {
    if (value.type !== 'scalar' || typeof value.value !== 'string') return undefined
    entries.push([name, value.value])
  }
  return Object.fromEntries(entries)
}

function vaultKey(item: Node): ServiceKey | undefined {
  const [address, engine, name] = ['vault_address', 'engine_path', 'key_name'].map(field => textAt(item, field))
  return address && engine && name
    ? keyOf('vault', item, `${address.replace(/\/$/, '')}/v1/${engine}/keys/${name}`)
    : undefined
}

function azureKey(item: Node): ServiceKey | undefined {
  const [address, name, version] = ['vault_url', 'name', 'version'].map(field => textAt(item, field))
  return address && name ? keyOf('azure', item, `${address.replace(/\/$/, '')}/keys/${name}/${version}`) : undefined
}

function keyOf(service: KeyService, item: Node, key: string): ServiceKey | undefined {
  const enc = textAt(item, 'enc')
  return key === '' || enc === '' ? undefined : { service, key, enc }
}

function textAt(item: Node, field: string): string {
  const node = at(item, [field])
  return node?.type === 'scalar' && typeof node.value === 'string' ? node.value : ''
}

/** By what the worker proves who it is; files are absolute paths, read again for each use. */
export type KmsCredentials =
  | { readonly type: 'file'; readonly file: string }
  | { readonly type: 'web-identity'; readonly role: string; readonly tokenFile: string }
  | { readonly type: 'metadata' }
  | {
      readonly type: 'azure'
      readonly tenantId: string
      readonly clientId: string
      readonly clientSecretFile?: string
      readonly federatedTokenFile?: string
    }

/** A key of a service by which Kustomizations of these namespaces are decrypted. */
export interface KmsKey extends ListedKey {
  readonly credentials: KmsCredentials
}
