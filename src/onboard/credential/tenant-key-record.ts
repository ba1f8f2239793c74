import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** A decryption key that Bailiwick made for a tenant, in the text of its commit. */
interface TenantKeyRecord {
  /** Id of the fleet: names can move. */
  readonly fleet: number
  readonly tenant: string
  /** `age1...`. */
  readonly recipient: string
  /** Of the file in which its private half is sealed. */
  readonly digest: string
}

const LINE = /^<!-- bailiwick:tenant-key ([\w-]{1,2000})\.([\w-]{43}) -->$/m
const DOMAIN = 'bailiwick/tenant-key/v1'

/** What a record says of a file. */
export const sealedDigest = (file: string): string => createHash('sha256').update(file).digest('hex')

/** An invisible Markdown line with the record. `secret`: the App's private key, without which a record cannot be forged. */
export function tenantKeyMarker({ fleet, tenant, recipient, digest }: TenantKeyRecord, secret: string): string {
  const data = Buffer.from(JSON.stringify({ fleet, tenant, recipient, digest })).toString('base64url')
  return `<!-- bailiwick:tenant-key ${data}.${seal(data, secret).toString('base64url')} -->`
}

/** The record in a text; undefined where there is none, or another secret sealed it. */
export function readTenantKeyMarker(text: string, secret: string): TenantKeyRecord | undefined {
  const [, data, mac] = LINE.exec(text.replaceAll('\r\n', '\n')) ?? []
  if (data === undefined || mac === undefined) return undefined
  const [given, wanted] = [Buffer.from(mac, 'base64url'), seal(data, secret)]
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
  return JSON.parse(Buffer.from(data, 'base64url').toString('utf8')) as TenantKeyRecord
}

function seal(data: string, secret: string): Buffer {
  return createHmac('sha256', createHmac('sha256', secret).update(DOMAIN).digest()).update(data).digest()
}
