import { CelProgram } from '../cel/cel-program.ts'
import type { ReadyExpr } from '../flux/apply-settings/apply-settings.ts'
import { apiVersionOf, KUSTOMIZATION } from '../flux/kinds.ts'
import type { Json } from '../kube/node.ts'
import type { ClusterClient } from './client.ts'
import { mapAt } from './json-at.ts'
import { readLive } from './read-live.ts'

/**
 * Whether a dependency is ready by its `readyExpr`, asked of the two live Kustomizations as kustomize-controller asks it:
 * `self` and `dep`. Undefined: it is; else why not, in the controller's words.
 */
export async function readyByExpression(
  client: ClusterClient,
  self: { readonly namespace: string; readonly name: string },
  { dependency, expression }: ReadyExpr,
  signal: AbortSignal,
): Promise<string | undefined> {
  const program = CelProgram.compile(expression, ['self', 'dep'])
  if ('problem' in program) return `readyExpr of dependency '${dependency}': ${program.problem}`
  const slash = dependency.indexOf('/')
  const dep = { namespace: dependency.slice(0, slash), name: dependency.slice(slash + 1) }
  const [own, other] = await Promise.all([self, dep].map(one => readKustomization(client, one, signal)))
  if (other === undefined) return `dependency '${dependency}' not found`
  if (own === undefined) return `the cluster has no Kustomization ${self.namespace}/${self.name}`
  const answer = program.test({ self: own, dep: other })
  if ('error' in answer) return `readyExpr of dependency '${dependency}': ${answer.error}`
  return answer.value ? undefined : `dependency '${dependency}' is not ready according to readyExpr eval`
}

/** As the controller's own type has it: `force` is left out where it is false, and there is always a status. */
async function readKustomization(
  client: ClusterClient,
  at: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<Json | undefined> {
  const id = { apiVersion: apiVersionOf(KUSTOMIZATION), kind: 'Kustomization', ...at }
  const find = () => client.discovery.findAnyVersion(id.apiVersion, id.kind)
  const live = (await readLive(client, 'worker', id, { find, whole: true, signal }))?.live
  if (live === undefined) return undefined
  const { force, ...spec } = mapAt(live, 'spec')
  return { ...mapAt(live), spec: force === true ? { ...spec, force } : spec, status: { ...mapAt(live, 'status') } }
}
