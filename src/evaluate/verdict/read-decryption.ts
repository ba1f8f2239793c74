import type { SealedFile } from '../../fleet/model/cluster-values.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { isAbsent } from '../../kube/edit-node.ts'
import { at, canonical, type Node, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { serviceKeys } from '../../kube/sops-services.ts'
import type { Decryption } from '../../rules/model/finding.ts'
import { SEALED_FIELDS, SEALED_FILES, SEALED_PATCHES } from '../../rules/model/unknown-values.ts'
import { isSealed, isSopsFile, isSopsValue } from '../../rules/secrets/support/sops.ts'
import { recipientsOf } from '../../rules/secrets/support/sops-recipients.ts'
import { type LeftOut, leftOutOf } from '../applied/left-out.ts'

/** How the encrypted objects of a node are opened, and what keeps the worker from it. */
interface ReadDecryption {
  readonly decryption?: Decryption
  /** What the worker does not open: with any, it applies nothing of the node. */
  readonly refused: readonly string[]
}

/** Kinds of which mostly nothing but values is encrypted. */
const HOLDERS = ['v1 Secret', 'v1 ConfigMap']
const VALUES = ['data', 'stringData', 'binaryData']

/**
 * Reads `spec.decryption` and what is encrypted: objects, patches, and the files that Secrets are generated from. Whoever applies
 * them opens them first, and evaluates them once more. What is known of an object whose values alone are encrypted is enough
 * for what depends on it.
 */
export function readDecryption(
  node: Pick<FleetNode, 'kustomization' | 'objects' | 'sealedFiles' | 'holes' | 'error' | 'inputs'>,
): ReadDecryption {
  const { kustomization, objects, sealedFiles: files = [] } = node
  const spec = at(kustomization.root, ['spec', 'decryption'])
  const sealed = objects.filter(object => (isAbsent(spec) ? isSealed(object) : object.sealed !== undefined))
  const refused = new Set<string>()
  if (sealed.some(object => !isValuesOnly(object))) refused.add(SEALED_FIELDS)
  if (objects.some(isOfSealedFile)) refused.add(SEALED_FILES)
  if (isOnlyPatches(leftOutOf(node), files)) refused.add(SEALED_PATCHES)
  if (sealed.length === 0 && files.length === 0) return { refused: [...refused] }
  const secret = stringAt(spec, ['secretRef', 'name'])
  const services: NonNullable<Decryption['services']>[number][] = []
  for (const object of sealed) {
    const { keys, refused: why } = openersOf(object, secret !== undefined)
    if (why !== undefined) refused.add(why)
    if (keys !== undefined) services.push(keys)
  }
  // Flux decrypts nothing without it
  if (secret === undefined && (files.length > 0 || isAbsent(spec))) refused.add(NO_SECRET)
  if (stringAt(spec, ['serviceAccountName']) !== undefined) refused.add('spec.decryption.serviceAccountName')
  if ((stringAt(spec, ['provider']) ?? 'sops') !== 'sops') refused.add('spec.decryption.provider')
  if ([...refused].some(one => !OPENED_FIRST.has(one))) return { refused: [...refused] }
  const seals = sealed.flatMap(({ sealed: built }) => (built ? canonical(built) : []))
  const decryption: Decryption = {
    ...(secret === undefined ? {} : { secret }),
    ...(services.length > 0 ? { services } : {}),
    seals,
    ...(files.length > 0 ? { files } : {}),
  }
  return { decryption, refused: [...refused] }
}

const OPENED_FIRST: ReadonlySet<string> = new Set([SEALED_FILES, SEALED_FIELDS, SEALED_PATCHES])

/** Whether nothing but encrypted patches was left out of the build, and each of them can be opened. */
const isOnlyPatches = (parts: readonly LeftOut[], files: readonly SealedFile[]) =>
  parts.length > 0 && parts.every(({ error }) => files.some(({ path }) => path === error.sealed))

const blockOf = ({ root, sops }: KubeObject): Node | undefined => sops ?? at(root, ['sops'])

const NO_SECRET = 'SOPS encryption without spec.decryption.secretRef'

/** Keys that only a service opens. */
const SERVICES: ReadonlyMap<string, string> = new Map([
  ['kms', 'AWS KMS'],
  ['gcp_kms', 'GCP KMS'],
  ['azure_kv', 'Azure Key Vault'],
  ['hc_vault', 'HashiCorp Vault'],
  ['hckms', 'Huawei Cloud KMS'],
])

interface Openers {
  /** Of which the operator must list one; absent: a key of the Secret may open it. */
  readonly keys?: NonNullable<Decryption['services']>[number]
  readonly refused?: string
}

function openersOf(object: KubeObject, hasSecret: boolean): Openers {
  const block = blockOf(object)
  const kinds = [...recipientsOf(block).keys()].map(recipient => recipient.slice(0, recipient.indexOf(':')))
  const isByKey = kinds.length === 0 || kinds.some(kind => kind === 'age' || kind === 'pgp')
  if (isByKey && hasSecret) return {}
  const keys = serviceKeys(block).map(({ service, key }) => ({ service, key }))
  if (keys.length > 0) return { keys }
  if (isByKey) return { refused: NO_SECRET }
  const services = [...new Set(kinds.map(kind => SERVICES.get(kind) ?? kind))].sort().join(', ')
  return { refused: `SOPS encryption without an age or PGP recipient (${services})` }
}

function isValuesOnly(object: KubeObject): boolean {
  const { apiVersion, kind } = idOf(object)
  if (!HOLDERS.includes(`${apiVersion} ${kind}`)) return false
  return [...object.root.fields].every(
    ([key, { value }]) => key === 'sops' || VALUES.includes(key) || !holdsSealed(value),
  )
}

function holdsSealed(node: Node): boolean {
  if (node.type === 'scalar') return typeof node.value === 'string' && isSopsValue(node.value)
  if (node.type === 'list') return node.items.some(holdsSealed)
  for (const [key, { value }] of node.fields) if (isSopsValue(key) || holdsSealed(value)) return true
  return false
}

/** kustomize-controller opens files of generators before the build, so that names with a hash of the content differ. */
function isOfSealedFile(object: KubeObject): boolean {
  if (idOf(object).kind !== 'Secret') return false
  const data = at(object.root, ['data'])
  if (data?.type !== 'map') return false
  for (const { value } of data.fields.values()) {
    if (value.type !== 'scalar' || typeof value.value !== 'string') continue
    if (isSopsFile(Buffer.from(value.value, 'base64'))) return true
  }
  return false
}
