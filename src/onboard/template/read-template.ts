import { BailiwickError } from '../../errors.ts'
import { parentOf } from '../../fleet/bootstrap/overlay-tree.ts'
import type { Tree, TreeEntry } from '../../git/tree.ts'

/** What a fleet gives each new tenant besides its account and its sync. */
export interface TenantTemplate {
  /** Its folder; '' where the fleet has none. */
  readonly folder: string
  /** Files with objects, by name. */
  readonly files: ReadonlyMap<string, string>
  /** Lines for the CODEOWNERS of the fleet. */
  readonly owners: string
  /** Paths that are not used. */
  readonly unused: readonly string[]
}

const FOLDER = 'template'
const OWNERS = 'CODEOWNERS'
const MAX_FILES = 50
const MAX_BYTES = 64 * 1024

/**
 * The folder `template` beside the folder of the tenants, or in it (`tenants/template`). Throws `onboard-layout` for one that
 * cannot be copied as it is.
 */
export function readTemplate(tree: Tree, base: string): TenantTemplate {
  const beside = parentOf(base) === '' ? [] : [`${parentOf(base)}/${FOLDER}`]
  const folder = [...beside, base === '' ? FOLDER : `${base}/${FOLDER}`].find(path => tree.entry(path))
  const files = new Map<string, string>()
  const unused: string[] = []
  let owners = ''
  if (folder === undefined) return { folder: '', files, owners, unused }
  const entries = tree.list(folder)
  if (entries.length > MAX_FILES) throw refused(folder, `has more than ${MAX_FILES} files`, 'Merge some of its files.')
  for (const entry of entries) {
    const { name, path } = entry
    if (/^kustomization\.ya?ml$/i.test(name) || name === 'README.md') continue
    if (name === OWNERS) owners = textOf(tree, entry)
    else if (/\.ya?ml$/.test(name)) files.set(name, textOf(tree, entry))
    else unused.push(path)
  }
  return { folder, files, owners, unused }
}

function textOf(tree: Tree, { path, type }: TreeEntry): string {
  if (type !== 'file') throw refused(path, `is a ${type}`, 'Commit it as a file.')
  const bytes = tree.read(path)
  if (bytes.length > MAX_BYTES) throw refused(path, `is larger than ${MAX_BYTES / 1024} KiB`, 'Split it.')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw refused(path, 'is not UTF-8 text', 'Save it as UTF-8.', cause)
  }
}

function refused(file: string, what: string, fix: string, cause?: unknown): BailiwickError {
  const origin = { repository: '', file, line: 1, column: 1 }
  return new BailiwickError('onboard-layout', `${file}: ${what}`, { fix, origin, cause })
}
