import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzipSync, gzip } from 'node:zlib'
import { withoutLogins } from '../message/without-logins.ts'

/** Text of one part; it is read at once. */
const MAX_PART = 16 * 1024 * 1024
/** Bytes of the number at the start, which is the length of the header. */
const NUMBER = 4

/** The least that zlib takes. */
const MIN_CHUNK = 64

interface Header {
  /** Name, packed bytes and text bytes of each part, in their order. */
  readonly parts: readonly (readonly [name: string, packed: number, text: number])[]
}

/** Values that were packed together, each of which can be read alone. */
export interface PackedParts {
  /** Bytes of the text of all parts. */
  readonly size: number
  /** Parses a part; the second time it is the same value. Throws for a name that was not packed. */
  read(name: string): unknown
}

/** Packs values so that each can be read alone; undefined if one of them is too large. The event loop runs between parts. */
export async function packParts(parts: Iterable<readonly [string, unknown]>): Promise<Buffer | undefined> {
  const listed: Header['parts'][number][] = []
  const packed: Buffer[] = []
  for (const [name, value] of parts) {
    const text = Buffer.from(withoutLogins(JSON.stringify(value)))
    if (text.length > MAX_PART) return undefined
    const bytes = await promisify(gzip)(text)
    listed.push([name, bytes.length, text.length])
    packed.push(bytes)
    await setImmediate()
  }
  const header = Buffer.from(JSON.stringify({ parts: listed } satisfies Header))
  const length = Buffer.alloc(NUMBER)
  length.writeUInt32BE(header.length)
  return Buffer.concat([length, header, ...packed])
}

/** Opens what packParts packed. Nothing but the header is parsed before it is asked for. */
export function openParts(bytes: Buffer): PackedParts {
  const start = NUMBER + bytes.readUInt32BE(0)
  const { parts }: Header = JSON.parse(bytes.toString('utf8', NUMBER, start))
  const places = new Map<string, { readonly from: number; readonly to: number; readonly text: number }>()
  let at = start
  for (const [name, packed, text] of parts) {
    places.set(name, { from: at, to: at + packed, text })
    at += packed
  }
  const known = new Map<string, unknown>()
  const read = (name: string): unknown => {
    if (known.has(name)) return known.get(name)
    const place = places.get(name)
    if (!place) throw new Error(`no part ${name}`)
    const { from, to, text } = place
    if (text > MAX_PART) throw new Error(`part ${name} is too large`)
    // the text in one piece: many small ones take several times as long
    const sizes = { chunkSize: Math.max(MIN_CHUNK, text), maxOutputLength: Math.max(MIN_CHUNK, text) }
    const value: unknown = JSON.parse(gunzipSync(bytes.subarray(from, to), sizes).toString())
    known.set(name, value)
    return value
  }
  return { size: parts.reduce((sum, [, , text]) => sum + text, 0), read }
}
