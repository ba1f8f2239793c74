import { accessSync, constants } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

/** Real programs that tests are held against: the variable that names each, and how to get it. (The API server: tools/envtest.) */
export const programs = {
  kustomize: { variable: 'KUSTOMIZE', get: '`.ci/run` installs it, or set KUSTOMIZE to a kustomize 5.8.1' },
  'flux-render': {
    variable: 'FLUX_RENDER',
    get: '`.ci/run` builds it, or set FLUX_RENDER to a build of tools/oracles/flux-render',
  },
  'go-yaml': {
    variable: 'GO_YAML',
    get: '`.ci/run` builds it, or set GO_YAML to a build of tools/oracles/go-yaml',
  },
  'node-22': { variable: 'NODE_22', get: '`.ci/run` installs it, or set NODE_22 to a Node 22.18.0' },
  registry: {
    variable: 'REGISTRY',
    get: '`.ci/run` builds it, or set REGISTRY to a build of github.com/distribution/distribution v3',
  },
  crane: { variable: 'CRANE', get: '`.ci/run` installs it, or set CRANE to a crane 0.20.6' },
  sops: { variable: 'SOPS', get: '`.ci/run` installs it, or set SOPS to a sops 3.13.3' },
  age: { variable: 'AGE', get: '`.ci/run` installs it, or set AGE to an age 1.3.2' },
  'mermaid.min.js': {
    variable: 'MERMAID',
    get: '`.ci/run` installs it, or set MERMAID to dist/mermaid.min.js of the npm package mermaid 11.12.0',
  },
  'redis-server': { variable: 'REDIS_SERVER', get: 'install the package `redis-server`' },
} as const

export type Program = keyof typeof programs

/** Programs that were built once lie here, outside the repository, so that a fresh clone finds them again. */
export const programCache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'bailiwick', 'bin')

/** Path of a program: its variable, the cache, PATH, in this order; undefined when the machine has none. */
export function findProgram(name: Program): string | undefined {
  const named = process.env[programs[name].variable]
  if (named) return isRunnable(named) ? named : undefined
  const directories = [programCache, ...(process.env.PATH ?? '').split(delimiter)].filter(directory => directory !== '')
  return directories.map(directory => join(directory, name)).find(isRunnable)
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
