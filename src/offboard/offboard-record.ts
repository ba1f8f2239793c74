import { createHmac, timingSafeEqual } from 'node:crypto'
import type { OffboardStage } from './request.ts'

/** Describes one change of an offboarding, in the text of its pull request and of its commit. */
export interface OffboardRecord {
  /** Id of the fleet's repository: names can move. */
  readonly fleet: number
  readonly tenant: string
  /** As it was asked for; empty: every cluster. */
  readonly clusters: readonly string[]
  readonly stage: Exclude<OffboardStage, 'done'>
  /** Clusters that the change is about, by name. */
  readonly on: readonly string[]
  /** Addresses of the tenant's repositories. */
  readonly sources: readonly string[]
  /** The fleet admin who asked, in which comment of which issue, and when. */
  readonly by: string
  readonly comment: number
  readonly issue: number
  readonly at: string
}

const LINE = /^<!-- bailiwick:offboard ([\w-]{1,20000})\.([\w-]{43}) -->$/m
const DOMAIN = 'bailiwick/offboard/v1'

/** An invisible Markdown line with the record. `secret`: the App's private key, without which none can be forged. */
export function offboardMarker(record: OffboardRecord, secret: string): string {
  const data = Buffer.from(JSON.stringify(record)).toString('base64url')
  return `<!-- bailiwick:offboard ${data}.${seal(data, secret).toString('base64url')} -->`
}

/** The record in a text; undefined where there is none, another secret sealed it, or it is not one of an offboarding. */
export function readOffboardMarker(text: string, secret: string): OffboardRecord | undefined {
  const [, data, mac] = LINE.exec(text.replaceAll('\r\n', '\n')) ?? []
  if (data === undefined || mac === undefined) return undefined
  const [given, wanted] = [Buffer.from(mac, 'base64url'), seal(data, secret)]
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
  const record = JSON.parse(Buffer.from(data, 'base64url').toString('utf8')) as OffboardRecord
  // of an earlier release: a move, a rename or a hand-over, of which nothing may be taken for an offboarding
  return ['to', 'name', 'namespace'].some(key => Object.hasOwn(record, key)) ? undefined : record
}

function seal(data: string, secret: string): Buffer {
  return createHmac('sha256', createHmac('sha256', secret).update(DOMAIN).digest()).update(data).digest()
}
