import { hash } from 'node:crypto'
import { BailiwickError } from '../../errors.ts'
import type { Tree, TreeEntry } from '../../git/tree.ts'
import type { Entry } from '../../kustomize/model/entry.ts'
import { message, part } from '../../message/message.ts'

/**
 * What is checked out of a tree where `spec.sparseCheckout` of a GitRepository names directories: every file whose path
 * starts with the text of one of them, so `app` brings `apps/` and `app.yaml` along (go-git compares texts). Nothing else
 * is there, not even ignore files of the root. Throws `flux-invalid` for what is not a directory of the tree.
 */
export function sparseTree(tree: Tree, directories: readonly Entry[]): Tree {
  const prefixes = directories.map(entry => prefixOf(tree, entry))
  const kept = new Map<string, readonly TreeEntry[]>()
  const entries = new Map<string, TreeEntry>()
  const keep = (directory: string): TreeEntry[] => {
    const list: TreeEntry[] = []
    for (const entry of tree.list(directory)) {
      if (prefixes.some(prefix => entry.path.startsWith(prefix))) {
        if (entry.type === 'directory') keep(entry.path)
        list.push(entry)
      } else if (entry.type === 'directory' && prefixes.some(prefix => prefix.startsWith(`${entry.path}/`))) {
        const below = keep(entry.path)
        if (below.length > 0) list.push({ ...entry, id: idOf(below) })
      }
    }
    kept.set(directory, list)
    for (const entry of list) entries.set(entry.path, entry)
    return list
  }
  const id = idOf(keep(''))
  entries.set('', { name: '', path: '', type: 'directory', id })
  return {
    id,
    entry: path => entries.get(path),
    list: path => kept.get(path) ?? [],
    ...(tree.place ? { place: path => tree.place?.(path) } : {}),
    read: path => {
      const { type } = entries.get(path) ?? {}
      if (type === 'file' || type === 'symlink') return tree.read(path)
      throw new BailiwickError(
        'git-missing',
        message`the sparse checkout has no file ${part('path', path, JSON.stringify(path))}`,
      )
    },
  }
}

const idOf = (entries: readonly TreeEntry[]): string =>
  hash('sha1', `sparse\0${entries.map(entry => `${entry.type} ${entry.id} ${entry.name}\0`).join('')}`)

function prefixOf(tree: Tree, { text, origin }: Entry): string {
  const path = text.replace(/^\.\//, '')
  if (path !== '' && tree.entry(path)?.type === 'directory') return path
  const message = `spec.sparseCheckout: the repository has no directory ${JSON.stringify(text)}`
  const fix = 'Write each directory as a path without a trailing slash.'
  throw new BailiwickError('flux-invalid', message, { origin, fix })
}
