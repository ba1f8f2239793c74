import { CelProgram } from '../../expr/cel-program.ts'
import type { Json } from '../../kube/node.ts'
import { groupOf } from '../../kube/object.ts'
import { computeStatus } from './compute-status.ts'
import { current, failed, fieldOf, inProgress, type ResourceStatus, textOf, unknown } from './resource-status.ts'

/** Expressions that decide instead of kstatus; without a kind for the whole group. */
interface CustomRule {
  readonly apiVersion: string
  readonly kind: string
  readonly current: string
  readonly failed?: string
  readonly inProgress?: string
}

interface KindName {
  readonly apiVersion: string
  readonly kind: string
}

interface CustomStatus {
  /** Whether expressions decide about a kind. Jobs are always read as Flux reads them. */
  readonly decides: (id: KindName) => boolean
  readonly status: (object: Json, now: number) => ResourceStatus
}

type Program = readonly [keyof Pick<CustomRule, 'current' | 'failed' | 'inProgress'>, CelProgram]

/** The status of objects where some kinds have expressions of their own (`healthCheckExprs`, RFC-0009 of Flux). */
export function customStatus(rules: readonly CustomRule[]): CustomStatus {
  const known = new Map<string, readonly Program[] | string>()
  for (const rule of rules) known.set(`${groupOf(rule.apiVersion)}/${rule.kind}`, programsOf(rule))
  const find = ({ apiVersion, kind }: KindName) => {
    const group = groupOf(apiVersion)
    if (`${group}/${kind}` === 'batch/Job') return undefined
    return known.get(`${group}/${kind}`) ?? known.get(`${group}/`)
  }
  return {
    decides: id => find(id) !== undefined,
    status(object, now) {
      const programs = find({ apiVersion: textOf(object, ['apiVersion']), kind: textOf(object, ['kind']) })
      if (programs === undefined) return computeStatus(object, now)
      return typeof programs === 'string' ? unknown(programs) : evaluated(programs, object)
    },
  }
}

/** In the order in which they are asked; or what is wrong with one of them. */
function programsOf(rule: CustomRule): readonly Program[] | string {
  const programs: Program[] = []
  for (const which of ['inProgress', 'failed', 'current'] as const) {
    const text = rule[which]
    if (text === undefined) continue
    const program = CelProgram.compile(text)
    if ('problem' in program) return `${which} of healthCheckExprs: ${program.problem}`
    programs.push([which, program])
  }
  return programs
}

function evaluated(programs: readonly Program[], object: Json): ResourceStatus {
  const observed = fieldOf(object, 'status', 'observedGeneration')
  const generation = fieldOf(object, 'metadata', 'generation')
  if (Number.isInteger(observed) && Number.isInteger(generation) && observed !== generation) {
    return inProgress('LatestGenerationNotObserved', `generation is ${generation}, but ${observed} is observed`)
  }
  const input = object !== null && typeof object === 'object' && !Array.isArray(object) ? object : {}
  for (const [which, program] of programs) {
    const answer = program.test(input)
    if ('error' in answer) return unknown(`${which} of healthCheckExprs: ${answer.error}`)
    if (answer.value) return statusFor(which)
  }
  return inProgress('HealthCheckExprs', 'no expression of healthCheckExprs is true')
}

function statusFor(which: Program[0]): ResourceStatus {
  const message = `${which} of healthCheckExprs is true`
  if (which === 'current') return current(message)
  return which === 'failed' ? failed('HealthCheckExprs', message) : inProgress('HealthCheckExprs', message)
}
