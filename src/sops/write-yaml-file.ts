import type { MapNode, Node, ScalarNode, ScalarValue } from '../kube/node.ts'
import { resolvePlain } from '../kube/yaml/resolve-scalar.ts'
import { isPlainText } from '../kustomize/replace/plain-text.ts'

/** What is not known how sops writes it, and where it stands. */
export interface NotWritten {
  readonly path: readonly string[]
  readonly reason: string
}

type ReadValue = (node: ScalarNode, path: readonly string[]) => ScalarValue | NotWritten

/** Where a value stands: columns of its parent, and whether that is a list. A list adds nothing to `path`. */
interface Place {
  readonly path: readonly string[]
  readonly indent: number
  readonly inList: boolean
}

const INDENT = 4

/**
 * A document as sops writes a YAML file in clear (getsops/sops stores/yaml, with the encoder of go.yaml.in/yaml/v3, 4 columns
 * for each level), or what in it is not known how that writes it. `read`: what is written of a scalar.
 */
export function writeYamlFile(root: MapNode, read: ReadValue): string | NotWritten {
  const writer = new Writer(read)
  const text = root.fields.size === 0 ? '{}' : writer.fields(root, { path: [], indent: 0, inList: false })
  return writer.unknown ?? `${text}\n`
}

class Writer {
  unknown: NotWritten | undefined
  readonly #read: ReadValue

  constructor(read: ReadValue) {
    this.#read = read
  }

  /** Lines of a map, the first one without its columns. */
  fields(map: MapNode, { path, indent }: Place): string {
    const lines = [...map.fields].map(([name, { value, merged }]) => {
      const inner = [...path, name]
      if (merged) this.#give(inner, 'comes from a merge key')
      return `${this.#key(name, inner)}:${this.#after(value, { path: inner, indent, inList: false })}`
    })
    return lines.join(`\n${' '.repeat(indent)}`)
  }

  /** What stands behind a key. */
  #after(node: Node, place: Place): string {
    if (node.type === 'scalar') return ` ${this.#scalar(node, place)}`
    const isEmpty = node.type === 'map' ? node.fields.size === 0 : node.items.length === 0
    if (isEmpty) return node.type === 'map' ? ' {}' : ' []'
    return `\n${' '.repeat(below(place))}${this.#block(node, place)}`
  }

  #block(node: Exclude<Node, ScalarNode>, place: Place): string {
    const indent = below(place)
    if (node.type === 'map') return this.fields(node, { ...place, indent })
    const items = node.items.map(item => `- ${this.#item(item, { path: place.path, indent, inList: true })}`)
    return items.join(`\n${' '.repeat(indent)}`)
  }

  #item(node: Node, place: Place): string {
    if (node.type === 'scalar') return this.#scalar(node, place)
    if (node.type === 'map') return node.fields.size === 0 ? '{}' : this.#block(node, place)
    return node.items.length === 0 ? '[]' : this.#block(node, place)
  }

  #scalar(node: ScalarNode, place: Place): string {
    const value = this.#read(node, place.path)
    if (value !== null && typeof value === 'object') return this.#give(value.path, value.reason)
    return typeof value === 'string' ? this.#text(value, place) : String(value)
  }

  #key(name: string, path: readonly string[]): string {
    const resolved = resolvePlain(name)
    // for go-yaml it may be no text, and quotes in the file are not known any more
    if (typeof resolved !== 'string' || name === '<<' || name === '' || name.length > 100 || name.includes('\n'))
      return this.#give(path, 'has a key that is long, or no plain word')
    return this.#text(name, { path, indent: 0, inList: false })
  }

  #text(text: string, place: Place): string {
    if (text.includes('\n')) return this.#literal(text, place)
    if (!PRINTABLE.test(text)) return this.#give(place.path, 'has special characters')
    const resolved = resolvePlain(text)
    if (resolved === undefined || text === '<<') return this.#give(place.path, 'looks like a number or a date')
    const isText = text !== '' && resolved === text && !NO_TEXT.test(text)
    if (!isText) return `"${text.replace(/["\\]/g, '\\$&')}"`
    return isPlainText(text, false) ? text : `'${text.replaceAll("'", "''")}'`
  }

  #literal(text: string, place: Place): string {
    const isUsual = !/[^\n -~\u00a0-\ud7ff]| (?:\n|$)|^\s|\n\n$/.test(text)
    if (!isUsual) return this.#give(place.path, 'is an unusual text of several lines')
    const margin = ' '.repeat(below(place))
    const lines = text.replace(/\n$/, '').split('\n')
    const body = lines.map(line => (line === '' ? '' : `${margin}${line}`)).join('\n')
    return `|${text.endsWith('\n') ? '' : '-'}\n${body}`
  }

  #give(path: readonly string[], reason: string): string {
    this.unknown ??= { path, reason }
    return ''
  }
}

/** yaml_emitter_increase_indent: below a list only what the dash takes, elsewhere the next level. */
function below({ indent, inList }: Place): number {
  return inList ? indent + 2 : INDENT * Math.floor((indent + INDENT) / INDENT)
}

const PRINTABLE = /^[ -~\u00a0-\ud7ff]*$/

/** Texts that go-yaml puts in quotes for readers of YAML 1.1. */
const NO_TEXT = /^(?:[yYnN]|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?)$/
