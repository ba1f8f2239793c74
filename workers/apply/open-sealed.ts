import { createHash } from 'node:crypto'
import { BailiwickError } from '../../src/base/errors.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { idOf, mapAt, parseExact } from '../../src/cluster/json.ts'
import type { Kms } from '../../src/cluster/open-kms.ts'
import type { NodeValues } from '../../src/fleet/model/fleet.ts'
import { nodeOf } from '../../src/fleet/model/kustomization-spec.ts'
import { decryptFile } from '../../src/flux/sops/decrypt-file.ts'
import { decryptObject, type Identities } from '../../src/flux/sops/decrypt-object.ts'
import { at, canonical, type Json, type ScalarValue } from '../../src/kube/node.ts'
import { display } from '../../src/kube/object.ts'
import type { EvaluatedNode } from '../../src/rules/model/finding.ts'

const MAX_FILES = 64
const MAX_FILE_BYTES = 5 * 1024 * 1024
const MAX_OBJECTS = 1_000
const NOWHERE = { repository: '', file: '', line: 0, column: 0 }

type Sealed = Pick<NodeValues, 'files' | 'sealed'>

/**
 * Decrypts the objects of a node, its patches, and the files of its generated Secrets: with keys that its account may
 * read, so that no tenant can use those of another, and with services that are listed for its namespace. What was
 * opened before is not opened again. Throws `cluster-invalid` or `cluster-forbidden`, without any value.
 */
export async function openSealed(
  client: ClusterClient,
  node: EvaluatedNode,
  kms?: Kms,
  memory?: OpenedMemory,
): Promise<Sealed> {
  const { decryption } = node
  if (!decryption) return { files: new Map(), sealed: new Map() }
  const { secret, files = [], seals } = decryption
  const what = { user: node.user, namespace: node.namespace, secret, files, seals }
  const known = memory?.get(node.key, what)
  if (known) return known
  if (files.length > MAX_FILES) throw tooMuch(`more than ${MAX_FILES} encrypted files`)
  if (seals.length > MAX_OBJECTS) throw tooMuch(`more than ${MAX_OBJECTS} encrypted objects`)
  const large = files.find(({ text }) => Buffer.byteLength(text) > MAX_FILE_BYTES)
  if (large) throw tooMuch(`${large.path.slice(0, 200)} has more than ${MAX_FILE_BYTES} bytes`)
  const identities = await identitiesOf(client, node, secret, kms)
  const opened = { files: await openFiles(files, identities), sealed: await openObjects(seals, identities) }
  memory?.keep(node.key, what, opened)
  return opened
}

async function openFiles(
  files: NonNullable<NonNullable<EvaluatedNode['decryption']>['files']>,
  identities: Identities,
): Promise<Sealed['files']> {
  const plain = new Map<string, Uint8Array>()
  for (const { path, format, text } of files) {
    plain.set(path, await named(path.slice(0, 200), () => decryptFile(text, format, identities)))
  }
  return plain
}

async function openObjects(seals: readonly string[], identities: Identities): Promise<Sealed['sealed']> {
  const sealed = new Map<string, Map<string, ScalarValue>>()
  for (const text of seals) {
    const object = parseExact(text)
    const root = nodeOf(object, NOWHERE)
    if (root.type !== 'map') continue
    const values = await named(display(idOf(object)), () => decryptObject(root, identities))
    const block = canonical(at(root, ['sops'])!)
    const own = sealed.get(block) ?? new Map()
    sealed.set(block, own)
    for (const [id, value] of values) own.set(id, value)
  }
  return sealed
}

async function named<T>(what: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    throw new BailiwickError('cluster-invalid', `${what} ${error.message}`, { fix: error.fix })
  }
}

function tooMuch(what: string): BailiwickError {
  return new BailiwickError('cluster-invalid', what, { fix: 'Use fewer or smaller files.' })
}

const MAX_BYTES = 16 * 1024 * 1024

type Opened = Pick<NodeValues, 'files' | 'sealed'>

interface Kept {
  readonly digest: string
  readonly opened: Opened
  readonly bytes: number
}

/**
 * The decrypted content of each node, so that keys and services are used only when something encrypted changed. What
 * does not fit is decrypted anew.
 */
export class OpenedMemory {
  readonly #kept = new Map<string, Kept>()
  readonly #limit: number
  #bytes = 0

  constructor(limit: number = MAX_BYTES) {
    this.#limit = limit
  }

  /** The kept content of the node, if it is about the same `what`. */
  get(node: string, what: unknown): Opened | undefined {
    const kept = this.#kept.get(node)
    return kept?.digest === digestOf(what) ? kept.opened : undefined
  }

  keep(node: string, what: unknown, opened: Opened): void {
    this.forget(node)
    const bytes = bytesOf(opened)
    if (this.#bytes + bytes > this.#limit) return
    this.#bytes += bytes
    this.#kept.set(node, { digest: digestOf(what), opened, bytes })
  }

  /** Forgets nodes that are not among these. */
  retain(nodes: ReadonlySet<string>): void {
    for (const node of this.#kept.keys()) if (!nodes.has(node)) this.forget(node)
  }

  /** Its keys may have changed. */
  forget(node: string): void {
    this.#bytes -= this.#kept.get(node)?.bytes ?? 0
    this.#kept.delete(node)
  }
}

const digestOf = (what: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(what as Json))
    .digest('hex')

function bytesOf({ files, sealed }: Opened): number {
  let bytes = 0
  for (const plain of files.values()) bytes += plain.length
  for (const [block, values] of sealed) {
    bytes += block.length
    for (const [id, value] of values) bytes += id.length + (typeof value === 'string' ? value.length : 16)
  }
  return bytes
}

const MAX_KEYS = 32
const MAX_KEY_BYTES = 64 * 1024
const AGE_KEY = /^AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{50,200}$/

interface Reader {
  readonly user: string
  /** Of the Kustomization. */
  readonly namespace: string
}

/** All keys for what a Kustomization holds: those of its Secret, and those of services that are listed for it. */
async function identitiesOf(
  client: ClusterClient,
  node: Reader,
  secret: string | undefined,
  kms: Kms | undefined,
): Promise<Identities> {
  const { namespace } = node
  const isListed = kms?.isListed(namespace) === true
  const identities = secret === undefined ? { age: [] } : await readIdentities(client, node, secret, isListed)
  return isListed ? { ...identities, open: key => kms.open(namespace, key) } : identities
}

/**
 * The keys of a Secret that `spec.decryption` names, in the entries that kustomize-controller reads: `*.agekey` and
 * `*.asc`. Read as the account, so that no tenant can use those of another. `mayHoldNone`: keys of services may open
 * the same content. Throws `cluster-invalid` or `cluster-forbidden`.
 */
async function readIdentities(
  client: ClusterClient,
  { user, namespace }: Reader,
  name: string,
  mayHoldNone: boolean,
): Promise<Identities> {
  const where = `Secret ${namespace}/${name}, which spec.decryption names`
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets/${encodeURIComponent(name)}`
  const { status, body } = await client.request({ user }, 'GET', path)
  if (status !== 200) {
    const fix = `Create it in the namespace ${namespace}.`
    throw new BailiwickError('cluster-invalid', `${where}: does not exist`, { fix })
  }
  const age: string[] = []
  const pgp: string[] = []
  for (const [entry, value] of Object.entries(mapAt(body, 'data'))) {
    if (typeof value !== 'string' || !/\.(?:agekey|asc)$/.test(entry)) continue
    if (value.length > MAX_KEY_BYTES)
      throw unusable(where, `${entry.slice(0, 100)} is larger than ${MAX_KEY_BYTES} bytes`)
    const text = Buffer.from(value, 'base64').toString('utf8')
    if (entry.endsWith('.agekey'))
      age.push(
        ...text
          .split('\n')
          .map(line => line.trim())
          .filter(line => AGE_KEY.test(line)),
      )
    if (entry.endsWith('.asc')) pgp.push(text)
  }
  const isEnough = mayHoldNone || age.length + pgp.length > 0
  if (isEnough && age.length <= MAX_KEYS && pgp.length <= MAX_KEYS) return { age, pgp }
  throw unusable(where, age.length + pgp.length > 0 ? `holds more than ${MAX_KEYS} keys` : 'holds no key')
}

function unusable(where: string, what: string): BailiwickError {
  return new BailiwickError(
    'cluster-invalid',
    `${where}: ${what}. Allowed: age keys under *.agekey, PGP keys under *.asc`,
    {
      fix: 'Keep only the keys of this Kustomization in it.',
    },
  )
}
