import { unlessRefused } from '../../base/errors.ts'
import type { Tree } from '../../git/tree.ts'
import { at, type Node } from '../../kube/node.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'
import type { BuildBudget } from '../build-budget.ts'
import { KNOWN_FIELDS } from '../fields/registry.ts'
import { joinPath, KUSTOMIZATION_FILES } from '../paths.ts'

/** Fields of a kustomization whose entries name files that name files. */
const PLUGINS = [...KNOWN_FIELDS].filter(([, { holdsBuiltins }]) => holdsBuiltins).map(([name]) => name)
/** What one look at a path costs. */
const LOOK = 20

/** What decides the parts of one tree that a build does without. */
export class HiddenText {
  private readonly tree: Tree
  private readonly budget: BuildBudget
  /** Paths that each kustomization file names. */
  private readonly named = new Map<string, readonly string[]>()
  private readonly reached = new Map<string, string>()

  constructor(tree: Tree, budget: BuildBudget) {
    this.tree = tree
    this.budget = budget
  }

  /**
   * All that decides what `value` (an entry of a kustomization, or nodes of one) would do: its own text, and the ids of
   * everything in the tree that its texts name, seen from `directory`, and of what that names. Two equal texts stand for
   * the same bytes. Throws `render-limits`.
   */
  of(directory: string, value: unknown): string {
    const own = JSON.stringify(value, plain) ?? 'null'
    const paths = new Set([...textsIn(JSON.parse(own))].flatMap(text => namesIn(directory, text)))
    return JSON.stringify([own, ...[...paths].sort().map(path => this.below(path))])
  }

  /** The ids of what is at a path, and of all that it leads to. */
  below(path: string): string {
    const known = this.reached.get(path)
    if (known !== undefined) return known
    const seen = new Map<string, string>()
    const queue = [path]
    for (let here = queue.pop(); here !== undefined && !seen.has(''); here = queue.pop()) {
      const id = here === '' ? this.tree.id : this.tree.entry(here)?.id
      if (id === undefined || seen.has(here)) continue
      this.budget.spend('steps', LOOK, startOf(here))
      // the whole tree stands for everything in it
      if (here === '') seen.clear()
      seen.set(here, id)
      if (here !== '' && this.tree.entry(here)?.type === 'directory') queue.push(...this.next(here))
    }
    const text = JSON.stringify([...seen].sort())
    this.reached.set(path, text)
    return text
  }

  /** What a directory leads to. */
  private *next(directory: string): Generator<string> {
    for (const name of KUSTOMIZATION_FILES) {
      const file = `${directory}/${name}`
      if (this.tree.entry(file)?.type === 'file') yield* this.namedBy(directory, file)
    }
    for (const below of this.tree.list(directory)) if (below.type === 'directory') yield below.path
  }

  private namedBy(directory: string, file: string): readonly string[] {
    const known = this.named.get(file) ?? this.read(directory, file)
    this.named.set(file, known)
    return known
  }

  /** What cannot be read, or names what names more, may lead anywhere. */
  private read(directory: string, file: string): readonly string[] {
    const bytes = this.tree.read(file)
    this.budget.spend('bytes', bytes.length, startOf(file))
    return unlessRefused([''], () => {
      const documents = parseDocuments({ repository: '', path: file }, bytes)
      if (documents.some(root => PLUGINS.some(field => at(root, [field]) !== undefined))) return ['']
      return documents.flatMap(root => [...nodeTexts(root)].flatMap(text => namesIn(directory, text)))
    })
  }
}

const startOf = (file: string) => ({ repository: '', file, line: 1, column: 1 })

/** The place where something was written is not a part of its text. */
function plain(key: string, value: unknown): unknown {
  if (key === 'origin' || key === 'step' || key === 'via') return undefined
  if (value instanceof Map) return [...value].map(([name, field]) => [name, field.value])
  return typeof value === 'bigint' ? String(value) : value
}

/** The paths that a text may be, whatever it is for. */
function namesIn(directory: string, text: string): string[] {
  if (text.includes('\n')) return []
  const paths = [text, text.slice(text.indexOf('=') + 1)].map(one => joinPath(directory, one.trim())?.join('/'))
  return paths.filter((path): path is string => path !== undefined && path !== directory)
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) yield* textsIn(one)
}

function* nodeTexts(node: Node): Generator<string> {
  if (node.type === 'list') for (const item of node.items) yield* nodeTexts(item)
  else if (node.type === 'map') for (const field of node.fields.values()) yield* nodeTexts(field.value)
  else if (typeof node.value === 'string') yield node.value
}
