import { at, itemsOf, type Node, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { CLUSTER_POLICY, POLICY } from '../kyverno/policy-rules.ts'
import { validatingActionOf } from '../validating/validating-engine.ts'

const GROUP = 'policies.kyverno.io'
export const IMAGE_POLICY = `${GROUP}/ImageValidatingPolicy`
export const NAMESPACED_IMAGE_POLICY = `${GROUP}/NamespacedImageValidatingPolicy`

/** A policy that verifies images, whatever it selects. */
interface ImagePolicy {
  readonly object: KubeObject
  /** A rule of it refuses images without a valid signature, overrides for single namespaces left aside. */
  readonly enforces: boolean
}

/** The policies of a cluster's platform that verify images. */
export function imagePolicies(world: AdmissionWorld): ImagePolicy[] {
  const kyverno = [CLUSTER_POLICY, POLICY]
    .flatMap(kind => world.policies(kind))
    .flatMap(object => {
      const entries = itemsOf(at(object.root, ['spec', 'rules'])).flatMap(rule => itemsOf(at(rule, ['verifyImages'])))
      const spec = stringAt(object.root, ['spec', 'validationFailureAction']) ?? 'Audit'
      const isEnforced = (entry: Node) => /^enforce$/i.test(stringAt(entry, ['failureAction']) ?? spec)
      const admission = at(object.root, ['spec', 'admission'])
      const isAtAdmission = !(admission?.type === 'scalar' && admission.value === false)
      return entries.length > 0 ? [{ object, enforces: isAtAdmission && entries.some(isEnforced) }] : []
    })
  const validating = [IMAGE_POLICY, NAMESPACED_IMAGE_POLICY].flatMap(kind => world.policies(kind))
  return [...kyverno, ...validating.map(object => ({ object, enforces: validatingActionOf(object) === 'deny' }))]
}
