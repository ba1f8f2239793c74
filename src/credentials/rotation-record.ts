import { createHmac, hash, timingSafeEqual } from 'node:crypto'

/** A rotation of a deploy key, in the text of its pull request and of its commit. */
export interface RotationRecord {
  /** Ids of the fleet and of the repository that the keys can read: names can move. */
  readonly fleet: number
  readonly repository: number
  readonly tenant: string
  /** Where the sealed Secret lies, and the SHA-256 of its new content: the record counts only while that is what is there. */
  readonly file: string
  readonly sealed: string
  /** Clusters that read the repository with it. */
  readonly clusters: readonly string[]
  /** The new key: `ssh-ed25519 ...`. */
  readonly key: string
  /** The keys that it replaces. */
  readonly replaces: readonly string[]
}

const LINE = /^<!-- bailiwick:rotation ([\w-]{1,20000})\.([\w-]{43}) -->$/m
const DOMAIN = 'bailiwick/rotation/v1'

/** An invisible Markdown line with the record. `secret`: the App's private key, without which none can be forged. */
export function rotationMarker(record: RotationRecord, secret: string): string {
  const { fleet, repository, tenant, file, sealed, clusters, key, replaces } = record
  const fields = { fleet, repository, tenant, file, sealed, clusters, key, replaces }
  const data = Buffer.from(JSON.stringify(fields)).toString('base64url')
  return `<!-- bailiwick:rotation ${data}.${seal(data, secret).toString('base64url')} -->`
}

/** The record in a text; undefined where there is none, or another secret sealed it. */
export function readRotationMarker(text: string, secret: string): RotationRecord | undefined {
  const [, data, mac] = LINE.exec(text.replaceAll('\r\n', '\n')) ?? []
  if (data === undefined || mac === undefined) return undefined
  const [given, wanted] = [Buffer.from(mac, 'base64url'), seal(data, secret)]
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
  return JSON.parse(Buffer.from(data, 'base64url').toString('utf8')) as RotationRecord
}

/** Whether a file is the one that a rotation sealed: a record of another one says nothing about the present key. */
export const isSealedBy = ({ sealed }: RotationRecord, content: string): boolean => sealedDigest(content) === sealed

export const sealedDigest = (content: string): string => hash('sha256', content)

function seal(data: string, secret: string): Buffer {
  return createHmac('sha256', createHmac('sha256', secret).update(DOMAIN).digest()).update(data).digest()
}
