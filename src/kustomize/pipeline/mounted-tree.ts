import type { Tree } from '../../git/tree.ts'
import type { PinnedAddress } from '../paths/pinned-address.ts'
import { MOUNT } from '../paths/resolve-path.ts'

/** The content of a repository at a commit; undefined where it is not at hand. */
export type FindRemote = (url: string, commit: string) => Tree | undefined

/**
 * A tree beside which others can be mounted. Their paths begin with a part that git cannot have, so that none leads from
 * one tree into another.
 */
export class MountedTree implements Tree {
  readonly id: string
  private readonly own: Tree
  private readonly find: FindRemote
  private readonly mounts = new Map<string, { readonly url: string; readonly tree: Tree }>()

  constructor(own: Tree, find: FindRemote) {
    this.id = own.id
    this.own = own
    this.find = find
  }

  /** The path of what an address names, whether it is there or not; undefined where its repository is not at hand. */
  mount({ url, commit, path }: PinnedAddress): string | undefined {
    const name = `${MOUNT}${url.replaceAll('/', MOUNT)}@${commit}`
    if (!this.mounts.has(name)) {
      const tree = this.find(url, commit)
      if (!tree) return undefined
      this.mounts.set(name, { url, tree })
    }
    return path === '' ? name : `${name}/${path}`
  }

  entry(path: string) {
    const at = this.at(path)
    const found = at.tree.entry(at.path)
    return found && at.name !== '' ? { ...found, path } : found
  }

  list(path: string) {
    const at = this.at(path)
    const listed = at.tree.list(at.path)
    return at.name === '' ? listed : listed.map(entry => ({ ...entry, path: `${at.name}/${entry.path}` }))
  }

  read(path: string): Uint8Array {
    const at = this.at(path)
    return at.tree.read(at.path)
  }

  place(path: string) {
    const at = this.at(path)
    return at.tree.place?.(at.path) ?? (at.url === undefined ? undefined : { repository: at.url, path: at.path })
  }

  left(path: string) {
    const at = this.at(path)
    return at.tree.left?.(at.path)
  }

  private at(path: string): { name: string; url?: string; tree: Tree; path: string } {
    if (!path.startsWith(MOUNT)) return { name: '', tree: this.own, path }
    const slash = path.indexOf('/')
    const name = slash < 0 ? path : path.slice(0, slash)
    const mounted = this.mounts.get(name)
    if (!mounted) return { name: '', tree: this.own, path }
    return { name, ...mounted, path: slash < 0 ? '' : path.slice(slash + 1) }
  }
}
