import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

/** The repositories that lie beside this file: what each is called here, and its address and branch as Flux sources name it. */
export const fleetRepositories = {
  'acme/fleet': { url: 'https://github.com/acme/fleet', branch: 'main' },
  'acme/dev-team': { url: 'https://github.com/acme/dev-team', branch: 'main' },
  'acme/ops-team': { url: 'https://github.com/acme/ops-team', branch: 'main' },
} as const

type FleetRepository = keyof typeof fleetRepositories

/** Path to content of every file of one committed repository, sorted by path; throws when it holds none. */
export function fleetFiles(repository: FleetRepository): Record<string, string> {
  return directoryFiles(join(import.meta.dirname, repository))
}

/** The same for any directory, such as a reference fleet outside this repository; `.git` is left out. */
export function directoryFiles(directory: string): Record<string, string> {
  const files: [string, string][] = []
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const path = relative(directory, file).split(sep).join('/')
    if (path.startsWith('.git/')) continue
    files.push([path, readFileSync(file, 'utf8')])
  }
  if (files.length === 0) throw new Error(`${directory} holds no file`)
  return Object.fromEntries(files.sort(([a], [b]) => (a < b ? -1 : 1)))
}
