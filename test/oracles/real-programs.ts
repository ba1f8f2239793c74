import { spawnSync } from 'node:child_process'
import { type Json, toJson } from '../../src/kube/node.ts'
import { parseDocuments } from '../../src/kube/parse-documents.ts'
import { findProgram } from '../programs.ts'
import type { Expected } from './fixtures.ts'

/** Paths of the real programs; undefined where this machine has none. */
export const KUSTOMIZE = findProgram('kustomize')
export const FLUX_RENDER = findProgram('flux-render')

/** What `kustomize build` makes of a directory. */
export function kustomizeBuild(program: string, directory: string): Expected {
  const args = ['build', '--load-restrictor', 'LoadRestrictionsNone', '--reorder', 'none', directory]
  const run = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { PATH: '/nonexistent', HOME: '/nonexistent' },
  })
  if (run.status !== 0) return { fails: true }
  return { objects: parseDocuments({ repository: '', path: 'kustomize' }, Buffer.from(run.stdout)).map(toJson) }
}

export interface FluxRequest {
  readonly root: string
  readonly kustomization: Json
  readonly ignore?: string
}

/** What flux-render (test/oracles/flux-render) answers, with the files that it packed. */
export function fluxRender(program: string, request: FluxRequest): Expected & { files: string[] } {
  const run = spawnSync(program, [], { input: `${JSON.stringify(request)}\n`, encoding: 'utf8', maxBuffer: 2 ** 28 })
  const answer = JSON.parse(run.stdout) as { files: string[]; objects?: Json[]; error?: string }
  return answer.error === undefined
    ? { files: answer.files, objects: answer.objects ?? [] }
    : { files: answer.files, fails: true }
}
