import { mapNode, textNode, withField } from '../kube/edit-node.ts'
import type { ListNode, MapNode, Node } from '../kube/node.ts'
import type { Origin } from '../origin.ts'

/** A line of a file of names and values; a comment has no name, what is neither is a value without one. */
interface Entry {
  readonly path: readonly string[]
  readonly value: string
  readonly line: number
}

/**
 * A file of names and values as the document that SOPS makes of it (getsops/sops, stores/dotenv and stores/ini): what it wrote
 * beside the values is the map `sops`. Undefined: SOPS encrypted nothing of it.
 */
export function readFlatFile(file: Pick<Origin, 'repository' | 'file'>, text: string): MapNode | undefined {
  const [block, values] = [new Branch(), new Branch()]
  for (const { path, value, line } of entriesOf(file.file, text)) {
    const origin = { ...file, line, column: 1 }
    const [first = '', name = ''] = path
    if (first === 'sops' && name !== '') block.add(stepsOf(name), textNode(value.replaceAll('\\n', '\n'), origin))
    else if (path.length > 0) values.add(path, textNode(value, origin))
  }
  const start = { ...file, line: 1, column: 1 }
  const [root, sops] = [values.node(start), block.node(start, true)]
  if (root.type !== 'map' || sops.type !== 'map' || !sops.fields.has('mac')) return undefined
  return withField(root, 'sops', sops)
}

/** The values of such a file beside what SOPS wrote, comments too. */
export const flatValues = (file: string, text: string): readonly string[] =>
  [...entriesOf(file, text)].filter(({ path }) => path[0] !== 'sops').map(({ value }) => value)

const entriesOf = (file: string, text: string): Iterable<Entry> =>
  file.endsWith('.ini') ? iniEntries(text) : dotenvEntries(text)

function* dotenvEntries(text: string): Iterable<Entry> {
  for (const [index, written] of text.split('\n').entries()) {
    const equals = written.startsWith('#') ? 0 : written.indexOf('=')
    const [name, value, line] = [written.slice(0, Math.max(0, equals)), written.slice(equals + 1), index + 1]
    if (name.startsWith('sops_')) yield { path: ['sops', name.slice('sops_'.length)], value, line }
    else if (written !== '') yield { path: name === '' ? [] : [name], value, line }
  }
}

function* iniEntries(text: string): Iterable<Entry> {
  let section = 'DEFAULT'
  for (const [index, written] of text.split('\n').entries()) {
    const trimmed = written.trim()
    const equals = /^[#;]/.test(trimmed) ? 0 : trimmed.indexOf('=')
    const [name, value, line] = [
      trimmed.slice(0, Math.max(0, equals)).trim(),
      trimmed.slice(equals + 1).trim(),
      index + 1,
    ]
    if (/^\[.*\]$/.test(trimmed)) section = trimmed.slice(1, -1)
    else if (trimmed !== '') yield { path: name === '' ? [] : [section, name], value, line }
  }
}

/** More than SOPS nests. */
const MAX_STEPS = 16

/** `age__list_0__map_enc`: the way to a value of the block (stores/flatten.go). */
const stepsOf = (name: string): string[] => name.split(/__(?:list|map)_/, MAX_STEPS)

/** Where all names are indexes, a list. */
class Branch {
  readonly #parts = new Map<string, Branch | Node>()

  add([step = '', ...rest]: readonly string[], value: Node): void {
    const part = this.#parts.get(step)
    if (rest.length === 0) this.#parts.set(step, value)
    else if (part instanceof Branch) part.add(rest, value)
    else {
      const branch = new Branch()
      branch.add(rest, value)
      this.#parts.set(step, branch)
    }
  }

  node(nowhere: Origin, hasLists = false): MapNode | ListNode {
    const parts = [...this.#parts].map(
      ([name, part]) => [name, part instanceof Branch ? part.node(nowhere, hasLists) : part] as const,
    )
    const origin = parts[0]?.[1].origin ?? nowhere
    const isList = hasLists && parts.length > 0 && parts.every(([name]) => /^\d+$/.test(name))
    return isList ? { type: 'list', items: parts.map(([, part]) => part), origin } : mapNode(parts, origin)
  }
}
