import { createHash } from 'node:crypto'
import { addressOfUrl } from './address-of-url.ts'
import { imageInfo, imageText } from './image-info.ts'
import { argument, type KyvernoFunctions, numberOf, ofTexts, textOf } from './jmespath-function.ts'
import { plainText } from './plain-text.ts'
import { findsPattern, replacePattern } from './regular-expressions.ts'
import { isInRange } from './semver-range.ts'
import { NotEvaluatedError, RuleError } from './values.ts'
import { matchesWildcard } from './wildcard.ts'

const SCALAR = ['string', 'number'] as const
const TEXT = ['string'] as const

/** Text functions: two from JMESPath, the others from Kyverno. */
export const TEXT_FUNCTIONS: KyvernoFunctions = {
  starts_with: ofTexts(2, (text, start) => text.startsWith(start)),
  ends_with: ofTexts(2, (text, end) => text.endsWith(end)),
  compare: ofTexts(2, (a, b) => (a < b ? -1 : a > b ? 1 : 0)),
  equal_fold: ofTexts(2, (a, b) => a.toLowerCase() === b.toLowerCase() || a.toUpperCase() === b.toUpperCase()),
  replace: {
    takes: [TEXT, TEXT, TEXT, ['number']],
    call: args => replaced(textOf(args, 0), textOf(args, 1), textOf(args, 2), Math.trunc(numberOf(args, 3))),
  },
  replace_all: ofTexts(3, (text, from, to) => replaced(text, from, to, -1)),
  to_upper: ofTexts(1, text => mapped(text, one => one.toUpperCase())),
  to_lower: ofTexts(1, text => mapped(text, one => one.toLowerCase())),
  trim: ofTexts(2, trimmed),
  trim_prefix: ofTexts(2, (text, prefix) => (text.startsWith(prefix) ? text.slice(prefix.length) : text)),
  split: ofTexts(2, (text, by) => (by === '' ? [...text] : text.split(by))),
  regex_match: {
    takes: [TEXT, SCALAR],
    call: (args, steps) => findsPattern(textOf(args, 0), plainText(argument(args, 1)), steps),
  },
  regex_replace_all: {
    takes: [TEXT, SCALAR, SCALAR],
    call: (args, steps) => {
      const to = plainText(argument(args, 2))
      if (to.includes('$')) throw new NotEvaluatedError('regex_replace_all() with groups in the replacement')
      return replacePattern(textOf(args, 0), plainText(argument(args, 1)), to, steps)
    },
  },
  regex_replace_all_literal: {
    takes: [TEXT, SCALAR, SCALAR],
    call: (args, steps) =>
      replacePattern(textOf(args, 0), plainText(argument(args, 1)), plainText(argument(args, 2)), steps),
  },
  pattern_match: {
    takes: [TEXT, SCALAR],
    call: (args, steps) => {
      const [pattern, text] = [textOf(args, 0), plainText(argument(args, 1))]
      steps.spend((pattern.length * text.length) / 100)
      return matchesWildcard(pattern, text)
    },
  },
  to_boolean: ofTexts(1, text => {
    const lower = text.toLowerCase()
    if (lower !== 'true' && lower !== 'false') throw new RuleError('to_boolean: neither true nor false')
    return lower === 'true'
  }),
  base64_decode: ofTexts(1, decoded),
  base64_encode: ofTexts(1, text => Buffer.from(text).toString('base64')),
  path_canonicalize: ofTexts(1, canonicalPath),
  truncate: {
    takes: [TEXT, ['number']],
    call: args => [...textOf(args, 0)].slice(0, Math.max(0, Math.trunc(numberOf(args, 1)))).join(''),
  },
  semver_compare: ofTexts(2, isInRange),
  sha256: ofTexts(1, text => hash('sha256', text)),
  sha1: ofTexts(1, text => hash('sha1', text)),
  md5: ofTexts(1, text => hash('md5', text)),
  image_normalize: ofTexts(1, text => imageText(imageInfo(text))),
  is_external_url: ofTexts(1, text => addressOfUrl(text) === 'external'),
}

const hash = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex')

/** Go maps each character to one character, and keeps it where the mapping would yield several. */
function mapped(text: string, to: (one: string) => string): string {
  return [...text].map(one => ([...to(one)].length === 1 ? to(one) : one)).join('')
}

const MAX_TEXT = 1_000_000

function replaced(text: string, from: string, to: string, most: number): string {
  const parts = from === '' ? [...text] : text.split(from)
  const times = from === '' ? parts.length + 1 : parts.length - 1
  const count = most < 0 ? times : Math.min(times, most)
  if (text.length + count * to.length > MAX_TEXT) {
    throw new NotEvaluatedError(`a text of more than ${MAX_TEXT} characters`)
  }
  if (from === '') {
    const all = parts.map((part, index) => (index < count ? to + part : part)).join('')
    return count > parts.length ? all + to : all
  }
  return parts.map((part, index) => (index === 0 ? part : (index <= count ? to : from) + part)).join('')
}

function trimmed(text: string, set: string): string {
  const chars = [...text]
  const isCut = (one: string | undefined) => one !== undefined && set.includes(one)
  let [from, to] = [0, chars.length]
  while (from < to && isCut(chars[from])) from++
  while (to > from && isCut(chars[to - 1])) to--
  return chars.slice(from, to).join('')
}

function decoded(text: string): string {
  const bare = text.replace(/[\r\n]/g, '')
  if (bare.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(bare)) throw new RuleError('illegal base64 data')
  const bytes = Buffer.from(bare, 'base64')
  const read = bytes.toString()
  if (!Buffer.from(read).equals(bytes)) throw new NotEvaluatedError('base64_decode() of bytes that are not UTF-8 text')
  return read
}

/** Go's filepath.Clean. */
function canonicalPath(path: string): string {
  if (path === '') return ''
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else if (!path.startsWith('/')) parts.push('..')
  }
  return (path.startsWith('/') ? '/' : '') + parts.join('/') || '.'
}
