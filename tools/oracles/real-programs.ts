import { spawnSync } from 'node:child_process'
import type { Json } from '../../src/kube/node.ts'
import { findProgram } from '../../test/repository/runner/programs.ts'
import type { Expected } from './fixtures.ts'
import { type Plain, readJsonExactly, readOutput } from './read-output.ts'

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
  return { objects: readOutput(run.stdout).map(jsonOf) }
}

/** The same as JSON, as `toJson` of our nodes has it: an integer that a number would round becomes its text. */
function jsonOf(value: Plain): Json {
  if (Array.isArray(value)) return value.map(jsonOf)
  if (typeof value === 'bigint') return BigInt(Number(value)) === value ? Number(value) : String(value)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, jsonOf(child)]))
}

interface FluxRequest {
  readonly root: string
  readonly kustomization: Json
  readonly ignore?: string
}

/** What flux-render (tools/oracles/flux-render) answers, with the files that it packed. */
export function fluxRender(program: string, request: FluxRequest): Expected & { files: string[] } {
  const run = spawnSync(program, [], { input: `${JSON.stringify(request)}\n`, encoding: 'utf8', maxBuffer: 2 ** 28 })
  const answer = readJsonExactly(run.stdout) as unknown as { files: string[]; objects?: Plain[]; error?: string }
  return answer.error === undefined
    ? { files: answer.files, objects: (answer.objects ?? []).map(jsonOf) }
    : { files: answer.files, fails: true }
}
