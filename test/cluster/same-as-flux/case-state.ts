import type { Json } from '../../../src/kube/node.ts'
import { KUSTOMIZATION } from '../status/flux-world.ts'
import type { SameCase } from './step.ts'

/** A Kustomization as git has it at a step. */
export interface NodeState {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  /** As it is declared; its source changes with its spec, so that nobody sees a new spec beside an old revision. */
  readonly declared: Json & { readonly spec: { readonly [field: string]: Json } }
  readonly source: string
  /** What its artifact says it was built from; '' for nothing. */
  readonly origin: string
  /** Nothing is the same as in the step before. */
  readonly isNewSpec: boolean
  readonly isDeleted: boolean
  /** It was deleted before this step. */
  readonly isGone: boolean
}

export const revisionOf = (step: number) => `main@sha1:${commitOf(step)}`
export const commitOf = (step: number) => (step % 16).toString(16).repeat(36) + String(step).padStart(4, '0')

/** What holds `NS`, with the name of the namespace. */
export const within = <T>(value: T, namespace: string): T =>
  JSON.parse(JSON.stringify(value).replaceAll('NS', namespace))

/** The Kustomizations of a case at a step, in the order in which they were first named. */
export function statesAt({ steps }: SameCase, index: number, namespace: string): NodeState[] {
  const names = new Set<string>()
  const history = steps.slice(0, index + 1).map(step => {
    const { more = {}, before: _b, during: _d, first: _f, ...app } = step
    const nodes = { ...(Object.keys(app).length > 0 ? { app } : {}), ...more }
    for (const name of Object.keys(nodes)) names.add(name)
    return nodes as Readonly<Record<string, (typeof more)[string]>>
  })
  return [...names].flatMap(name => {
    let state: NodeState | undefined
    history.forEach((nodes, step) => {
      const said = nodes[name]
      if (said === undefined && state === undefined) return
      if (state?.isDeleted || state?.isGone) {
        state = { ...state, isDeleted: false, isGone: true }
        if (said === undefined) return
        state = undefined
      }
      const isNewSpec = state === undefined || said?.spec !== undefined
      const source = isNewSpec ? `${name}-${step}` : state!.source
      state = {
        ...{ name, source, isNewSpec, isGone: false, isDeleted: said?.isDeleted === true },
        origin: said?.origin ?? state?.origin ?? '',
        files: said?.files ? within(said.files, namespace) : (state?.files ?? {}),
        declared: isNewSpec ? declaredAs(name, source, said?.spec ?? {}, namespace) : state!.declared,
      }
    })
    return state === undefined ? [] : [state]
  })
}

function declaredAs(name: string, source: string, more: { readonly [field: string]: Json }, namespace: string) {
  const spec: { [field: string]: Json } = {
    interval: '1h',
    retryInterval: '1h',
    prune: true,
    serviceAccountName: 'dev-team',
    sourceRef: { kind: 'GitRepository', name: source },
    ...within(more, namespace),
  }
  return { ...KUSTOMIZATION, metadata: { name, namespace }, spec }
}
