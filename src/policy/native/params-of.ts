import type { CelValue } from '../../cel/values.ts'
import { readLabelSelector, selects } from '../../kube/label-selector.ts'
import { at, stringAt } from '../../kube/node.ts'
import { groupOf, type KubeObject } from '../../kube/object.ts'
import type { AdmissionRequest } from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { labelsOf } from '../admission/namespace-value.ts'
import { objectValueIn } from '../admission/object-value.ts'
import { requestNamespace } from '../admission/request-namespace.ts'

/**
 * The objects of parameters that a binding hands to a policy, one evaluation each (CollectParams of k8s.io/apiserver
 * pkg/admission/plugin/policy/generic); a text: why they are not known. Parameters that the fleet does not render may be on the
 * cluster all the same, so parameterNotFoundAction decides nothing here.
 */
export function paramsOf(
  world: AdmissionWorld,
  policy: KubeObject,
  binding: KubeObject,
  request: AdmissionRequest,
): readonly CelValue[] | string {
  const paramKind = at(policy.root, ['spec', 'paramKind'])
  const reference = at(binding.root, ['spec', 'paramRef'])
  if (!paramKind || !reference) return [null]
  const kind = `${groupOf(stringAt(paramKind, ['apiVersion']) ?? '')}/${stringAt(paramKind, ['kind']) ?? ''}`
  const objects = found(world, kind, reference, request)
  return objects.length > 0
    ? objects.map(object => objectValueIn(world, object))
    : 'the fleet does not render the parameters of its binding'
}

function found(
  world: AdmissionWorld,
  kind: string,
  reference: NonNullable<ReturnType<typeof at>>,
  request: AdmissionRequest,
): readonly KubeObject[] {
  const named = stringAt(reference, ['namespace']) ?? ''
  const namespace = named || requestNamespace(request)
  const name = stringAt(reference, ['name'])
  if (name) {
    const object = world.object(kind, namespace, name) ?? world.object(kind, '', name)
    return object ? [object] : []
  }
  const written = at(reference, ['selector'])
  const selector = written && readLabelSelector(written)
  if (!selector) return []
  const candidates = [...world.objects(kind, namespace), ...(namespace ? world.objects(kind, '') : [])]
  return candidates.filter(object => selects(selector, labelsOf(object)))
}
