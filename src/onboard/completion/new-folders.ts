import type { Tree } from '../../git/tree.ts'

/** Folders of a change with YAML files, where the folder above was there before. */
export function newFolders(before: Tree, after: Tree): { path: string; base: string }[] {
  const found: { path: string; base: string }[] = []
  const look = (base: string) => {
    for (const { path, type, id } of after.list(base)) {
      if (type !== 'directory') continue
      const known = before.entry(path)
      if (known?.id === id) continue
      if (known) look(path)
      else if (after.list(path).some(({ name }) => /\.ya?ml$/.test(name))) found.push({ path, base })
    }
  }
  look('')
  return found
}
