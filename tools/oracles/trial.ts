import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Fields } from './generate/value.ts'
import { compare, type Outcome, type Result } from './outcome.ts'

/** An input for both programs: files, and either a directory to build or a Flux Kustomization to render from them. */
export interface Trial {
  readonly files: Readonly<Record<string, string | Uint8Array>>
  /** The directory that kustomize builds. */
  readonly target?: string
  /** What goes into a request to flux-render beside `root`. */
  readonly flux?: Fields
}

export interface Programs {
  ours(request: object): Promise<Result>
  kustomize(directory: string): Promise<Result>
  fluxRender(request: object): Promise<Result>
}

/** Gives the input to both programs, in a folder of its own below `scratch`. */
export async function hold(trial: Trial, programs: Programs, scratch: string): Promise<Outcome> {
  const root = mkdtempSync(join(scratch, 'case-'))
  try {
    for (const [path, content] of Object.entries(trial.files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), content)
    }
    if (trial.flux) {
      const request = { root, ...trial.flux }
      const [ours, real] = await Promise.all([programs.ours(request), programs.fluxRender(request)])
      return compare(ours, real)
    }
    const directory = join(root, trial.target ?? '')
    const [ours, real] = await Promise.all([programs.ours({ build: directory, root }), programs.kustomize(directory)])
    return compare(ours, real)
  } finally {
    rmSync(root, { recursive: true })
  }
}
