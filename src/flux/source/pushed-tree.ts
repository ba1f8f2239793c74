import { hash } from 'node:crypto'
import type { Tree, TreeEntry } from '../../git/tree.ts'
import { IgnoreRules, parsePatterns } from '../ignore-pattern.ts'
import { MatchWork } from '../pack-budget.ts'
import { packedTree } from '../packed-tree.ts'

/** What the command leaves out unless it is told otherwise (excludeOCI of cmd/flux/build_artifact.go). */
const LEFT_OUT =
  '.git/,.gitignore,.gitmodules,.gitattributes,*.jpg,*.jpeg,*.gif,*.png,*.wmv,*.flv,*.tar.gz,*.zip'.replaceAll(
    ',',
    '\n',
  )

/**
 * What `flux push artifact --path` puts into an artifact of a folder, at the paths that it has in the repository: regular
 * files that its defaults do not leave out (build of fluxcd/pkg oci). `.sourceignore` files are pushed; they count later.
 */
export function pushedTree(tree: Tree, folder: string): Tree {
  const domain = folder === '' ? [] : folder.split('/')
  const rules = new IgnoreRules(parsePatterns(LEFT_OUT, domain), new MatchWork(Number.POSITIVE_INFINITY))
  const lists = new Map<string, readonly TreeEntry[]>()
  const entries = new Map<string, TreeEntry>()
  const keep = (directory: string, names: readonly string[]): string => {
    const kept = tree.list(directory).flatMap((entry): TreeEntry[] => {
      const path = [...names, entry.name]
      const isAbove = path.length <= domain.length
      if (isAbove && path.some((name, index) => name !== domain[index])) return []
      if (entry.type === 'directory') {
        const id = keep(entry.path, path)
        const isEmpty = lists.get(entry.path)?.length === 0
        return isEmpty && !isAbove && rules.ignores(path, true) ? [] : [{ ...entry, id }]
      }
      return entry.type === 'file' && !isAbove && !rules.ignores(path, false) ? [entry] : []
    })
    lists.set(directory, kept)
    for (const entry of kept) entries.set(entry.path, entry)
    return hash('sha1', `pushed\0${kept.map(({ type, id, name }) => `${type} ${id} ${name}\0`).join('')}`)
  }
  const id = tree.entry(folder)?.type === 'directory' ? keep('', []) : hash('sha1', 'pushed')
  entries.set('', { name: '', path: '', type: 'directory', id })
  return packedTree(tree, id, entries, lists)
}
