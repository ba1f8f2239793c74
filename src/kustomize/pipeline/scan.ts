import { BailiwickError } from '../../errors.ts'
import type { Origin } from '../../origin.ts'
import { checkBuiltin } from '../fields/check-forbidden.ts'
import type { Kustomization } from '../fields/kustomization.ts'
import type { Entry } from '../model/entry.ts'
import type { BuildFiles } from './build-files.ts'
import { isInline, parseEntry } from './load-configs.ts'
import { noteDecrypted } from './note-decrypted.ts'

/** How many directories may lead to one. */
const MAX_DEPTH = 50

/** Reads everything that is reachable before building any of it: what is forbidden is said even where a build fails. */
export class Scan {
  private readonly files: BuildFiles
  private readonly decrypts: boolean

  constructor(files: BuildFiles, decrypts: boolean) {
    this.files = files
    this.decrypts = decrypts
  }

  run(kustomization: Kustomization, chain: readonly string[] = []): void {
    const { resources, components, generators, transformers, directory } = kustomization
    for (const entry of [...generators, ...transformers]) {
      if (isInline(entry)) parseEntry(entry).documents.forEach(checkBuiltin)
      else this.builtins(directory, entry, chain)
    }
    if (this.decrypts) noteDecrypted(kustomization, this.files)
    for (const entry of [...resources, ...components]) {
      if (this.files.typeOf(directory, entry) !== 'directory') continue
      const path = this.files.pathOf(directory, entry)
      if (chain.includes(path) || this.files.isRead(path)) continue
      checkDepth(chain, entry.origin)
      this.run(this.files.kustomizationIn(path, entry.origin), [...chain, path])
    }
  }

  /** What configures a builtin must do nothing that is forbidden, wherever it is. */
  private builtins(directory: string, entry: Entry, chain: readonly string[]): void {
    const type = entry.text === '' ? undefined : this.files.typeOf(directory, entry)
    if (type === 'file') this.files.fileBeside(directory, entry).documents.forEach(checkBuiltin)
    if (type !== 'directory') return
    const path = this.files.pathOf(directory, entry)
    if (chain.includes(path)) return
    checkDepth(chain, entry.origin)
    const child = this.files.kustomizationIn(path, entry.origin)
    this.run(child, [...chain, path])
    for (const below of child.resources) this.builtins(path, below, [...chain, path])
  }
}

/** Throws `render-limits` for more directories that lead to one than there may be. */
export function checkDepth(chain: readonly string[], origin: Origin): void {
  if (chain.length <= MAX_DEPTH) return
  throw new BailiwickError('render-limits', `more than ${MAX_DEPTH} nested directories in one build`, { origin })
}
