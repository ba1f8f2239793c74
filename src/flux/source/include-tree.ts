import { hash } from 'node:crypto'
import { BailiwickError } from '../../errors.ts'
import type { Tree, TreeEntry } from '../../git/tree.ts'
import type { Origin } from '../../origin.ts'
import { artifactPath } from '../artifact-path.ts'

/** One entry of `spec.include` of a GitRepository, with what it includes. */
interface Include {
  readonly origin: Origin
  /** What the included source gives: its own ignore rules were applied. */
  readonly content: Tree
  readonly repository: string
  readonly fromPath: string
  readonly toPath: string
}

/**
 * A tree with a directory (or a file) of another source's artifact put into it, as source-controller does before it packs
 * the whole: the place must not be taken by anything that is not empty. Throws `flux-invalid`.
 */
export function includeTree(tree: Tree, include: Include): Tree {
  const from = artifactPath(include.fromPath)
  const to = artifactPath(include.toPath)
  const source = include.content.entry(from)
  const problem = source
    ? whyNot(tree, source, to)
    : `does not exist: the included source has no ${JSON.stringify(include.fromPath)}`
  if (!source || problem) {
    const message = `spec.include: the content for ${JSON.stringify(include.toPath)} ${problem}`
    throw new BailiwickError('flux-invalid', message, {
      origin: include.origin,
      fix: 'Correct fromPath or toPath of the include.',
    })
  }
  return mount(tree, include, source, to)
}

function whyNot(tree: Tree, source: TreeEntry, to: string): string | undefined {
  if (to === '') return 'would replace the whole repository'
  const parts = to.split('/')
  if (parts[0] === '.git') return 'would be inside the .git directory'
  for (let depth = 1; depth < parts.length; depth++) {
    const type = tree.entry(parts.slice(0, depth).join('/'))?.type ?? 'directory'
    if (type !== 'directory') return `would be below a ${type}`
  }
  const taken = tree.entry(to)
  if (!taken || (taken.type === 'file' && source.type === 'file')) return undefined
  return `would replace a ${taken.type}`
}

function mount(tree: Tree, include: Include, source: TreeEntry, to: string): Tree {
  const { content, repository } = include
  const below = (path: string): string | undefined => {
    if (path !== to && !path.startsWith(`${to}/`)) return undefined
    return [source.path, path.slice(to.length + 1)].filter(Boolean).join('/')
  }
  const moved = (entry: TreeEntry): TreeEntry => {
    const path = [to, entry.path.slice(source.path === '' ? 0 : source.path.length + 1)].filter(Boolean).join('/')
    return { ...entry, path, name: path.slice(path.lastIndexOf('/') + 1) }
  }
  const id = hash('sha1', `include\0${tree.id}\0${source.id}\0${to}`)
  const parents = new Map(parentsOf(to).map(path => [path, hash('sha1', `${id} ${path}`)]))
  const entry = (path: string): TreeEntry | undefined => {
    const inner = below(path)
    if (inner !== undefined) {
      const found = content.entry(inner)
      return found && moved(found)
    }
    const made = parents.get(path)
    if (made === undefined) return tree.entry(path)
    return { name: path.slice(path.lastIndexOf('/') + 1), path, type: 'directory', id: made }
  }
  return {
    id,
    entry,
    list: path => {
      const inner = below(path)
      if (inner !== undefined) return content.list(inner).map(moved)
      const next = [...parents.keys(), to].find(other => other !== '' && parentOf(other) === path)
      if (next === undefined) return tree.list(path)
      return [...tree.list(path).filter(other => other.path !== next), entry(next)!].sort(byName)
    },
    read: path => {
      const inner = below(path)
      return inner === undefined ? tree.read(path) : content.read(inner)
    },
    place: path => {
      const inner = below(path)
      if (inner === undefined) return tree.place?.(path)
      return content.place?.(inner) ?? { repository, path: inner }
    },
  }
}

/** The directories above a path, the root first. */
function parentsOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1)
  return ['', ...parts.map((_part, index) => parts.slice(0, index + 1).join('/'))]
}

const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')))
const byName = (a: TreeEntry, b: TreeEntry) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name))
