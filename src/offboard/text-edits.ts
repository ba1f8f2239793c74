import { stringify } from 'yaml'
import { BailiwickError } from '../errors.ts'
import type { Tree } from '../git/tree.ts'
import { type MapNode, toJson } from '../kube/node.ts'
import { normaliseUrl } from '../kube/url.ts'
import type { Origin } from '../origin.ts'
import { documentsOf, type YamlDocument } from './documents.ts'
import { type Edits, textAt } from './edited-tree.ts'
import type { ReplacedText } from './rewrite.ts'

/** A document to add after an existing one: a copy with some texts replaced, or another object. */
type AddedDocument = {
  /** Start of the existing document's object. */
  readonly origin: Origin
} & ({ readonly texts: readonly ReplacedText[] } | { readonly root: MapNode })

/** Text that every YAML version reads as a string without quotes. */
const PLAIN = /^(?!(?:true|false|yes|no|on|off|y|n|null)$)[a-z][a-z0-9.:-]*[a-z0-9]$/
const keyOf = ({ origin: { file, line, column } }: ReplacedText) => `${line} ${column} ${file}`

/** Replaces texts in place and leaves every other character unchanged. Throws `offboard-layout`. */
export function replaceTexts(tree: Tree, fleetUrl: string, texts: readonly ReplacedText[]): Edits {
  const edits = new Map<string, string>()
  for (const [file, of] of Map.groupBy(distinct(texts), ({ origin }) => origin.file)) {
    const text = ownText(tree, fleetUrl, of[0]!.origin)
    edits.set(file, withTexts(text, 0, of))
  }
  return edits
}

/** Inserts each document after an existing one. `before`: files with texts that are already replaced. Throws `offboard-layout`. */
export function addDocuments(
  tree: Tree,
  fleetUrl: string,
  added: readonly AddedDocument[],
  before: Edits = new Map(),
): Edits {
  const edits = new Map<string, string>()
  for (const [file, of] of Map.groupBy(added, ({ origin }) => origin.file)) {
    const text = before.get(file) ?? ownText(tree, fleetUrl, of[0]!.origin)
    const documents = documentsOf(text).map(document => {
      const own = of.filter(({ origin: { line } }) => line >= document.first && line <= document.last)
      // several clusters may share a file, so each document is added once
      const texts = new Set(own.map(one => asOwn(textOf(one, file, document))))
      const whole = texts.size === 0 || document.text.endsWith('\n') ? document.text : `${document.text}\n`
      return [whole, ...texts].join('')
    })
    edits.set(file, documents.join(''))
  }
  return edits
}

function textOf(one: AddedDocument, file: string, { first, last, text }: YamlDocument): string {
  if ('root' in one) return stringify(toJson(one.root), { lineWidth: 0 })
  const outside = one.texts.find(({ origin }) => origin.file !== file || origin.line < first || origin.line > last)
  if (outside) throw notPlain(outside)
  return withTexts(text, first - 1, distinct(one.texts))
}

const distinct = (texts: readonly ReplacedText[]) => [...new Map(texts.map(one => [keyOf(one), one])).values()]

/** Adds the marker that separates it from the previous document. */
function asOwn(text: string): string {
  const ended = text.endsWith('\n') ? text : `${text}\n`
  return /^---(?=\s|$)/.test(ended) ? ended : `---\n${ended}`
}

function ownText(tree: Tree, fleetUrl: string, origin: Origin): string {
  const { repository, file } = origin
  const isHome = repository === '' || repository === normaliseUrl(fleetUrl)
  const text = isHome ? textAt(tree, file) : undefined
  if (text !== undefined) return text
  throw new BailiwickError('offboard-layout', `${file} is not a file of this repository`, {
    fix: 'Write the object into a file of the fleet, then run the command again.',
    origin,
  })
}

/** `skipped`: number of lines in the file before this text. */
function withTexts(text: string, skipped: number, texts: readonly ReplacedText[]): string {
  const lines = text.split('\n')
  // from the end, so that earlier columns stay valid
  for (const one of texts.toSorted((a, b) => b.origin.column - a.origin.column)) {
    const index = one.origin.line - 1 - skipped
    const line = lines[index] ?? ''
    const [start, rest] = [line.slice(0, one.origin.column - 1), line.slice(one.origin.column - 1)]
    const written = [one.from, `"${one.from}"`, `'${one.from}'`].find(
      form => rest.startsWith(form) && /^(?:[\s,\]}]|$)/.test(rest.slice(form.length)),
    )
    if (written === undefined) throw notPlain(one)
    const quote = written === one.from ? (PLAIN.test(one.to) ? '' : '"') : written[0]!
    lines[index] = `${start}${quote}${one.to}${quote}${rest.slice(written.length)}`
  }
  return lines.join('\n')
}

function notPlain({ origin, from, to }: ReplacedText): BailiwickError {
  return new BailiwickError('offboard-layout', `${from} is not written as one plain value there`, {
    fix: `Write the value in the object itself, or replace it with ${to} by hand.`,
    origin,
  })
}
