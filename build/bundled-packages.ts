import { relative } from 'node:path'

/** The folders below `modules` of the packages that files belong to, sorted. */
export function bundledPackages(files: readonly string[], modules: string): readonly string[] {
  return [...new Set(files.flatMap(file => packageFolder(relative(modules, file)) ?? []))].sort()
}

/** `a/node_modules/@b/c` of `a/node_modules/@b/c/lib/d.js`; undefined for what is no file of a package. */
function packageFolder(file: string): string | undefined {
  return /^(?:.*\/node_modules\/)?(?:@[^/.]+\/)?[^/.@][^/]*(?=\/)/.exec(file.replaceAll('\\', '/'))?.[0]
}
