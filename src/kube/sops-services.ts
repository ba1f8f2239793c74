import { at, itemsOf, type Node } from './node.ts'

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
 * credentials on the machine of whoever encrypted it.
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
