import { BailiwickError } from '../../errors.ts'
import type { Origin } from '../../origin.ts'
import { decodeUtf8 } from './decode-utf8.ts'

const NEWLINE = 0x0a
/** Go's line scanner gives up at 64 KiB without a word, and the rest of the file is lost. */
const MAX_LINE = 65_000

/** White space as Go has it: that of JavaScript with U+0085 and without the byte order mark. */
const LEADING_SPACE = /^[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/

interface EnvLine {
  readonly key: string
  readonly value: string
  readonly line: number
}

/**
 * The `key=value` lines of an env file as kustomize 5.8.1 reads it: comments and lines without a key are passed over, a
 * key alone has an empty value (never one of our own environment), nothing is trimmed but what stands before the key.
 * Throws `kustomize-invalid` for a line that is not UTF-8.
 */
export function readEnvFile(bytes: Uint8Array, origin: Origin): EnvLine[] {
  const pairs: EnvLine[] = []
  let number = 0
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, start)
    const end = newline < 0 ? bytes.length : newline
    number++
    if (end - start > MAX_LINE) tooLong({ ...origin, line: number })
    const text = decodeUtf8(bytes.subarray(start, end))
    if (text === undefined) notUtf8({ ...origin, line: number })
    const pair = readLine(number === 1 ? text.replace(/^\ufeff/, '') : text)
    if (pair) pairs.push({ ...pair, line: number })
    start = end + 1
  }
  return pairs
}

function readLine(text: string): { key: string; value: string } | undefined {
  const line = text.replace(/\r$/, '').replace(LEADING_SPACE, '')
  if (line === '' || line.startsWith('#')) return undefined
  const equals = line.indexOf('=')
  const key = equals < 0 ? line : line.slice(0, equals)
  return key === '' ? undefined : { key, value: equals < 0 ? '' : line.slice(equals + 1) }
}

function tooLong(origin: Origin): never {
  const message = `env file: a line is longer than ${MAX_LINE} bytes, where kustomize stops reading the file`
  throw new BailiwickError('kustomize-unsupported', message, { origin, fix: 'List the file under `files` instead.' })
}

function notUtf8(origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', 'env file: a line is not valid UTF-8', { origin })
}
