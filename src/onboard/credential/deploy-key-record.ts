import { createHmac, timingSafeEqual } from 'node:crypto'

/** A deploy key that Bailiwick made for a tenant, in the text of its pull request. */
export interface DeployKeyRecord {
  /** Ids of the fleet and of the repository that the key can read: names can move. */
  readonly fleet: number
  readonly repository: number
  readonly tenant: string
  /** `ssh-ed25519 ...`. */
  readonly key: string
}

const LINE = /^<!-- bailiwick:deploy-key ([\w-]{1,2000})\.([\w-]{43}) -->$/m
const DOMAIN = 'bailiwick/deploy-key/v1'

/**
 * An invisible Markdown line with the record. `secret`: the App's private key, without which none can be forged: whoever
 * could, would have a key of their own added to the tenant's repository.
 */
export function deployKeyMarker({ fleet, repository, tenant, key }: DeployKeyRecord, secret: string): string {
  const data = Buffer.from(JSON.stringify({ fleet, repository, tenant, key })).toString('base64url')
  return `<!-- bailiwick:deploy-key ${data}.${seal(data, secret).toString('base64url')} -->`
}

/** The record in a text; undefined where there is none, or another secret sealed it. */
export function readDeployKeyMarker(text: string, secret: string): DeployKeyRecord | undefined {
  const [, data, mac] = LINE.exec(text.replaceAll('\r\n', '\n')) ?? []
  if (data === undefined || mac === undefined) return undefined
  const [given, wanted] = [Buffer.from(mac, 'base64url'), seal(data, secret)]
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
  return JSON.parse(Buffer.from(data, 'base64url').toString('utf8')) as DeployKeyRecord
}

function seal(data: string, secret: string): Buffer {
  return createHmac('sha256', createHmac('sha256', secret).update(DOMAIN).digest()).update(data).digest()
}
