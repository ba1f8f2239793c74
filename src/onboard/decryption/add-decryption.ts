import { type Document, isMap, isScalar, parseAllDocuments, type YAMLMap } from 'yaml'
import { BailiwickError } from '../../errors.ts'
import { stableText } from '../stable-text.ts'

/** A Flux Kustomization, and the file that declares it. */
interface DeclaredKustomization {
  readonly file: string
  readonly text: string
  readonly namespace: string
  readonly name: string
}

/**
 * Adds `spec.decryption` for SOPS with the keys of the Secret `secret`, and leaves every other character alone. Throws
 * `onboard-layout` where the file declares no such object, or in a way that an edit of lines cannot express.
 */
export function addDecryption(declared: DeclaredKustomization, secret: string): string {
  const { text } = declared
  const index = parsed(text).findIndex(document => declares(document.toJS(), declared))
  const spec = parsed(text)[index]?.get('spec')
  const first = isMap(spec) && !spec.flow ? spec.items[0]?.key : undefined
  const start = isScalar(first) ? first.range?.[0] : undefined
  if (start === undefined) throw byHand(declared, secret)
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const indent = text.slice(lineStart, start)
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const lines = ['decryption:', '  provider: sops', '  secretRef:', `    name: ${secret}`]
  const made = `${text.slice(0, lineStart)}${lines.map(line => `${indent}${line}${eol}`).join('')}${text.slice(lineStart)}`
  const expected = parsed(text)
  const decryption = { provider: 'sops', secretRef: { name: secret } }
  ;(expected[index]!.get('spec') as YAMLMap).set('decryption', expected[index]!.createNode(decryption))
  const after = parsed(made)
  const isSound = indent.trim() === '' && after.every(document => document.errors.length === 0)
  if (!isSound || dataOf(after) !== dataOf(expected)) throw byHand(declared, secret)
  return made
}

const parsed = (text: string): readonly Document[] => [...parseAllDocuments(text)]
const dataOf = (documents: readonly Document[]) => stableText(documents.map(document => document.toJS()))

function declares(data: unknown, { namespace, name }: DeclaredKustomization): boolean {
  const object = data as { kind?: unknown; metadata?: { namespace?: unknown; name?: unknown } } | null
  if (object?.kind !== 'Kustomization' || object.metadata?.name !== name) return false
  return (object.metadata.namespace ?? namespace) === namespace
}

function byHand({ file, namespace, name }: DeclaredKustomization, secret: string): BailiwickError {
  return new BailiwickError(
    'onboard-layout',
    `${file}: the Kustomization ${namespace}/${name} cannot be edited line by line`,
    {
      fix: `Add \`decryption: {provider: sops, secretRef: {name: ${secret}}}\` to its spec, then run the command again.`,
      origin: { repository: '', file, line: 1, column: 1 },
    },
  )
}
