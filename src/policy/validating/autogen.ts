import { at, type Node } from '../../kube/node.ts'
import { textsOf } from '../../kube/read-text.ts'
import type { AdmissionRequest } from '../admission/admission-request.ts'

/** The path of a controller's Pod template. */
type PodPlace = 'spec.template' | 'spec.jobTemplate.spec.template'

/** Controllers for which Kyverno rewrites the policy, by `<apiVersion> <resource>` (kyverno pkg/cel/autogen). */
const CONTROLLERS: ReadonlyMap<string, PodPlace> = new Map([
  ...['daemonsets', 'deployments', 'replicasets', 'statefulsets'].map(
    name => [`apps/v1 ${name}`, 'spec.template'] as const,
  ),
  ['batch/v1 jobs', 'spec.template'],
  ['batch/v1 cronjobs', 'spec.jobTemplate.spec.template'],
])

/** The path of the Pod template in an object of another kind; undefined if Kyverno does not rewrite the policy for that kind. */
export function podPlaceFor(spec: Node, { id, resource }: AdmissionRequest): PodPlace | undefined {
  const place = CONTROLLERS.get(`${id.apiVersion} ${resource}`)
  if (place === undefined || !isOfPodsAlone(at(spec, ['matchConstraints']))) return undefined
  const asked = at(spec, ['autogen', 'podControllers', 'controllers'])
  return asked === undefined || (textsOf(asked) ?? []).includes(resource) ? place : undefined
}

function isOfPodsAlone(match: Node | undefined): boolean {
  const [rules, excluded] = [at(match, ['resourceRules']), at(match, ['excludeResourceRules'])]
  if (rules?.type !== 'list' || rules.items.length !== 1) return false
  if (excluded?.type === 'list' && excluded.items.length > 0) return false
  const selector = at(match, ['objectSelector'])
  const isSelecting = selector?.type === 'map' && [...selector.fields.values()].some(({ value }) => holds(value))
  const [rule] = rules.items
  const is = (key: string, wanted: string) => {
    const texts = textsOf(at(rule, [key])) ?? []
    return texts.length === 1 && texts[0] === wanted
  }
  const isNamed = holds(at(rule, ['resourceNames']))
  return !isSelecting && !isNamed && is('apiGroups', '') && is('apiVersions', 'v1') && is('resources', 'pods')
}

const holds = (node: Node | undefined): boolean =>
  (node?.type === 'map' && node.fields.size > 0) || (node?.type === 'list' && node.items.length > 0)

/** Rewrites an expression about a Pod to the Pod template of a controller; `metadata.namespace` stays the object's own. */
export function rewriteFor(place: PodPlace): (text: string) => string {
  return text =>
    text
      .replace(/(object|oldObject)\.spec(?!\.namespace(?!\w))/g, `$1.${place}.spec`)
      .replace(/(object|oldObject)\.metadata(?!\.namespace(?!\w))/g, `$1.${place}.metadata`)
}
