import { at, type Json, type MapNode, stringAt } from '../../kube/node.ts'

const REFERRING =
  '(kustomize-controller|helm-controller|notification-controller|image-reflector-controller|image-automation-controller|source-watcher)'
const APPLYING = '(kustomize-controller|helm-controller)'

/** Sizes of a cluster, with the flags that each adds to the controllers that apply, and to source-controller. */
const SIZES: ReadonlyMap<string, readonly (readonly [name: string, flags: readonly string[]])[]> = new Map([
  ['small', sized(['--concurrent=5', '--requeue-dependency=10s'], ['10'])],
  ['medium', sized(['--concurrent=10', '--requeue-dependency=5s'], ['50', '5'])],
  ['large', sized(['--concurrent=20', '--requeue-dependency=5s'], ['100', '10'])],
])

/**
 * The patches that the Flux Operator applies for `spec.cluster` of a FluxInstance before those of its own, as far as flags
 * and accounts go, in its order: an own patch names a flag by its place (flux-operator, internal/builder/profiles.go).
 */
export function profilePatches(instance: MapNode): readonly Json[] {
  const size = SIZES.get(stringAt(instance, ['spec', 'cluster', 'size']) ?? '') ?? []
  return [...size.flatMap(([name, flags]) => flags.map(flag => adding(name, flag))), ...multitenant(instance)]
}

function sized(applying: readonly string[], [cache, concurrent]: readonly string[]) {
  const source = [`--helm-cache-max-size=${cache}`, '--helm-cache-ttl=720m', '--helm-cache-purge-interval=60m']
  const more = concurrent === undefined ? [] : [`--concurrent=${concurrent}`]
  return [
    [APPLYING, applying],
    ['source-controller', [...source, ...more]],
  ] as const
}

function multitenant(instance: MapNode): readonly Json[] {
  const flag = at(instance, ['spec', 'cluster', 'multitenant'])
  if (flag?.type !== 'scalar' || flag.value !== true) return []
  const account = stringAt(instance, ['spec', 'cluster', 'tenantDefaultServiceAccount']) || 'default'
  return [
    adding(REFERRING, '--no-cross-namespace-refs=true'),
    adding('kustomize-controller', '--no-remote-bases=true'),
    adding(APPLYING, `--default-service-account=${account}`),
    { target: { kind: 'Kustomization' }, patch: addition('/spec/serviceAccountName', 'kustomize-controller') },
  ]
}

const adding = (name: string, flag: string): Json => ({
  target: { kind: 'Deployment', name },
  patch: addition('/spec/template/spec/containers/0/args/-', flag),
})

const addition = (path: string, value: string) => JSON.stringify([{ op: 'add', path, value }])
