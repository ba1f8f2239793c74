import { BailiwickError } from '../errors.ts'
import type { Tree } from '../git/tree.ts'
import { at, type Node } from '../kube/node.ts'
import { parseDocuments } from '../kube/parse-documents.ts'
import type { BuildBudget } from './build-budget.ts'
import { KUSTOMIZATION_FILES } from './read/find-kustomization.ts'
import { joinPath } from './read/resolve-path.ts'

/** Fields of a kustomization whose entries name files that name files. */
const PLUGINS = ['generators', 'transformers', 'validators']

/**
 * All that decides what `value` (an entry of a kustomization, or nodes of one) would do, as a text: its own text, and the
 * ids of everything in the tree that its texts name, seen from `directory`, and of what that names. Two equal texts stand
 * for the same bytes. Throws `render-limits`.
 */
export function hiddenText(tree: Tree, directory: string, value: unknown, budget: BuildBudget): string {
  const reach = new Reach(tree, budget)
  const own = JSON.stringify(value, plain)
  for (const text of textsIn(JSON.parse(own ?? 'null'))) reach.name(directory, text)
  return JSON.stringify([own ?? '', ...reach.ids()])
}

/** The same for a directory of the tree. */
export function hiddenBelow(tree: Tree, directory: string, budget: BuildBudget): string {
  const reach = new Reach(tree, budget)
  reach.path(directory)
  return JSON.stringify(reach.ids())
}

/** Where something was written is no part of what it says. */
function plain(key: string, value: unknown): unknown {
  if (key === 'origin' || key === 'step' || key === 'via') return undefined
  if (value instanceof Map) return [...value].map(([name, field]) => [name, field.value])
  return typeof value === 'bigint' ? String(value) : value
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) yield* textsIn(one)
}

class Reach {
  private readonly tree: Tree
  private readonly budget: BuildBudget
  private readonly seen = new Map<string, string>()
  private readonly queue: string[] = []

  constructor(tree: Tree, budget: BuildBudget) {
    this.tree = tree
    this.budget = budget
  }

  /** Takes in what a text names, whatever the text is for. */
  name(directory: string, text: string): void {
    for (const one of text.includes('\n') ? [] : [text, text.slice(text.indexOf('=') + 1)]) {
      const path = joinPath(directory, one.trim())?.join('/')
      if (path !== undefined && path !== directory) this.path(path)
    }
  }

  path(path: string): void {
    this.queue.push(path)
  }

  ids(): string[] {
    for (let path = this.queue.pop(); path !== undefined; path = this.queue.pop()) this.visit(path)
    return [...this.seen].sort().map(([path, id]) => `${path} ${id}`)
  }

  private visit(path: string): void {
    if (this.seen.has(path)) return
    const id = path === '' ? this.tree.id : this.tree.entry(path)?.id
    if (id === undefined) return
    this.seen.set(path, id)
    if (path !== '' && this.tree.entry(path)?.type !== 'directory') return
    const files = KUSTOMIZATION_FILES.map(name => (path === '' ? name : `${path}/${name}`))
    for (const file of files) if (this.tree.entry(file)?.type === 'file') this.read(path, file)
    for (const below of this.tree.list(path)) if (below.type === 'directory') this.queue.push(below.path)
  }

  private read(directory: string, file: string): void {
    const origin = { repository: '', file, line: 1, column: 1 }
    const bytes = this.tree.read(file)
    this.budget.spend('bytes', bytes.length, origin)
    try {
      const documents = parseDocuments({ repository: '', path: file }, bytes)
      if (documents.some(root => PLUGINS.some(field => at(root, [field]) !== undefined))) this.path('')
      for (const root of documents) for (const text of nodeTexts(root)) this.name(directory, text)
    } catch (error) {
      if (!(error instanceof BailiwickError)) throw error
      // what cannot be read may name anything
      this.path('')
    }
  }
}

function* nodeTexts(node: Node): Generator<string> {
  if (node.type === 'list') for (const item of node.items) yield* nodeTexts(item)
  else if (node.type === 'map') for (const field of node.fields.values()) yield* nodeTexts(field.value)
  else if (typeof node.value === 'string') yield node.value
}
