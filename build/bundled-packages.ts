import { relative } from 'node:path'

/** The package folders below `modules` that contain the given files, sorted. */
export function bundledPackages(files: readonly string[], modules: string): readonly string[] {
  return [...new Set(files.flatMap(file => packageFolder(relative(modules, file)) ?? []))].sort()
}

/** Maps `a/node_modules/@b/c/lib/d.js` to `a/node_modules/@b/c`; undefined for a file outside of any package. */
function packageFolder(file: string): string | undefined {
  return /^(?:.*\/node_modules\/)?(?:@[^/.]+\/)?[^/.@][^/]*(?=\/)/.exec(file.replaceAll('\\', '/'))?.[0]
}
