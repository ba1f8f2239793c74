import { BUCKET, valuesOf } from '../flux/kinds.ts'
import { readAddress, type SourceAddress } from '../kube/address/source-address.ts'
import { at, type Path, stringAt } from '../kube/node.ts'
import type { KubeObject } from '../kube/object.ts'

/** Where a kind of source says what it follows. */
const FIELDS = valuesOf(row => row.address)

/** The kinds that name an address, as `<group>/<Kind>`. */
export const sourceKinds: readonly string[] = [...FIELDS.keys()]

/** The scp form behind ssh://, which people understand and Go does not. */
export function noPort(written: string): string | undefined {
  // what stands before an @ is a password, not a port, and must not be shown
  const form = /^[a-z+]{1,10}:\/\/(?:[^/@]{0,300}@)?[^/:@[]{1,300}:([^/?#@\d*$][^/?#@]{0,300})(?=[/?#]|$)/i
  const [, port] = form.exec(written) ?? []
  return (
    port &&
    `has a port that is not a number (Go, and so Flux: \`invalid port ${JSON.stringify(`:${port}`)} after host\`)`
  )
}

/** What a source follows, as it is written. */
interface WrittenAddress {
  readonly path: Path
  /** '' where it is not text. */
  readonly written: string
  /** A text says why it is not an address. */
  readonly address: SourceAddress | string
}

/**
 * The address of a source. Undefined where it has none, or where nobody can know it yet: a value that only the cluster
 * has, a variable that is left; other rules speak about these.
 */
export function addressOf(kind: string, object: KubeObject): WrittenAddress | undefined {
  const field = FIELDS.get(kind)
  const node = field && at(object.root, field.path)
  if (!field || !node || (node.type === 'scalar' && (node.value === null || node.opaque))) return undefined
  const { path } = field
  const written = stringAt(object.root, path)
  if (written === undefined) return { path, written: '', address: 'is no text' }
  if (written.includes('${')) return undefined
  const address = noPort(written) ?? readAddress(written, field.form)
  const bucket = kind === BUCKET && typeof address !== 'string' && stringAt(object.root, ['spec', 'bucketName'])
  if (!bucket) return { path, written, address }
  const within = readAddress(`${address.text.replace(/\/$/, '')}/${bucket}`, 'url')
  return { path, written, address: typeof within === 'string' ? address : within }
}
