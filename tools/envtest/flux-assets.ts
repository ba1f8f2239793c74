import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The releases that the worker is compared with. The hashes are those of the Go checksum database. */
export const FLUX_MODULES = {
  controller: {
    path: 'github.com/fluxcd/kustomize-controller',
    version: 'v1.9.5',
    sum: 'h1:/XY2zy3K7fntyppEXIHG7oRMzmfgIt50eJzUfaPX1Kc=',
  },
  cli: {
    path: 'github.com/fluxcd/flux2/v2',
    version: 'v2.9.5',
    sum: 'h1:jwCccxvkD+2QnsjN+pl5QqM8KnFUwA8pIoQ1Lf0avkA=',
  },
  sources: {
    path: 'github.com/fluxcd/source-controller',
    version: 'v1.9.5',
    sum: 'h1:MFPyCodUi9hZIMaKDsC/rYbNoyzpvrAdrPVixj7W9F0=',
  },
} as const

/** What of Flux runs in tests. */
export interface FluxAssets {
  readonly controller: string
  readonly cli: string
  /** CustomResourceDefinitions of kustomize-controller and source-controller, one file each. */
  readonly definitions: string
}

/** Where `npm run envtest` keeps them; outside the repository, one folder per release of Flux. */
export function fluxDirectory(): string {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  return join(cache, 'bailiwick', 'envtest', `flux-${FLUX_MODULES.cli.version}`)
}

/** What `npm run envtest` built; undefined where a part of it is missing. */
export function findFlux(): FluxAssets | undefined {
  const directory = fluxDirectory()
  const assets = {
    controller: join(directory, 'kustomize-controller'),
    cli: join(directory, 'flux'),
    definitions: join(directory, 'definitions'),
  }
  return Object.values(assets).every(path => existsSync(path)) ? assets : undefined
}

/** What a test prints that needs them. */
export const NO_FLUX = 'skipped: no kustomize-controller here; `npm run envtest` builds one (needs Go)'
